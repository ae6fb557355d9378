"""Cancelling `index` stops the model's work, in a real server process with the real model, on both transports.

What is counted are runs of the model: after a cancel only those may end that had begun. How long that takes is for
`python -m bench cancel` to say.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TypeAlias

import anyio
import anyio.to_thread
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tests.support.agents import MODES
from tests.support.counted_server import CANCELLED, ENDED, RUN
from tests.support.processes import many_files
from tests.support.repository import ROOT

pytestmark = pytest.mark.slow

PATIENCE = 120
TOKEN = "a-token-for-this-test-only"
SERVER = ["-m", "tests.support.counted_server", "mcp"]
Connect: TypeAlias = Callable[[dict[str, str], str], AbstractAsyncContextManager[Client]]


@asynccontextmanager
async def over_stdio(env: dict[str, str], mode: str) -> AsyncIterator[Client]:
    server = StdioServerParameters(command=sys.executable, args=SERVER, env=env, cwd=ROOT)
    async with Client(server, mode=mode) as client:
        yield client


@asynccontextmanager
async def over_http(env: dict[str, str], mode: str) -> AsyncIterator[Client]:
    process = subprocess.Popen(
        [sys.executable, *SERVER, "--http", "--port", "0"],
        env={**env, "EVERFIND_MCP_TOKEN": TOKEN},
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        line = await anyio.to_thread.run_sync(process.stderr.readline)
        found = re.fullmatch(r"everfind serves MCP at (http://\S+/mcp)\n", line)
        assert found is not None, line
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=PATIENCE) as http,
            Client(streamable_http_client(found[1], http_client=http), mode=mode) as client,
        ):
            yield client
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


async def cancel_at_first_progress(client: Client) -> list[float]:
    """The progress of a call of `index` that is cancelled once a part is done."""
    told: list[float] = []
    advanced = anyio.Event()

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)
        if progress > 0:
            advanced.set()

    async def index() -> None:
        await client.call_tool("index", {}, progress_callback=tell)

    async with anyio.create_task_group() as group:
        group.start_soon(index)
        await advanced.wait()
        group.cancel_scope.cancel()
    return told


async def ended(told: Path) -> list[str]:
    """What the server has told, once the run has ended."""
    with anyio.fail_after(PATIENCE):
        while ENDED not in (lines := told.read_text(encoding="utf-8").splitlines()):
            await anyio.sleep(0.05)
    return lines


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("connect", [over_stdio, over_http])
def test_only_runs_of_the_model_that_had_begun_end_after_a_cancel(connect: Connect, mode: str, tmp_path: Path) -> None:
    home = many_files(tmp_path)
    told = tmp_path / "told"

    async def main() -> tuple[list[float], list[str]]:
        async with connect({**home.env, "TOLD": str(told)}, mode) as client:
            progress = await cancel_at_first_progress(client)
            lines = await ended(told)
            assert not (await client.call_tool("search", {"query": "the value of function 3"})).is_error
            assert (await client.call_tool("status", {})).structured_content["writer"] is None
            return progress, lines

    progress, lines = anyio.run(main)
    assert progress == sorted(set(progress))
    begun = lines.index(CANCELLED)
    assert RUN in lines[:begun]
    assert lines[begun:].count(RUN) <= (os.cpu_count() or 1)  # a thread's, between its last look and its beginning
    assert 0 < home.json("status")["coverage"]["files"] < 400
