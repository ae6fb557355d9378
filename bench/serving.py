"""Servers as processes of their own, on loopback."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from everfind_rpc.auth import Scope, TokenFile
from everfind_rpc.channel import Connection, Endpoint
from everfind_rpc.clients import embedder, indexer, searcher

SERVICES = (embedder.SERVICE, indexer.SERVICE, searcher.SERVICE)
START_SECONDS = 120.0


@contextlib.contextmanager
def served_embedder() -> Iterator[str]:
    """``python -m everfind_embedder`` within the block; gives its address."""
    address = free_address()
    with served([sys.executable, "-m", "everfind_embedder"], address, {"EVERFIND_LISTEN": address}):
        yield address


@contextlib.contextmanager
def served(command: list[str], address: str, env: Mapping[str, str]) -> Iterator[int]:
    """A server within the block, from when ``address`` can be connected to; gives its process id.

    Raises:
        RuntimeError: it did not start; with what it printed.
    """
    process = subprocess.Popen(
        command, env={**os.environ, **env}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    drained: list[str] = []
    reader = threading.Thread(target=lambda: drained.extend(process.stderr or ()))
    reader.start()
    try:
        _wait_until_listening(process, address, drained)
        yield process.pid
    finally:
        process.terminate()
        process.wait(60)
        reader.join()
        if process.stderr:
            process.stderr.close()


def connect(address: str, token: str = "") -> Connection:
    """A connection of its own to ``address``."""
    return Connection(Endpoint(address, token), SERVICES)


@contextlib.contextmanager
def served_corpus(env: Mapping[str, str]) -> Iterator[tuple[int, str, str]]:
    """``everfind serve`` within the block; gives its process id, its address, and a token for everything."""
    with tempfile.TemporaryDirectory() as scratch:
        tokens = TokenFile(Path(scratch) / "tokens.json")
        _, token = tokens.create("bench", [Scope.ADMIN])
        address = free_address()
        command = [sys.executable, "-m", "everfind_gateway", "serve", "--listen", address]
        with served(command, address, {**env, "EVERFIND_TOKEN_FILE": str(tokens.path)}) as pid:
            yield pid, address, token


def free_address() -> str:
    """An address on loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def _wait_until_listening(process: subprocess.Popen[str], address: str, printed: list[str]) -> None:
    host, _, port = address.rpartition(":")
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection((host, int(port)), timeout=1):
            return
        time.sleep(0.05)
    raise RuntimeError(f"no server came up at {address}: {''.join(printed)[-2000:]}")
