"""`everfind mcp` as a host runs it: a real process, the SDK's own client, and what goes wrong around it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import anyio
import mcp_types as types
import psutil
import pytest
from mcp import Client, StdioServerParameters

from everfind_gateway.setting_groups.serving import DEFAULT_TOOLS
from tests.support.agents import MODES, TOOL_CALLS, check_output, text_of
from tests.support.processes import Home, many_files

PATIENCE = 300

pytestmark = pytest.mark.slow

T = TypeVar("T")
PATIENCE = 300
"""Seconds after which something hangs; how long it takes is for `bench` to say."""
NOISE = '''
import os, sys, threading, time

class Noisy:
    """Prints, as native code does, whenever something heavy is imported."""
    def find_spec(self, name, path=None, target=None):
        if name in {"mcp", "mcp_types", "numpy", "onnxruntime", "tokenizers", "lance", "lancedb", "pyarrow"}:
            os.write(1, b"native noise\\n")
            if sys.stdout is not None:
                print("python noise", flush=True)
        return None

if sys.argv[1:2] == ["mcp"] or "mcp" in sys.orig_argv:
    sys.meta_path.insert(0, Noisy())
'''

HELD = '''
import os, sys, time

class Held:
    """Lets nothing of the model and the store be imported until a file is there."""
    def find_spec(self, name, path=None, target=None):
        if name in {"numpy", "onnxruntime", "tokenizers", "lance", "lancedb", "pyarrow"}:
            while not os.path.exists(os.environ["LET_GO"]):
                time.sleep(0.05)
        return None

if sys.argv[1:2] == ["mcp"] or "mcp" in sys.orig_argv:
    sys.meta_path.insert(0, Held())
'''


def parameters(home: Home, *options: str, **env: str) -> StdioServerParameters:
    arguments = ["-m", "everfind_gateway", "mcp", *options]
    return StdioServerParameters(command=sys.executable, args=arguments, env={**home.env, **env}, cwd=home.base)


def ask(home: Home, use: Callable[[Client], Awaitable[T]], mode: str, *options: str, **env: str) -> T:
    async def main() -> T:
        async with Client(parameters(home, *options, **env), mode=mode) as client:
            return await use(client)

    return anyio.run(main)


class Raw:
    """A client without an SDK, which can do what no SDK does."""

    def __init__(self, home: Home, **env: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "everfind_gateway", "mcp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=home.base,
            env={**home.env, **env},
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.stdin, self.stdout, self.stderr = self.process.stdin, self.process.stdout, self.process.stderr

    def send(self, method: str, number: int | None = None, **params: Any) -> None:
        message = {"jsonrpc": "2.0", "method": method, **({} if number is None else {"id": number})}
        self.stdin.write(json.dumps({**message, "params": params}).encode() + b"\n")
        self.stdin.flush()

    def initialize(self, version: str = "2025-06-18") -> Any:
        self.send("initialize", 0, protocolVersion=version, capabilities={}, clientInfo={"name": "raw", "version": "1"})
        answer = self.receive()
        self.send("notifications/initialized")
        return answer

    def receive(self) -> Any:
        assert select.select([self.stdout], [], [], PATIENCE)[0], "no answer"
        return json.loads(self.stdout.readline())

    def wait(self) -> tuple[int, str]:
        code = self.process.wait(PATIENCE)
        return code, self.stderr.read().decode()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.stdout, self.stderr, self.stdin):
            with contextlib.suppress(BrokenPipeError):
                stream.close()


@pytest.fixture
def raw(home: Home) -> Iterator[Raw]:
    client = Raw(home)
    yield client
    client.close()


@pytest.mark.parametrize("mode", MODES)
def test_a_host_lists_and_calls_every_tool(home: Home, mode: str) -> None:
    async def use(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        for name, arguments in TOOL_CALLS:
            check_output(tools.pop(name), await client.call_tool(name, arguments))
        assert not tools

    ask(home, use, mode)


@pytest.mark.parametrize("mode", MODES)
def test_cli_and_agents_get_the_same_json(home: Home, mode: str) -> None:
    async def use(client: Client) -> list[Any]:
        calls: tuple[tuple[str, dict[str, Any]], ...] = (
            ("search", {"query": "token", "limit": 4, "max_tokens": 300, "further": 5}),
            ("grep", {"pattern": "token"}),
            ("cat_file", {"path": "docs/auth.md"}),
            ("list_folders", {}),
        )
        return [(await client.call_tool(name, arguments)).structured_content for name, arguments in calls]

    assert ask(home, use, mode) == [
        home.json("search", "token", "--limit", "4", "--max-tokens", "300", "--further", "5"),
        home.json("grep", "token"),
        home.json("cat", "docs/auth.md"),
        home.json("list"),
    ]


def test_nothing_but_protocol_reaches_the_client_whatever_prints(
    home: Home, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    (tmp_path / "sitecustomize.py").write_text(NOISE, encoding="utf-8")
    client = Raw(home, PYTHONPATH=str(tmp_path))
    request.addfinalizer(client.close)
    client.initialize()
    client.send("tools/call", 1, name="search", arguments={"query": "token"})
    assert client.receive()["result"]["structuredContent"]["hits"]
    client.stdin.close()
    assert client.stdout.read() == b""
    code, log = client.wait()
    assert code == 0
    assert log.count("native noise") >= 5
    assert log.count("python noise") >= 5


def test_it_ends_when_input_closes_and_leaves_nobody(raw: Raw) -> None:
    raw.initialize()
    raw.send("tools/call", 1, name="search", arguments={"query": "token"})
    raw.receive()
    children = psutil.Process(raw.process.pid).children(recursive=True)
    raw.stdin.close()
    assert raw.wait() == (0, "")
    assert not [child for child in children if child.is_running()]


@pytest.mark.parametrize("seconds", [0.0, 0.3, 0.6])
def test_it_ends_well_while_the_model_still_loads(raw: Raw, seconds: float) -> None:
    raw.initialize()
    raw.send("tools/list", 1)
    raw.receive()
    time.sleep(seconds)
    raw.stdin.close()
    assert raw.wait() == (0, "")


def test_a_client_that_does_not_read_does_not_hold_it(raw: Raw) -> None:
    raw.initialize()
    for n in range(40):
        raw.send("tools/call", n + 1, name="grep", arguments={"pattern": "e", "max_results": 1000})
    raw.stdin.close()
    assert raw.process.wait(PATIENCE) == 0


def test_the_first_list_of_tools_comes_before_model_and_store_load(
    home: Home, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    (tmp_path / "sitecustomize.py").write_text(HELD, encoding="utf-8")
    client = Raw(home, PYTHONPATH=str(tmp_path), LET_GO=str(tmp_path / "go"))
    request.addfinalizer(client.close)
    client.initialize()
    client.send("tools/list", 1)
    assert client.receive()["result"]["tools"]
    client.send("tools/call", 2, name="search", arguments={"query": "token"})
    (tmp_path / "go").touch()
    assert client.receive()["result"]["structuredContent"]["hits"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_while_input_is_open(raw: Raw, number: signal.Signals) -> None:
    raw.initialize()
    raw.process.send_signal(number)
    assert raw.process.wait(PATIENCE) == 130


def test_it_ends_when_its_client_dies(raw: Raw) -> None:
    raw.initialize()
    for n in range(50):
        raw.send("tools/call", n + 1, name="search", arguments={"query": f"token {n}"})
    raw.stdout.close()
    raw.stdin.close()
    assert raw.process.wait(PATIENCE) == 0
    assert "Traceback" not in raw.stderr.read().decode()


def test_what_was_asked_before_the_end_of_input_is_answered(home: Home) -> None:
    handshake = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "pipe", "version": "1"}}
    messages: list[dict[str, Any]] = [
        {"id": 0, "method": "initialize", "params": handshake},
        {"method": "notifications/initialized"},
        {"id": 1, "method": "tools/list"},
        {"id": 2, "method": "tools/call", "params": {"name": "grep", "arguments": {"pattern": "capybara"}}},
    ]
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)
    ended = subprocess.run(
        [sys.executable, "-m", "everfind_gateway", "mcp"],
        input=lines,
        capture_output=True,
        text=True,
        cwd=home.base,
        env=home.env,
        timeout=PATIENCE,
        check=True,
    )
    answers = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == [0, 1, 2]
    assert len(answers[2]["result"]["structuredContent"]["matches"]) == 1


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_every_version_of_the_handshake_is_served(raw: Raw, version: str) -> None:
    assert raw.initialize(version)["result"]["protocolVersion"] == version
    raw.send("tools/list", 1)
    assert len(raw.receive()["result"]["tools"]) == len(DEFAULT_TOOLS)


def test_lines_that_are_no_messages_do_not_end_it(raw: Raw) -> None:
    raw.initialize()
    for line in (
        b"\n",
        b"{}\n",
        b"[]\n",
        b"\xff\xfe\x00\n",
        b"{" * 100_000 + b"\n",
        b'{"jsonrpc":"2.0","id":"\\ud800"}\n',
    ):
        raw.stdin.write(line)
    raw.send("tools/list", 1)
    while "id" not in (answer := raw.receive()) or answer["id"] != 1:
        pass
    assert answer["result"]["tools"]


def test_a_run_ends_with_its_client_and_keeps_what_it_has(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    home = many_files(tmp_path)
    client = Raw(home)
    request.addfinalizer(client.close)
    client.initialize()
    client.send("tools/call", 1, name="index", arguments={}, _meta={"progressToken": "t"})
    while client.receive()["params"]["progress"] == 0:
        pass
    client.stdin.close()
    assert client.process.wait(PATIENCE) == 0
    status = home.json("status")
    assert 0 < status["coverage"]["files"] < 400
    assert status["writer"] is None


def test_options_name_the_server_and_choose_its_tools(home: Home) -> None:
    async def use(client: Client) -> tuple[str, str | None, list[str]]:
        assert client.server_info is not None
        tools = [tool.name for tool in (await client.list_tools()).tools]
        return client.server_info.name, client.instructions, tools

    options = ("--name", "wiki", "--description", "The wiki.", "--tool", "search_notes", "--tool", "status")
    name, instructions, tools = ask(home, use, "auto", *options)
    assert (name, tools) == ("wiki", ["status", "search_notes"])
    assert instructions is not None
    assert instructions.startswith("The wiki.")


def test_settings_that_cannot_be_used_end_it_with_a_sentence(home: Home, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("limit = [", encoding="utf-8")
    ended = home.run("--config", str(tmp_path / "config.toml"), "mcp", code=3)
    assert ended.stdout == ""
    assert "not valid TOML" in ended.stderr
    assert home.run("mcp", "--tool", "nope", code=2).stderr.startswith("everfind: mcp_tools:")


def test_a_cloned_projects_settings_cannot_widen_what_agents_reach(home: Home, tmp_path: Path) -> None:
    (tmp_path / ".everfind").mkdir()
    (tmp_path / ".everfind/config.toml").write_text('workspace_roots = ["/"]\n', encoding="utf-8")
    ended = home.run("--config", str(tmp_path), "mcp", code=3)
    assert ended.stdout == ""
    assert "workspace_roots" in ended.stderr


@pytest.mark.parametrize("closed", ["<&-", ">&-"])
def test_without_input_or_output_it_says_so(home: Home, closed: str) -> None:
    command = f"exec {sys.executable} -m everfind_gateway mcp {closed}"
    ended = subprocess.run(
        ["sh", "-c", command],
        cwd=home.base,
        env=home.env,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ended.returncode == 10
    assert ended.stderr.startswith("everfind: standard input or output is closed\n")


def test_many_calls_at_once(home: Home) -> None:
    async def use(client: Client) -> list[types.CallToolResult]:
        results: list[types.CallToolResult] = []

        async def one(n: int) -> None:
            results.append(await client.call_tool("search", {"query": f"token {n}"}))

        async with anyio.create_task_group() as group:
            for n in range(100):
                group.start_soon(one, n)
        return results

    results = ask(home, use, "auto")
    assert len(results) == 100
    assert all(not result.is_error and text_of(result) for result in results)


def test_the_environment_of_a_host_is_enough(home: Home, tmp_path: Path) -> None:
    bare = {"HOME": str(home.base), "PATH": os.environ["PATH"]}
    config = home.base / "config" / "everfind" / "config.toml"
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "everfind_gateway", "--config", str(config), "mcp"],
        env=bare,
        cwd=tmp_path,
    )

    async def main() -> list[Any]:
        async with Client(server) as client:
            listed = (await client.call_tool("list_folders", {})).structured_content["folders"]
            assert isinstance(listed, list)
            return listed

    assert [folder["name"] for folder in anyio.run(main)] == ["code", "docs"]
