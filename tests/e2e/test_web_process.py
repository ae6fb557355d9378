"""`everfind web` as a process: it says where it is, asks for a token, and ends when it is told to."""

from __future__ import annotations

import re
import signal
import socket
import ssl
import subprocess
from pathlib import Path

import httpx2
import pytest
import trustme

from tests.support.processes import Home

pytestmark = pytest.mark.slow


def ended(process: subprocess.Popen[str]) -> str:
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert out == ""
    return err


def test_it_prints_an_address_with_a_new_token_and_answers_as_the_command_does(home: Home) -> None:
    process = home.start("web", "--port", "0")
    assert process.stderr is not None
    line = process.stderr.readline()
    found = re.fullmatch(r"everfind serves its page at (http://127\.0\.0\.1:\d+/)#token=([\w-]{32})\n", line)
    assert found is not None, line
    assert "everfind.js" in httpx2.get(found[1], timeout=60).text
    given = {"query": "token", "min_score": -1, "context_lines": 0, "max_tokens": 0, "further": 0, "limit": 5}
    refused = httpx2.post(f"{found[1]}api/gather", json=given, timeout=60)
    assert refused.status_code == 401
    bearer = {"Authorization": f"Bearer {found[2]}"}
    answer = httpx2.post(f"{found[1]}api/gather", json=given, headers=bearer, timeout=60).json()["result"]
    command = home.json("gather", "token", "--min-score", "-1", "-k", "5")
    for form in (answer["answer"], command["answer"]):
        del form["generation"]  # it follows its folders
    assert answer == command
    assert "Traceback" not in ended(process)


def test_a_given_token_is_not_printed_and_a_short_one_refused(home: Home, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("short\n", encoding="utf-8")
    assert "it needs at least 16" in home.run("web", "--token-file", str(tmp_path / "token"), code=2).stderr
    process = home.start("web", "--port", "0", env={"EVERFIND_WEB_TOKEN": "a-token-for-this-test-only"})
    assert process.stderr is not None
    line = process.stderr.readline()
    ended(process)
    assert re.fullmatch(r"everfind serves its page at http://127\.0\.0\.1:\d+/\n", line)


def test_an_address_in_use_is_said_before_anything_begins(home: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for command in (("web",), ("mcp", "--http")):
            busy = home.run(*command, "--port", str(port), code=10)
            assert busy.stderr.startswith(f"everfind: cannot listen on 127.0.0.1:{port}: ")


def test_over_tls_the_page_and_the_agents_server_need_a_certificate_and_its_key(home: Home, tmp_path: Path) -> None:
    authority = trustme.CA()
    issued = authority.issue_cert("localhost", "127.0.0.1")
    chain, key = tmp_path / "tls.pem", tmp_path / "tls.key"
    issued.private_key_pem.write_to_path(key)
    issued.cert_chain_pems[0].write_to_path(chain)
    trusted = ssl.create_default_context()
    authority.configure_trust(trusted)
    files = ("--tls-certificate", str(chain), "--tls-key", str(key))
    for command, line in (
        (("web",), r"its page at (https://\S+?/)#.*"),
        (("mcp", "--http"), r"MCP at (https://\S+?) with .*"),
    ):
        process = home.start(*command, "--port", "0", *files)
        assert process.stderr is not None
        found = re.fullmatch(f"everfind serves {line}\n", process.stderr.readline())
        assert found is not None
        assert httpx2.get(found[1], verify=trusted, timeout=60).status_code in (200, 401)
        assert "Traceback" not in ended(process)
    assert "both a certificate and its key" in home.run("web", *files[:2], code=3).stderr
    trustme.CA().issue_cert("localhost").private_key_pem.write_to_path(key)
    assert "cannot be used for TLS" in home.run("web", *files, code=3).stderr
