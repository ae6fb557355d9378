"""A team over TLS: whoever trusts the right authority and shows the right certificate is let in, nobody else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import trustme

from everfind_core.errors import UnavailableError
from everfind_core.model import IndexRequest, SearchRequest
from everfind_rpc.tls import ClientTls
from tests.containers.conftest import FILES
from tests.support.team import Team, team

pytestmark = [pytest.mark.containers, pytest.mark.timeout(900)]

NAMES = ("embedder", "indexer", "searcher", "gateway", "localhost", "127.0.0.1")


@dataclass(frozen=True)
class Secrets:
    """An authority's certificate, and one that it issued with its key."""

    ca: Path
    certificate: Path
    key: Path


def issue(directory: Path, *names: str) -> Secrets:
    directory.mkdir()
    authority = trustme.CA()
    issued = authority.issue_cert(*names)
    secrets = Secrets(directory / "ca.pem", directory / "tls.pem", directory / "tls.key")
    authority.cert_pem.write_to_path(secrets.ca)
    issued.private_key_pem.write_to_path(secrets.key)
    for pem in issued.cert_chain_pems:
        pem.write_to_path(secrets.certificate, append=True)
    for path in directory.iterdir():
        path.chmod(0o644)
    return secrets


@pytest.fixture(scope="module")
def right(own_base: Path) -> Secrets:
    return issue(own_base / "tls", *NAMES)


@pytest.fixture(scope="module")
def wrong(own_base: Path) -> Secrets:
    return issue(own_base / "other", *NAMES)


@pytest.fixture(scope="module")
def guarded(own_base: Path, right: Secrets) -> Iterator[Team]:
    settings = {
        "EVERFIND_FOLDERS": str(own_base / "modules"),
        "EVERFIND_TLS": str(own_base / "tls"),
        "EVERFIND_TLS_CLIENT_CA": "/run/secrets/ca.pem",
    }
    tls = ClientTls(right.ca, right.certificate, right.key)
    with team(own_base, files=("deploy/tls.yml",), settings=settings, tls=tls) as running:
        yield running


def test_services_and_clients_speak_tls(guarded: Team) -> None:
    with guarded.client() as remote:
        assert remote.indexer.index(IndexRequest(), lambda _event: None).indexed == FILES
        assert remote.searcher.search(SearchRequest("copy a file")).hits


@pytest.mark.parametrize("case", ["plain text", "no certificate", "another authority", "a certificate of another"])
def test_others_are_turned_away(guarded: Team, right: Secrets, wrong: Secrets, case: str) -> None:
    tls = {
        "plain text": None,
        "no certificate": ClientTls(right.ca),
        "another authority": ClientTls(wrong.ca, right.certificate, right.key),
        "a certificate of another": ClientTls(right.ca, wrong.certificate, wrong.key),
    }[case]
    with replace(guarded, tls=tls).client() as remote, pytest.raises(UnavailableError):
        remote.searcher.search(SearchRequest("copy a file"))
