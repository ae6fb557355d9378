"""What a chunk and a search cost: the constants of the table in docs/scaling.md, in CPU time and bytes."""

from __future__ import annotations

import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from bench import corpora
from bench.figures import Figure
from bench.growth import grow
from bench.searching import QUESTIONS, warm_up
from everfind_core.allocator import limit_arenas
from everfind_core.index.directory import current_index
from everfind_core.model import Folder, IndexRequest, SearchRequest
from everfind_embedder import EmbedderSettings, open_embedder
from everfind_indexer.engine import IndexEngine
from everfind_indexer.settings import IndexerSettings
from everfind_indexer.store import open_writer
from everfind_indexer.syntax import SyntaxChunker
from everfind_searcher.engine import SearchEngine
from everfind_searcher.settings import SearcherSettings
from everfind_searcher.store import open_reader

SIZES = (10_000, 50_000)


def measure(*, quick: bool = False) -> Iterator[Figure]:
    """Indexing over modules of the standard library, searching over mixtures of their chunks."""
    with tempfile.TemporaryDirectory() as scratch:
        base = Path(scratch)
        settings = IndexerSettings(base / "index", (Folder("code", str(_corpus(base, quick=quick))),))
        yield from _indexing(settings)
        found = []
        for size in (2_000, 4_000) if quick else SIZES:
            rows = grow(current_index(settings.index_directory).directory, size)
            found.append(_in_another_process(settings, rows))
            yield from found[-1].figures()
        for fewer, more in pairwise(found):
            yield from _slopes(fewer, more)


def _corpus(base: Path, *, quick: bool) -> Path:
    return corpora.stdlib(base / "code", files=10 if quick else 60, every=5)


def _indexing(settings: IndexerSettings) -> Iterator[Figure]:
    embedder = open_embedder(EmbedderSettings())
    engine = IndexEngine(settings, embedder, SyntaxChunker(), open_writer)
    start = time.process_time()
    report = engine.index(IndexRequest(), lambda _event: None)
    seconds = time.process_time() - start
    embedder.close()
    chunks, tokens = report.chunks_embedded, report.tokens
    yield Figure("tokens a chunk", tokens / chunks, "", note=f"{chunks:,} chunks")
    yield Figure("indexing, a core", tokens / seconds, "tokens/s")
    yield Figure("indexing, a core", chunks / seconds, "chunks/s")


@dataclass(frozen=True, slots=True)
class Searching:
    """What a searching process takes at a size: bytes, and CPU milliseconds a search."""

    chunks: int
    disk: int
    resident: int
    milliseconds: float

    def figures(self) -> Iterator[Figure]:
        """What was measured."""
        note = f"{self.chunks:,} chunks"
        yield Figure("disk", self.disk / self.chunks, "bytes", note=f"a chunk of {note}")
        yield Figure("resident memory of the process", self.resident / 1e6, "MB", note=note)
        yield Figure("a search, CPU time", self.milliseconds, "ms", note=note)


def _slopes(fewer: Searching, more: Searching) -> Iterator[Figure]:
    chunks = more.chunks - fewer.chunks
    memory = (more.resident - fewer.resident) / chunks
    search = (more.milliseconds - fewer.milliseconds) / chunks
    yield Figure("resident memory, a further chunk", memory, "bytes")
    yield Figure("resident memory of an empty index", (fewer.resident - memory * fewer.chunks) / 1e6, "MB")
    yield Figure("a search, CPU time, a further 1,000 chunks", 1e3 * search, "ms")
    yield Figure("a search, CPU time, of an empty index", fewer.milliseconds - search * fewer.chunks, "ms")


def _in_another_process(settings: IndexerSettings, rows: int) -> Searching:
    """Measured where nothing was indexed before, so that memory is that of searching."""
    with multiprocessing.get_context("spawn").Pool(1) as process:
        resident, milliseconds = process.apply(_search, (settings,))
    table = current_index(settings.index_directory).directory
    disk = sum(file.stat().st_size for file in table.rglob("*") if file.is_file())
    return Searching(rows, disk, resident, milliseconds)


def _search(settings: IndexerSettings) -> tuple[int, float]:
    limit_arenas()  # as servers do
    embedder = open_embedder(EmbedderSettings())
    indexer = IndexEngine(settings, embedder, SyntaxChunker(), open_writer)
    searcher = SearchEngine(SearcherSettings(settings.index_directory), embedder, indexer, open_reader)
    warm_up(searcher)
    milliseconds = 1e3 * statistics.median(_cpu_seconds(searcher, question) for question in QUESTIONS)
    status = Path("/proc/self/status").read_text(encoding="ascii")
    resident = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))
    searcher.close()
    embedder.close()
    return 1024 * resident, milliseconds


def _cpu_seconds(searcher: SearchEngine, question: str) -> float:
    start = time.process_time()
    searcher.search(SearchRequest(question))
    return time.process_time() - start
