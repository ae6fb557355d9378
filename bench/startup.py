"""How long a fresh process takes: start-up, a search, and a run in which nothing changed."""

from __future__ import annotations

import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench import corpora
from bench.figures import Figure, run
from bench.indexing import environment, everfind

RUNS = 7


def measure(*, quick: bool = False) -> Iterator[Figure]:
    """Median wall seconds of whole processes."""
    with tempfile.TemporaryDirectory() as scratch:
        base = Path(scratch)
        env = _as_installed(environment(base / "home"), base)
        corpus = corpora.many_files(base / "notes", 2_000 if quick else 10_000)
        run(everfind("add", str(corpus)), env=env)
        run(everfind("index"), env=env)
        run(everfind("index"), env=env)  # files that were young at the first run are looked at once more
        bare = _median([sys.executable, "-c", "pass"], env)
        for claim, arguments, bar in (
            ("everfind --help", ["--help"], 0.3),
            ("everfind config", ["config"], 0.4),
            ("everfind search, 10,000 files", ["search", "quick brown fox"], 1.8),
            ("everfind index, nothing changed, 10,000 files", ["index"], 1.5),
        ):
            seconds = _median(everfind(*arguments), env)
            yield Figure(claim, seconds, "s", bar, note=f"{seconds / bare:.1f} × an empty Python process")
        seconds = statistics.median(_first_tools(env) for _ in range(RUNS))
        yield Figure("everfind mcp, to the first list of tools", seconds, "s", 1.0, note=f"{seconds / bare:.1f} ×")
        with _serving(env):
            seconds = _median(everfind("search", "quick brown fox"), env)
            yield Figure("everfind search, beside `everfind serve`", seconds, "s", 0.25, note=f"{seconds / bare:.1f} ×")


def _as_installed(env: dict[str, str], base: Path) -> dict[str, str]:
    """``env``, but Python keeps what it compiles of modules, as it has it of an installed package."""
    kept = {name: value for name, value in env.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": str(base / "bytecode")}


def _first_tools(env: dict[str, str]) -> float:
    """Wall seconds from the start of the MCP server's process to its answer to `tools/list`."""
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    messages: tuple[dict[str, Any], ...] = (
        {"id": 0, "method": "initialize", "params": client},
        {"method": "notifications/initialized"},
        {"id": 1, "method": "tools/list"},
    )
    begun = time.perf_counter()
    with subprocess.Popen(
        everfind("mcp"), env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for message in messages:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(2)]
        seconds = time.perf_counter() - begun
        server.stdin.close()
    if not answers[1]["result"]["tools"]:
        raise RuntimeError("the server has no tools")
    return seconds


@contextlib.contextmanager
def _serving(env: dict[str, str]) -> Iterator[None]:
    """A server of the same index, from when it listens."""
    command = everfind("serve", "--listen", "127.0.0.1:0")
    server = subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    try:
        if "serving on" not in server.stderr.readline():
            raise RuntimeError("the server did not start")
        yield
    finally:
        server.terminate()
        server.wait()


def _median(command: list[str], env: dict[str, str]) -> float:
    return statistics.median(run(command, env=env).wall for _ in range(RUNS))
