"""Many clients at a server in a process of its own, each asking again once it has its answer, beside bare loops."""

from __future__ import annotations

import contextlib
import itertools
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

from bench import corpora
from bench.figures import Figure, percentile
from bench.searching import QUESTIONS
from bench.serving import connect, served_corpus
from everfind_core.errors import EverfindError, OverloadedError
from everfind_core.model import Folder, IndexRequest, SearchRequest
from everfind_embedder import EmbedderSettings, open_embedder
from everfind_indexer.engine import IndexEngine
from everfind_indexer.settings import IndexerSettings
from everfind_indexer.store import open_writer
from everfind_indexer.syntax import SyntaxChunker
from everfind_rpc.channel import Connection
from everfind_rpc.clients.searcher import RemoteSearcher
from everfind_searcher.engine import SearchEngine
from everfind_searcher.settings import SearcherSettings
from everfind_searcher.store import open_reader

FILES = 40
CLIENTS = (1, 4, 16)
SECONDS, ROUNDS = 3.0, 3
SATURATION = 160
"""More clients than the 128 calls that a server takes at once."""
WARM = 20

Ask = Callable[[str], object]
Connected = Callable[[], Connection]


def measure(*, quick: bool = False) -> Iterator[Figure]:
    """What the way over the wire costs, queries a second by number of clients, and errors at saturation."""
    with tempfile.TemporaryDirectory() as scratch, contextlib.ExitStack() as stack:
        base = Path(scratch)
        engine = _indexed(base, stack, files=10 if quick else FILES)
        home = {f"XDG_{kind}_HOME": str(base / kind.lower()) for kind in ("CONFIG", "DATA", "CACHE", "STATE")}
        env = {**home, "HOME": str(base), "EVERFIND_INDEX_DIR": str(base / "index")}
        pid, address, token = stack.enter_context(served_corpus(env))

        def connected() -> Connection:
            return connect(address, token)

        def bare(question: str) -> object:
            return engine.search(SearchRequest(question))

        yield from _overhead(bare, connected)
        yield from _processor_time(bare, connected, psutil.Process(pid))
        for clients in CLIENTS[:2] if quick else CLIENTS:
            yield from _throughput(bare, connected, clients, rounds=1 if quick else ROUNDS)
        yield from _saturation(connected)


def _indexed(base: Path, stack: contextlib.ExitStack, *, files: int) -> SearchEngine:
    embedder = open_embedder(EmbedderSettings())
    stack.callback(embedder.close)
    folders = (Folder("code", str(corpora.stdlib(base / "code", files=files))),)
    indexer = IndexEngine(IndexerSettings(base / "index", folders), embedder, SyntaxChunker(), open_writer)
    indexer.index(IndexRequest(), lambda _event: None)
    engine = SearchEngine(SearcherSettings(base / "index"), embedder, indexer, open_reader)
    stack.callback(engine.close)
    return engine


def _overhead(bare: Ask, connected: Connected) -> Iterator[Figure]:
    """One client; each question is asked on both ways, one after the other, so that both see the same machine."""
    with connected() as connection:
        remote = _remote(connection)
        for question in QUESTIONS[:WARM]:
            bare(question)
            remote(question)
        times: tuple[list[float], list[float]] = ([], [])
        for number, question in enumerate(QUESTIONS[WARM:]):
            for way in (0, 1) if number % 2 else (1, 0):
                start = time.perf_counter()
                (bare, remote)[way](question)
                times[way].append(1e3 * (time.perf_counter() - start))
    alone, over_wire = (percentile(taken, 0.5) for taken in times)
    yield Figure("bare engine, one caller, p50", alone, "ms")
    yield Figure("over gRPC on loopback, one client, p50", over_wire, "ms")
    yield Figure("  what the way costs, p50", over_wire - alone, "ms", 3.0, note=f"{len(times[0])} questions each")


def _processor_time(bare: Ask, connected: Connected, server: psutil.Process) -> Iterator[Figure]:
    """The same by the processor time of both sides, which says the same on a busy machine."""
    here = psutil.Process()
    with connected() as connection:
        remote = _remote(connection)

        def taken(ask: Ask, *processes: psutil.Process) -> float:
            before = sum(_cpu_seconds(one) for one in processes)
            for question in QUESTIONS[WARM:]:
                ask(question)
            return 1e3 * (sum(_cpu_seconds(one) for one in processes) - before) / len(QUESTIONS[WARM:])

        alone, over_wire = taken(bare, here), taken(remote, here, server)
    yield Figure("bare engine, processor time", alone, "ms")
    yield Figure("over gRPC, processor time of both sides", over_wire, "ms")


def _cpu_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _throughput(bare: Ask, connected: Connected, clients: int, *, rounds: int) -> Iterator[Figure]:
    """Closed loops by turns on both ways."""
    ways: dict[str, Loop] = {"bare engine": Loop(), "over gRPC": Loop()}
    with contextlib.ExitStack() as stack:
        remotes = [_remote(stack.enter_context(connected())) for _ in range(clients)]
        for _ in range(rounds):
            ways["bare engine"].run([bare] * clients, SECONDS)
            ways["over gRPC"].run(remotes, SECONDS)
    for way, loop in ways.items():
        name = f"{way}, {clients} at a time"
        yield Figure(f"{name}", len(loop.times) / loop.seconds, "queries/s")
        for label, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
            yield Figure(f"  {label}", percentile(loop.times, share), "ms")
    errors = sum(loop.errors.total() for loop in ways.values())
    yield Figure("  errors", errors, "", 0, note=", ".join(ways["over gRPC"].errors))


def _saturation(connected: Connected) -> Iterator[Figure]:
    loop = Loop()
    with contextlib.ExitStack() as stack:
        loop.run([_remote(stack.enter_context(connected())) for _ in range(SATURATION)], 2 * SECONDS)
    refused = loop.errors.pop(OverloadedError.reason, 0)
    yield Figure(f"over gRPC, {SATURATION} at a time", len(loop.times) / loop.seconds, "queries/s")
    yield Figure("  refused with RESOURCE_EXHAUSTED", refused, "calls")
    yield Figure("  other errors", loop.errors.total(), "", 0, note=", ".join(loop.errors))


class Loop:
    """Closed loops of several callers, and what they saw: milliseconds of each answer, errors by reason."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.errors: Counter[str] = Counter()
        self.seconds = 0.0
        self._numbers = itertools.count()

    def run(self, callers: list[Ask], seconds: float) -> None:
        """Let all ask for ``seconds``; no question is asked twice."""
        start = time.perf_counter()
        threads = [threading.Thread(target=self._ask, args=(ask, start + seconds)) for ask in callers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.seconds += time.perf_counter() - start

    def _ask(self, ask: Ask, end: float) -> None:
        while (start := time.perf_counter()) < end:
            number = next(self._numbers)
            try:
                ask(f"{QUESTIONS[number % len(QUESTIONS)]} {number}")
            except EverfindError as error:
                self.errors[error.reason] += 1
                time.sleep(0.05)
            else:
                self.times.append(1e3 * (time.perf_counter() - start))


def _remote(connection: Connection) -> Ask:
    searcher = RemoteSearcher(connection)
    return lambda question: searcher.search(SearchRequest(question))
