"""TLS and mTLS: the right certificates work, and every wrong one is an error of ours."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
import trustme

from everfind_core.errors import ConfigError, UnavailableError
from everfind_indexer.servicer import indexer_service
from everfind_rpc.channel import Connection, Endpoint
from everfind_rpc.clients.indexer import SERVICE, RemoteIndexer
from everfind_rpc.serving.server import ServerSettings
from everfind_rpc.tls import ClientTls, ServerTls, server_tls
from tests.support.gateway import FakeEngines
from tests.support.serving import serving


@dataclass(frozen=True)
class Pem:
    ca: Path
    certificate: Path
    key: Path


@pytest.fixture(scope="module")
def pem(tmp_path_factory: pytest.TempPathFactory) -> Pem:
    return _issued(tmp_path_factory.mktemp("pem"), "localhost")


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Pem:
    return _issued(tmp_path_factory.mktemp("foreign"), "localhost")


def _issued(directory: Path, host: str) -> Pem:
    authority = trustme.CA()
    certificate = authority.issue_cert(host)
    pem = Pem(directory / "ca.pem", directory / "cert.pem", directory / "key.pem")
    authority.cert_pem.write_to_path(pem.ca)
    certificate.cert_chain_pems[0].write_to_path(pem.certificate)
    certificate.private_key_pem.write_to_path(pem.key)
    return pem


def _ask(tls: ServerTls, client: ClientTls | None) -> object:
    settings = ServerSettings("localhost:0", tls=tls, drain_seconds=0.0, grace_seconds=1.0)
    with serving([indexer_service(FakeEngines())], settings) as address:
        endpoint = Endpoint(address.replace("127.0.0.1", "localhost"), tls=client)
        with Connection(endpoint, [SERVICE]) as connection:
            return RemoteIndexer(connection).folders()


def test_a_client_that_trusts_the_authority_is_answered(pem: Pem) -> None:
    assert _ask(ServerTls(pem.certificate, pem.key), ClientTls(pem.ca)) == []


def test_a_client_certificate_opens_a_server_that_asks_for_one(pem: Pem) -> None:
    server = ServerTls(pem.certificate, pem.key, client_ca=pem.ca)
    assert _ask(server, ClientTls(pem.ca, pem.certificate, pem.key)) == []


@pytest.mark.slow
def test_wrong_certificates_are_unavailable(pem: Pem, foreign: Pem) -> None:
    plain = ServerTls(pem.certificate, pem.key)
    mutual = ServerTls(pem.certificate, pem.key, client_ca=pem.ca)
    for server, client in (
        (plain, None),
        (plain, ClientTls(foreign.ca)),
        (plain, ClientTls()),
        (mutual, ClientTls(pem.ca)),
        (mutual, ClientTls(pem.ca, foreign.certificate, foreign.key)),
    ):
        with pytest.raises(UnavailableError, match="no everfind answers"):
            _ask(server, client)


def test_files_that_cannot_be_used_are_named(pem: Pem, tmp_path: Path) -> None:
    nonsense = tmp_path / "nonsense.pem"
    nonsense.write_text("nothing")
    for tls in (ServerTls(tmp_path / "absent", pem.key), ServerTls(nonsense, pem.key)):
        with pytest.raises(ConfigError, match=r"absent|nonsense"):
            _ask(tls, None)
    for client, said in (
        (ClientTls(pem.ca, pem.certificate), "a client's certificate needs its key"),
        (ClientTls(pem.ca, None, pem.key), "a client's key needs its certificate"),
    ):
        with pytest.raises(ConfigError, match=said):
            _ask(ServerTls(pem.certificate, pem.key), client)
    for files, missing in (
        ((pem.certificate, None, None), "there is no key"),
        ((None, pem.key, None), "there is no certificate"),
        ((None, None, pem.ca), "there is no certificate and key"),
    ):
        with pytest.raises(ConfigError, match=missing) as wrong:
            server_tls(*files)
        assert "--tls-certificate and --tls-key" in wrong.value.hint
    assert server_tls(None, None, None) is None
