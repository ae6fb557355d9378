"""A server that is asked all the time, by several clients and in every way, while its files change: does it grow?"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import psutil

from bench import corpora
from bench.figures import Figure
from bench.load import Ask, Loop
from bench.searching import QUESTIONS
from bench.serving import connect, served_corpus
from everfind_core.model import GatherRequest, GrepRequest, ReadFileRequest, RelatedRequest, SearchRequest
from everfind_rpc.channel import Connection
from everfind_rpc.clients.indexer import RemoteIndexer
from everfind_rpc.clients.searcher import RemoteSearcher

FILES = 40
CLIENTS = 4
SECONDS = 600.0
WARM_SHARE = 0.25
"""How much of the time counts as warming up: caches fill, threads come."""
CHANGE_SECONDS = 10.0
SAMPLE_SECONDS = 1.0
READY_SECONDS = 600.0


class Sample(NamedTuple):
    """The server's size in MiB, its children's included, after so many calls."""

    calls: int
    size: float


def measure(*, quick: bool = False) -> Iterator[Figure]:
    """Memory of the server and its children: its slope after the warm-up, and errors; at rest, then with changes.

    With changes each one is a new generation, and what the store caches of the ones before stays until its limits.
    """
    seconds = 40.0 if quick else SECONDS
    with tempfile.TemporaryDirectory() as scratch, contextlib.ExitStack() as stack:
        base = Path(scratch)
        code = corpora.stdlib(base / "code", files=FILES)
        pid, address, token = stack.enter_context(served_corpus(_home(base, code)))
        server = psutil.Process(pid)
        connections = [stack.enter_context(connect(address, token)) for _ in range(CLIENTS)]
        _until_indexed(RemoteIndexer(connections[0]))
        asks = [_every_way(connection) for connection in connections]
        yield from _figures("soak", *_soak(server, asks, seconds), bar=1.0)
        yield from _figures("soak while files change", *_soak(server, asks, seconds, code))


def _soak(
    server: psutil.Process, asks: list[Ask], seconds: float, code: Path | None = None
) -> tuple[list[Sample], Loop]:
    """The server's sizes and what its clients saw; files in ``code`` change meanwhile."""
    loop, stop, samples = Loop(), threading.Event(), list[Sample]()
    threads = [threading.Thread(target=_sample, args=(server, loop, samples, stop))]
    if code is not None:
        threads.append(threading.Thread(target=_change, args=(code, stop)))
    for thread in threads:
        thread.start()
    loop.run(asks, seconds)
    stop.set()
    for thread in threads:
        thread.join()
    return samples, loop


def _figures(name: str, samples: list[Sample], loop: Loop, *, bar: float | None = None) -> Iterator[Figure]:
    steady = samples[int(WARM_SHARE * len(samples)) :]
    sizes = [sample.size for sample in steady]
    minutes = np.arange(len(steady)) * SAMPLE_SECONDS / 60
    thousands = np.array([sample.calls for sample in steady]) / 1000
    yield Figure(f"{name}, {loop.seconds:.0f} s, {CLIENTS} clients", len(loop.times) / loop.seconds, "calls/s")
    yield Figure("  memory after the warm-up", sizes[0], "MiB", note=f"{steady[0].calls:,} calls")
    yield Figure("  memory at the end", sizes[-1], "MiB", note=f"{steady[-1].calls:,} calls")
    yield Figure("  most", max(sample.size for sample in samples), "MiB")
    yield Figure("  slope after the warm-up", _slope(minutes, sizes), "MiB/min", bar, note=f"{len(steady)} samples")
    yield Figure("  the same by calls", _slope(thousands, sizes), "MiB/1,000 calls")
    yield Figure("  errors", loop.errors.total(), "", 0, note=", ".join(loop.errors))


def _slope(places: npt.NDArray[np.float64], sizes: list[float]) -> float:
    return float(np.polyfit(places, sizes, 1)[0])


def _home(base: Path, code: Path) -> dict[str, str]:
    """A home whose settings name one folder."""
    settings = base / "config" / "everfind" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f'[[folders]]\nname = "code"\npath = "{code}"\n')
    homes = {f"XDG_{kind}_HOME": str(base / kind.lower()) for kind in ("CONFIG", "DATA", "CACHE", "STATE")}
    return {**homes, "HOME": str(base)}


def _until_indexed(indexer: RemoteIndexer) -> None:
    ends = time.monotonic() + READY_SECONDS
    while True:
        status = indexer.status()
        if status.coverage.files >= FILES and not status.coverage.pending:
            return
        if time.monotonic() > ends:
            raise RuntimeError("the server does not index its folder")
        time.sleep(0.5)


def _every_way(connection: Connection) -> Ask:
    """One client: mostly searches, and now and then each of the other calls."""
    searcher, indexer = RemoteSearcher(connection), RemoteIndexer(connection)
    numbers = iter(range(sys.maxsize))
    paths = [file.ref.path for file in indexer.indexed_files()]

    def ask(question: str) -> object:
        match next(numbers) % 10:
            case 0:
                return searcher.gather(GatherRequest(SearchRequest(question)))
            case 1:
                return indexer.grep(GrepRequest(QUESTIONS[0].split()[0]))
            case 2:
                return indexer.read_file(ReadFileRequest("code", paths[len(question) % len(paths)]))
            case 3:
                return searcher.related(RelatedRequest(symbol="read"))
            case 4:
                return indexer.status()
            case _:
                return searcher.search(SearchRequest(question))

    return ask


def _change(code: Path, stop: threading.Event) -> None:
    """Edit a file again and again: each time there is a new generation."""
    file = min(code.rglob("*.py"))
    text = file.read_text(encoding="utf-8")
    number = 0
    while not stop.wait(CHANGE_SECONDS):
        number += 1
        file.write_text(f"{text}\n\ndef change_{number}():\n    return {number}\n", encoding="utf-8")


def _sample(server: psutil.Process, loop: Loop, samples: list[Sample], stop: threading.Event) -> None:
    """Resident memory of a process and its children, again and again."""
    while not stop.wait(SAMPLE_SECONDS):
        total = 0
        for process in (server, *server.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess):
                total += process.memory_info().rss
        samples.append(Sample(len(loop.times), total / 2**20))
