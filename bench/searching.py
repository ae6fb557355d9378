"""Warm searches in one process, embedding included, against an exact scan over the same vectors."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench import corpora
from bench.figures import Figure, own_peak_mib
from everfind_core.model import Folder, IndexRequest, InputKind, SearchRequest
from everfind_embedder import EmbedderSettings, open_embedder
from everfind_indexer.engine import IndexEngine
from everfind_indexer.settings import IndexerSettings
from everfind_indexer.store import open_writer
from everfind_indexer.syntax import SyntaxChunker
from everfind_searcher.engine import SearchEngine
from everfind_searcher.settings import SearcherSettings
from everfind_searcher.store import open_reader

ROUNDS = 5
QUESTIONS = (
    "how is a temporary directory removed",
    "parse command line arguments",
    "read a zip archive",
    "thread pool executor shutdown",
    "HTTPResponse readline",
    "json decoder error position",
    "timezone aware datetime arithmetic",
    "context manager protocol",
    "socket timeout",
    "compile a regular expression",
    "logging handlers rotate files",
    "random choice with weights",
    "base64 encode bytes",
    "walk a directory tree",
    "abstract base classes register",
    "format a traceback",
    "csv dialect sniffing",
    "locale aware string collation",
    "asyncio cancel a task",
    "unittest mock patch object",
)


def measure(*, quick: bool = False) -> Iterator[Figure]:
    """Percentiles of warm searches over the standard library, each question asked several times in turn."""
    with tempfile.TemporaryDirectory() as scratch:
        base = Path(scratch)
        corpus = corpora.stdlib(base / "code", files=100 if quick else None)
        embedder = open_embedder(EmbedderSettings())
        settings = IndexerSettings(base / "index", (Folder("code", str(corpus)),))
        indexer = IndexEngine(settings, embedder, SyntaxChunker(), open_writer)
        report = indexer.index(IndexRequest(), lambda _event: None)
        searcher = SearchEngine(SearcherSettings(base / "index"), embedder, indexer, open_reader)
        chunks = report.chunks_written
        searches = sorted(_milliseconds(lambda question: searcher.search(SearchRequest(question))))
        embeddings = statistics.median(_milliseconds(lambda question: embedder.embed([question], InputKind.QUERY)))
        note = f"{chunks:,} chunks; embedding a query alone {embeddings:.1f} ms; process peak {own_peak_mib():.0f} MiB"
        yield Figure("warm search p50", statistics.median(searches), "ms", 15, note=note)
        yield Figure("warm search p95", searches[int(0.95 * len(searches))], "ms", 30)
        searcher.close()
        embedder.close()


def _milliseconds(ask: Callable[[str], object]) -> list[float]:
    """Wall milliseconds of each call; the first round warms up and does not count."""
    times = []
    for turn in range(ROUNDS + 1):
        for question in QUESTIONS:
            start = time.perf_counter()
            ask(question)
            if turn:
                times.append(1e3 * (time.perf_counter() - start))
    return times
