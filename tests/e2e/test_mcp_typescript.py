"""A second, independent client: the TypeScript SDK lists and calls every tool of a real server process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

from everfind_gateway.setting_groups.serving import ToolName
from tests.support.processes import Home

pytestmark = pytest.mark.slow

CLIENT = Path(__file__).parent / "mcp_client"
CALLS: dict[str, dict[str, Any]] = {
    "search": {"query": "refresh the session token", "limit": 3},
    "gather": {"query": "refresh the session token", "context_lines": 1},
    "list_folders": {},
    "list_files": {"folders": ["docs"]},
    "cat_file": {"path": "docs/auth.md", "end_line": 2},
    "grep": {"pattern": "refresh_token"},
    "status": {},
    "index": {"force": True},
    "search_notes": {"query": "session", "searchAll": True},
    "codebase_search": {"information_request": "where is the token refreshed"},
    "related": {"target": "refresh_token"},
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client with its packages, installed as its lock file says."""
    if not shutil.which("npm"):
        assert not os.environ.get("CI"), "CI needs node and npm for this test"
        pytest.skip("there is no npm on this machine")
    copy = tmp_path_factory.mktemp("node") / "client"
    shutil.copytree(CLIENT, copy, ignore=shutil.ignore_patterns("node_modules"))
    subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--silent"], cwd=copy, check=True, timeout=300)
    return copy


def ask(client: Path, home: Home, tools: list[str], calls: list[dict[str, Any]]) -> dict[str, Any]:
    options = [word for tool in tools for word in ("--tool", tool)]
    arguments = ["-m", "everfind_gateway", "mcp", *options]
    request = {"command": sys.executable, "args": arguments, "env": home.env, "calls": calls}
    done = subprocess.run(
        ["node", "client.mjs", json.dumps(request)],
        cwd=client,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_it_lists_and_calls_every_tool(client: Path, home: Home) -> None:
    tools = list(get_args(ToolName))
    assert set(tools) <= set(CALLS), "each tool is called"
    CALLS["codebase_search"]["directory_path"] = str(home.base / "files/code")
    answer = ask(client, home, tools, [{"name": tool, "arguments": CALLS[tool]} for tool in tools])
    assert answer["server"]["name"] == "everfind"
    assert {tool["name"] for tool in answer["tools"]} == set(tools)
    failed = {tool: r["content"] for tool, r in zip(tools, answer["results"], strict=True) if r.get("isError")}
    assert failed == {}
    results = dict(zip(tools, answer["results"], strict=True))
    first = results["search"]["structuredContent"]["hits"][0]
    printed = home.json("search", "--limit", "3", CALLS["search"]["query"])["hits"][0]
    assert (first["path"], first["start_line"]) == (printed["path"], printed["start_line"])
    assert results["index"]["progress"] == sorted(results["index"]["progress"])
    assert [folder["name"] for folder in results["list_folders"]["structuredContent"]["folders"]] == ["code", "docs"]
    assert answer["read"]["contents"][0]["uri"] == answer["resources"][0]["uri"]
    assert {prompt["name"] for prompt in answer["prompts"]} == {"guide", "answer"}
    assert answer["resourceTemplates"] != []


def test_bad_arguments_reach_it_as_a_sentence(client: Path, home: Home) -> None:
    calls = [
        {"name": "cat_file", "arguments": {"path": "docs/../../etc/passwd"}},
        {"name": "search", "arguments": {"query": "x", "limit": 1_000}},
    ]
    answers = ask(client, home, ["search", "cat_file"], calls)["results"]
    assert [answer["isError"] for answer in answers] == [True, True]
    assert "limit" in answers[1]["content"][0]["text"]
    assert "Traceback" not in json.dumps(answers)
