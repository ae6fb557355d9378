"""Queries at an embedder's server, alone and while clients embed documents as fast as it takes them."""

from __future__ import annotations

import contextlib
import multiprocessing
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Event

import numpy as np
import numpy.typing as npt

from bench.figures import Figure, percentile
from bench.serving import connect, served_embedder
from everfind_core.model import InputKind
from everfind_embedder.loading.packaged import load_packaged
from everfind_rpc.clients.embedder import RemoteEmbedder

INDEXERS = 4
"""Clients that embed documents, each one call after the other: what an indexer has under way."""
BATCH, CHUNK = 64, 160
"""Documents of a call, and tokens of each."""
SECONDS = 4.0
ROUNDS = 5
QUERIES = ("how is a session renewed", "where are tokens refreshed", "write a file atomically", "retry with back-off")
CALLERS = 16


def measure(*, quick: bool = False) -> Iterator[Figure]:
    """Latency of a query by turns idle and loaded, so that both see the same machine; and what sharing a run saves."""
    with served_embedder() as address, connect(address) as connection:
        embedder = RemoteEmbedder(connection)
        idle, loaded = [], []
        documents = 0
        for _ in range(2 if quick else ROUNDS):
            idle += _latencies(embedder, SECONDS)
            with _indexing(address) as counts:
                time.sleep(0.5)
                loaded += _latencies(embedder, SECONDS)
            documents += sum(counts)
        note = f"{len(idle)} and {len(loaded)} queries, {documents} documents beside them"
        for name, share in (("p50", 0.5), ("p95", 0.95)):
            alone, beside = percentile(idle, share), percentile(loaded, share)
            yield Figure(f"query at an idle embedder, {name}", alone, "ms")
            yield Figure(f"query under full indexing load, {name}", beside, "ms")
            bar = 3.0 if name == "p95" else None
            yield Figure(f"  loaded over idle, {name}", beside / alone, "times", bar, note=note)
    yield from _sharing(quick=quick)


def _latencies(embedder: RemoteEmbedder, seconds: float) -> list[float]:
    """Milliseconds of queries, one after the other."""
    taken: list[float] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for query in QUERIES:
            start = time.perf_counter()
            embedder.embed([query], InputKind.QUERY)
            taken.append(1e3 * (time.perf_counter() - start))
            time.sleep(0.01)
    return taken


@contextlib.contextmanager
def _indexing(address: str) -> Iterator[list[int]]:
    """A process of indexers at work within the block; then the list holds how many documents they have embedded."""
    counts: list[int] = []
    spawning = multiprocessing.get_context("spawn")
    stop, done = spawning.Event(), spawning.Queue()
    process = spawning.Process(target=_index, args=(address, stop, done))
    process.start()
    assert done.get(timeout=60) == 0
    try:
        yield counts
    finally:
        stop.set()
        counts.append(done.get(timeout=120))
        process.join()


def _index(address: str, stop: Event, done: Queue[int]) -> None:
    """Embed documents with several clients until told to stop; puts 0 when they begin, and how many they were."""
    counts = [0] * INDEXERS

    def client(number: int) -> None:
        ids = list(np.random.default_rng(number).integers(1_000, 29_000, (BATCH, CHUNK)))
        with connect(address) as connection:
            embedder = RemoteEmbedder(connection)
            while not stop.is_set():
                embedder.embed_tokens(ids)
                counts[number] += BATCH

    threads = [threading.Thread(target=client, args=(number,)) for number in range(INDEXERS)]
    for thread in threads:
        thread.start()
    done.put(0)
    for thread in threads:
        thread.join()
    done.put(sum(counts))


def _sharing(*, quick: bool) -> Iterator[Figure]:
    """Processor time of queries of one length, each in a run of its own and all in one."""
    encoder = load_packaged().encoder
    ids = np.random.default_rng(0).integers(1_000, 29_000, (CALLERS, 10))
    alone, together = [], []
    for _ in range(20 if quick else 100):
        alone.append(_processor_ms([ids[i : i + 1] for i in range(CALLERS)], encoder.run))
        together.append(_processor_ms([ids], encoder.run))
    name = f"{CALLERS} waiting queries of 10 tokens"
    yield Figure(f"{name}, a run each", percentile(alone, 0.5), "CPU ms")
    yield Figure(f"{name}, one run", percentile(together, 0.5), "CPU ms")
    yield Figure("  saved by sharing the run", percentile(alone, 0.5) / percentile(together, 0.5), "times")


def _processor_ms(runs: list[npt.NDArray[np.int64]], run: Callable[[npt.NDArray[np.int64]], object]) -> float:
    start = time.thread_time()
    for ids in runs:
        run(ids)
    return 1e3 * (time.thread_time() - start)
