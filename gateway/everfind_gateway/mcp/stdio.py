"""The server on standard input and output, with nothing but protocol on the latter, until the former closes."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import threading
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, cast

import anyio
from mcp.server.stdio import stdio_server

from everfind_gateway.mcp.malformed import refusal_of_line

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

    from everfind_gateway.mcp.server import Activity
    from everfind_gateway.mcp.wire import Wire

DRAIN_SECONDS = 3.0
"""How long requests that came before the end of input may still be answered; runs of `index` are stopped at once."""
SETTLE_SECONDS = 0.05
EXIT_SECONDS = 3.0
"""How long what cannot be told to stop, such as native code, may hold the process after the end."""
QUEUED_LINES = 64
"""Lines read ahead of the server."""


def serve(server: Server[None], activity: Activity, wire: Wire) -> int:
    """Serve one client until it closes its end, or SIGTERM or SIGINT comes; gives the exit code."""
    return anyio.run(_serve, server, activity, wire)


async def _serve(server: Server[None], activity: Activity, wire: Wire) -> int:
    output = io.TextIOWrapper(os.fdopen(wire.outgoing, "wb", closefd=False), encoding="utf-8", newline="\n")
    answers = _Answers(output)
    lines = _Lines(wire.incoming, activity, answers)
    scope = anyio.CancelScope()
    stopped = _stopped_by_signals(scope)
    with scope:
        try:
            async with stdio_server(
                stdin=cast("anyio.AsyncFile[str]", lines),  # all that the SDK does with it is to iterate
                stdout=cast("anyio.AsyncFile[str]", answers),  # and here to write and to flush
            ) as (incoming, outgoing):
                await server.run(incoming, outgoing, server.create_initialization_options())
        except* (BrokenPipeError, ConnectionResetError):
            pass  # the client has gone without closing its end first
    if not stopped:
        end_within(EXIT_SECONDS, 0)
    return stopped[0] if stopped else 0


def end_within(seconds: float, code: int) -> None:
    """End the process after that time if it has not ended by itself. What an index has committed stays."""
    timer = threading.Timer(seconds, os._exit, (code,))
    timer.daemon = True
    timer.start()


def _stopped_by_signals(scope: anyio.CancelScope) -> list[int]:
    """Cancel ``scope`` on SIGTERM and SIGINT; the list then has the exit code."""
    code: list[int] = []

    def stop() -> None:
        code.append(130)
        end_within(EXIT_SECONDS, 130)
        scope.cancel()

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    return code


class _Answers:
    """What goes to the client: the SDK's lines, and ours between them."""

    def __init__(self, output: io.TextIOWrapper) -> None:
        self._output = anyio.wrap_file(output)
        self._turn = anyio.Lock()

    async def write(self, line: str) -> None:
        """Write one whole line."""
        async with self._turn:
            await self._output.write(line)

    async def flush(self) -> None:
        """Send what was written."""
        async with self._turn:
            await self._output.flush()


class _Lines:
    """The client's messages, read by a thread that never holds the process's end up."""

    def __init__(self, descriptor: int, activity: Activity, answers: _Answers) -> None:
        self._descriptor = descriptor
        self._activity = activity
        self._answers = answers

    async def __aiter__(self) -> AsyncIterator[str]:
        """Each message; what is none is answered here. After the last, requests under way get a little time."""
        queue: asyncio.Queue[str | None] = asyncio.Queue(QUEUED_LINES)
        loop = asyncio.get_running_loop()

        def put(line: str | None) -> None:
            asyncio.run_coroutine_threadsafe(queue.put(line), loop).result()

        threading.Thread(target=_read, args=(self._descriptor, put), name="stdin", daemon=True).start()
        while (line := await queue.get()) is not None:
            wrong = refusal_of_line(line)
            if wrong is None:
                yield line
            elif wrong:
                await self._answers.write(wrong + "\n")
                await self._answers.flush()
        await self._drain()
        end_within(EXIT_SECONDS, 0)  # also where the client does not read what is written to it

    async def _drain(self) -> None:
        with anyio.move_on_after(DRAIN_SECONDS):
            await anyio.sleep(SETTLE_SECONDS)  # the last line's request begins
            while self._activity.answerable:
                await anyio.sleep(SETTLE_SECONDS)  # and its answer is written


def _read(descriptor: int, put: Callable[[str | None], Any]) -> None:
    try:
        with open(descriptor, encoding="utf-8", errors="replace", newline="\n", closefd=False) as stream:
            for line in stream:
                put(line)
        put(None)
    except RuntimeError:
        return  # the loop has ended first
