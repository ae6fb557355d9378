"""Streamable HTTP: a call that is cancelled, and a client that dies, stop the work; others go on."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field

import anyio
import anyio.to_thread
import httpx2
import pytest
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from everfind_core.cancellation import Cancellation
from everfind_gateway.mcp.http import PATH, application
from everfind_gateway.mcp.server import build_server
from everfind_gateway.server.http_server import HttpOptions, listen
from tests.support.agents import MODES, Served
from tests.support.gateway import FakeEngines

PATIENCE = 60
TOKEN = "a-token-for-this-test-only"
HEADERS = {"Authorization": f"Bearer {TOKEN}", "Accept": "application/json, text/event-stream"}
BATCH = 16


@dataclass
class Work:
    """An engine that embeds batch after batch until it is told to stop, and counts what it did after that."""

    began: threading.Event = field(default_factory=threading.Event)
    finish: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    after_cancel: int = 0

    def __call__(self, cancel: Cancellation | None) -> None:
        assert cancel is not None
        told = threading.Event()
        cancel.on_cancel(told.set)
        self.began.set()
        while not (cancel.cancelled or self.finish.is_set()):
            self.after_cancel += BATCH * told.is_set()
            told.wait(0.005)
        self.ended.set()


@pytest.fixture
def work(engines: FakeEngines) -> Work:
    engines.on_run = work = Work()
    return work


@pytest.fixture
def url(served: Served) -> Iterator[str]:
    options = HttpOptions(port=0, token=TOKEN)
    corpus = served.corpus()
    app = application(build_server(corpus, served.settings()), options)
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=1))
    with listen(options) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}{PATH}"
        finally:
            server.should_exit = True
            thread.join()
            corpus.close()


CLIENT = f"""
import sys
import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

async def main():
    async with (
        httpx2.AsyncClient(headers={HEADERS!r}, timeout=60) as http,
        Client(streamable_http_client(sys.argv[1], http_client=http), mode=sys.argv[2]) as client,
    ):
        await client.call_tool("index", {{}})

anyio.run(main)
"""


async def happened(event: threading.Event) -> bool:
    return await anyio.to_thread.run_sync(event.wait, PATIENCE)


@contextlib.asynccontextmanager
async def connected(url: str, mode: str) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers=HEADERS, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client


@pytest.mark.parametrize("mode", MODES)
def test_a_cancelled_call_stops_the_work_and_computes_nothing_more(url: str, work: Work, mode: str) -> None:
    async def main() -> None:
        async with connected(url, mode) as client:
            async with anyio.create_task_group() as group:
                group.start_soon(client.call_tool, "index", {})
                assert await happened(work.began)
                group.cancel_scope.cancel()
            assert await happened(work.ended)
            assert not (await client.call_tool("search", {"query": "still there"})).is_error

    anyio.run(main)
    assert work.after_cancel <= BATCH


@pytest.mark.parametrize("mode", MODES)
def test_a_client_that_dies_holds_nobody_up(url: str, work: Work, mode: str) -> None:
    """By the newest revision its call is cancelled; in a session, where it might come back, the call goes on."""
    died = subprocess.Popen([sys.executable, "-c", CLIENT, url, mode])
    try:
        assert work.began.wait(PATIENCE)
    finally:
        died.kill()
        died.wait()

    async def others() -> None:
        async with connected(url, mode) as client:
            assert not (await client.call_tool("search", {"query": "still there"})).is_error

    anyio.run(others)
    if mode == "legacy":
        work.finish.set()
    assert work.ended.wait(PATIENCE)
    assert work.after_cancel <= BATCH
