"""The health check of a container: 0 while the server says that it serves, over plain text and mutual TLS."""

from __future__ import annotations

from pathlib import Path

import pytest
import trustme

from everfind_rpc import health
from everfind_rpc.serving.server import ServerSettings
from everfind_rpc.tls import ServerTls
from everfind_searcher.servicer import searcher_service
from tests.support.gateway import FakeEngines
from tests.support.serving import serving


def settings(tls: ServerTls | None = None) -> ServerSettings:
    return ServerSettings("127.0.0.1:0", tls=tls, drain_seconds=0.0, grace_seconds=1.0)


def test_it_follows_the_server(capsys: pytest.CaptureFixture[str]) -> None:
    engines = FakeEngines()
    with serving([searcher_service(engines, engines.status)], settings()) as address:
        assert health.main({"EVERFIND_LISTEN": address}) == 0
    assert health.main({"EVERFIND_LISTEN": address}) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"localhost:{address.rpartition(':')[2]} does not answer: ")
    assert "_InactiveRpcError" not in said


def test_over_mutual_tls(tmp_path: Path) -> None:
    authority = trustme.CA()
    ca, certificate, key = (tmp_path / name for name in ("ca.pem", "tls.pem", "tls.key"))
    issued = authority.issue_cert("localhost", "searcher")
    authority.cert_pem.write_to_path(ca)
    issued.cert_chain_pems[0].write_to_path(certificate)
    issued.private_key_pem.write_to_path(key)
    engines = FakeEngines()
    with serving([searcher_service(engines, engines.status)], settings(ServerTls(certificate, key, ca))) as address:
        variables = {"EVERFIND_LISTEN": address, "EVERFIND_TLS_CERTIFICATE": str(certificate)}
        assert health.main(variables | {"EVERFIND_SERVICE_CA": str(ca)}) == 1
        own = {"EVERFIND_SERVICE_CERTIFICATE": str(certificate), "EVERFIND_SERVICE_KEY": str(key)}
        assert health.main(variables | own | {"EVERFIND_SERVICE_CA": str(ca)}) == 0
        assert health.main(variables | {"EVERFIND_SERVICE_CA": str(tmp_path / "absent")}) == 1
