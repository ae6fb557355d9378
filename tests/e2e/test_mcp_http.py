"""`everfind mcp --http`: many clients, a token, and pages in a browser that must not get in."""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.support.agents import MODES, TOOL_CALLS, check_output
from tests.support.processes import Home

pytestmark = pytest.mark.slow

TOKEN = "a-token-for-this-test-only"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


def start(home: Home, *options: str, **env: str) -> tuple[subprocess.Popen[str], str]:
    """The server, and its URL."""
    process = home.start("mcp", "--http", "--port", "0", *options, env=env)
    assert process.stderr is not None
    line = process.stderr.readline()
    found = re.fullmatch(r"everfind serves MCP at (http://\S+/mcp)\n", line)
    assert found is not None, line
    return process, found[1]


def start_with_kept_token(home: Home) -> tuple[subprocess.Popen[str], str, Path]:
    """The server without a given token, its URL, and the file of the token that it keeps."""
    process = home.start("mcp", "--http", "--port", "0")
    assert process.stderr is not None
    line = process.stderr.readline()
    found = re.fullmatch(r"everfind serves MCP at (http://\S+/mcp) with the token in (\S+)\n", line)
    assert found is not None, line
    return process, found[1], Path(found[2])


def stop(process: subprocess.Popen[str]) -> str:
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=20)
    assert out == ""
    return err


@pytest.fixture(scope="module")
def guarded(home: Home) -> Iterator[str]:
    """A server with a token."""
    process, url = start(home, EVERFIND_MCP_TOKEN=TOKEN)
    yield url
    assert "Traceback" not in stop(process)


@pytest.mark.parametrize("mode", MODES)
def test_many_clients_share_one_server(guarded: str, mode: str) -> None:
    async def one(answers: list[int]) -> None:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60) as http,
            Client(streamable_http_client(guarded, http_client=http), mode=mode) as client,
        ):
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            result = await client.call_tool("search", {"query": "token", "min_score": -1})
            answers.append(len(check_output(tools["search"], result)["hits"]))

    async def main() -> list[int]:
        answers: list[int] = []
        async with anyio.create_task_group() as group:
            for _ in range(8):
                group.start_soon(one, answers)
        return answers

    assert anyio.run(main) == [6] * 8


@pytest.mark.parametrize("mode", MODES)
def test_every_tool_answers_over_http(guarded: str, mode: str) -> None:
    told: list[float] = []

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)

    async def main() -> None:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60) as http,
            Client(streamable_http_client(guarded, http_client=http), mode=mode) as client,
        ):
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            for name, arguments in TOOL_CALLS:
                result = await client.call_tool(name, arguments, progress_callback=tell if name == "index" else None)
                check_output(tools.pop(name), result)
            assert not tools

    anyio.run(main)
    assert told == sorted(set(told))


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": f"Basic {TOKEN}"}, 401),
        ({"Authorization": f"Bearer {TOKEN}x"}, 401),
        ({"Authorization": f"Bearer {TOKEN}"}, 200),
        ({"Authorization": f"Bearer {TOKEN}", "Host": "evil.example"}, 421),
        ({"Authorization": f"Bearer {TOKEN}", "Host": "127.0.0.1.evil.example:80"}, 421),
        ({"Authorization": f"Bearer {TOKEN}", "Origin": "http://evil.example"}, 403),
        ({"Authorization": f"Bearer {TOKEN}", "Origin": "null"}, 403),
        ({"Authorization": f"Bearer {TOKEN}", "Origin": "http://localhost:3000"}, 200),
        ({"Authorization": f"Bearer {TOKEN}", "Content-Type": "text/plain"}, 400),
    ],
)
def test_only_those_with_the_token_and_from_here_are_served(guarded: str, headers: dict[str, str], code: int) -> None:
    answer = httpx2.post(guarded, json=INITIALIZE, headers={**ACCEPT, **headers}, timeout=60)
    assert answer.status_code == code
    assert ("everfind" in answer.text) == (code == 200)


def test_a_body_that_is_too_large_is_refused(guarded: str) -> None:
    headers = {**ACCEPT, "Authorization": f"Bearer {TOKEN}"}
    assert httpx2.post(guarded, json={"x": "y" * (5 << 20)}, headers=headers, timeout=60).status_code == 413


def test_without_a_given_token_it_keeps_one_that_only_its_user_can_read(home: Home) -> None:
    process, url, kept = start_with_kept_token(home)
    assert httpx2.post(url, json=INITIALIZE, headers=ACCEPT, timeout=60).status_code == 401
    assert kept.stat().st_mode & 0o777 == 0o600
    bearer = {**ACCEPT, "Authorization": f"Bearer {kept.read_text().strip()}"}
    for headers, code in (({}, 200), ({"Host": "evil.example"}, 421), ({"Origin": "http://evil.example"}, 403)):
        assert httpx2.post(url, json=INITIALIZE, headers={**bearer, **headers}, timeout=60).status_code == code
    kept.chmod(0o644)
    assert "others can read the token" in home.run("mcp", "--http", "--port", "0", code=3).stderr
    kept.chmod(0o600)
    port = url.rsplit(":", 1)[1].removesuffix("/mcp")
    taken = home.run("mcp", "--http", "--port", port, code=10)
    assert taken.stderr.startswith(f"everfind: cannot listen on 127.0.0.1:{port}: ")
    assert "Traceback" not in stop(process)


def test_others_need_a_token(home: Home, tmp_path: Path) -> None:
    refused = home.run("mcp", "--http", "--host", "0.0.0.0", "--port", "0", code=2)
    assert refused.stderr.startswith("everfind: host: '0.0.0.0' can be reached by others, and no token is set")
    (tmp_path / "token").write_text("short\n", encoding="utf-8")
    short = home.run("mcp", "--http", "--token-file", str(tmp_path / "token"), code=2)
    assert "it needs at least 16" in short.stderr
    (tmp_path / "token").write_text("\n", encoding="utf-8")
    assert "is empty" in home.run("mcp", "--http", "--token-file", str(tmp_path / "token"), code=3).stderr
    assert "cannot read" in home.run("mcp", "--http", "--token-file", str(tmp_path / "absent"), code=3).stderr


def test_names_of_the_server_and_pages_can_be_allowed(home: Home) -> None:
    allowed = ("--allow-host", "search.example", "--allow-origin", "https://app.example")
    process, url = start(home, *allowed, EVERFIND_MCP_TOKEN=TOKEN)
    bearer = {**ACCEPT, "Authorization": f"Bearer {TOKEN}"}
    for headers, code in (({"Host": "search.example"}, 200), ({"Origin": "https://app.example"}, 200)):
        assert httpx2.post(url, json=INITIALIZE, headers={**bearer, **headers}, timeout=60).status_code == code
    stop(process)
