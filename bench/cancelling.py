"""How soon an agent's cancelled `index` has stopped: from the cancel to a status in which nobody writes."""

from __future__ import annotations

import contextlib
import re
import statistics
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TypeAlias

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from bench import corpora
from bench.figures import Figure, run
from bench.indexing import environment, everfind

CANCELS = 9
_TOKEN = "a-token-for-this-measurement-alone"
Connect: TypeAlias = Callable[[dict[str, str]], AbstractAsyncContextManager[Client]]


def measure(*, quick: bool = False) -> Iterator[Figure]:
    """Seconds after the cancel, the most of nine, each in the midst of embedding; the answer of `status` is in it."""
    for transport, connect in (("stdio", _over_stdio), ("HTTP", _over_http)):
        with tempfile.TemporaryDirectory() as scratch:
            base = Path(scratch)
            env = environment(base / "home")
            run(everfind("add", str(corpora.stdlib(base / "code", files=200 if quick else None))), env=env)
            seconds = anyio.run(_cancelled, connect, env, 3 if quick else CANCELS)
        yield Figure(f"a cancelled index has stopped, over {transport}", max(seconds), "s", 0.5, note=_median(seconds))


def _median(seconds: list[float]) -> str:
    return f"most of {len(seconds)}; median {statistics.median(seconds):.3f} s"


async def _cancelled(connect: Connect, env: dict[str, str], times: int) -> list[float]:
    async with connect(env) as client:
        return [await _one(client) for _ in range(times)]


async def _one(client: Client) -> float:
    """Cancel a run once it has gone on a little, and wait for its end."""
    advanced = anyio.Event()
    first: list[float] = []
    begun = 0.0

    async def tell(
        progress: float,
        total: float | None,  # noqa: ARG001 - the SDK's signature
        message: str | None,  # noqa: ARG001 - the same
    ) -> None:
        first.append(progress)
        if progress > first[0]:
            advanced.set()

    async def index() -> None:
        await client.call_tool("index", {}, progress_callback=tell)
        raise RuntimeError("the run ended before it was cancelled: the corpus is too small")

    async with anyio.create_task_group() as group:
        group.start_soon(index)
        await advanced.wait()
        begun = time.perf_counter()
        group.cancel_scope.cancel()
    while (await client.call_tool("status", {})).structured_content["writer"]:
        await anyio.sleep(0)
    return time.perf_counter() - begun


@asynccontextmanager
async def _over_stdio(env: dict[str, str]) -> AsyncIterator[Client]:
    program, *arguments = everfind("mcp")
    async with Client(StdioServerParameters(command=program, args=arguments, env=env)) as client:
        yield client


@asynccontextmanager
async def _over_http(env: dict[str, str]) -> AsyncIterator[Client]:
    with contextlib.ExitStack() as stack:
        server = subprocess.Popen(
            everfind("mcp", "--http", "--port", "0"),
            env={**env, "EVERFIND_MCP_TOKEN": _TOKEN},
            stderr=subprocess.PIPE,
            text=True,
        )
        stack.callback(server.wait)
        stack.callback(server.terminate)
        assert server.stderr is not None
        found = re.search(r"http://\S+/mcp", server.stderr.readline())
        if found is None:
            raise RuntimeError("the server did not start")
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {_TOKEN}"}, timeout=60) as http,
            Client(streamable_http_client(found[0], http_client=http)) as client,
        ):
            yield client
