"""A first index of many files: how soon all of them are found by their words, and what taking them in twice costs."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from bench import corpora
from bench.figures import Figure
from bench.free_model import FreeModel
from everfind_core.model import (
    Folder,
    IndexPhase,
    IndexProgress,
    IndexRequest,
    InputKind,
    RunEvent,
    SearchMode,
    SearchRequest,
)
from everfind_core.ports import Embedder
from everfind_embedder import EmbedderSettings, open_embedder
from everfind_indexer.engine import IndexEngine
from everfind_indexer.running import run
from everfind_indexer.settings import IndexerSettings
from everfind_indexer.store import open_writer
from everfind_indexer.syntax import SyntaxChunker
from everfind_searcher.engine import SearchEngine
from everfind_searcher.settings import SearcherSettings
from everfind_searcher.store import open_reader

QUESTION = SearchRequest("removing a temporary directory", mode=SearchMode.LEXICAL)


def measure(*, quick: bool = False) -> Iterator[Figure]:
    """The standard library: until words answer for all files, the whole run, and what the first pass costs."""
    with tempfile.TemporaryDirectory() as scratch, closing(open_embedder(EmbedderSettings())) as embedder:
        base = Path(scratch)
        corpus = corpora.stdlib(base / "corpus", every=6 if quick else 1)
        whole = _index(corpus, base / "whole", embedder, twice=True)
        free = FreeModel(embedder)
        once, twice = (_index(corpus, base / f"free-{twice}", free, twice=twice).cpu for twice in (False, True))
    yield Figure(
        "until all files answer by their words / the whole run",
        whole.words / whole.wall,
        "ratio",
        0.25,
        note=f"{whole.files} files: first {whole.first:.1f} s, all {whole.words:.1f} s of {whole.wall:.1f} s",
    )
    yield Figure(
        "what the first pass costs / the whole run, CPU",
        (twice - once) / whole.cpu,
        "ratio",
        0.02,
        note=f"all but embedding {once:.1f} s in one pass, {twice:.1f} s in two; the whole run {whole.cpu:.1f} s",
    )
    yield Figure("a search by words right after the first pass", whole.search_ms, "ms")


@dataclass(slots=True)
class _Course:
    """How a run went: wall seconds until the first file and until all answered by words, and of the whole."""

    files: int = 0
    first: float = 0.0
    words: float = 0.0
    wall: float = 0.0
    cpu: float = 0.0
    search_ms: float = 0.0


def _index(corpus: Path, directory: Path, embedder: Embedder, *, twice: bool) -> _Course:
    engine = IndexEngine(
        IndexerSettings(directory, (Folder("std", str(corpus)),)), embedder, SyntaxChunker(), open_writer
    )
    course = _Course()
    searching: list[float] = []
    embedder.embed(["the model is loaded before"], InputKind.QUERY)
    started, cpu = time.perf_counter(), time.process_time()

    def on_event(event: RunEvent) -> None:
        if isinstance(event, IndexProgress) and event.phase is IndexPhase.WORDS:
            now = time.perf_counter() - started
            course.first = course.first or now
            if event.files_done == event.files_total:
                course.files, course.words = event.files_total, now
                before = time.process_time()
                course.search_ms = _search_ms(engine, directory, embedder)
                searching.append(time.process_time() - before)

    with mock.patch.object(run, "pays", return_value=twice):
        engine.index(IndexRequest(), on_event)
    course.wall, course.cpu = time.perf_counter() - started, time.process_time() - cpu - sum(searching)
    return course


def _search_ms(engine: IndexEngine, directory: Path, embedder: Embedder) -> float:
    """The fastest of three, for the first opens what the others use."""
    searcher = SearchEngine(SearcherSettings(directory), embedder, engine, open_reader)
    taken = []
    for _ in range(3):
        started = time.perf_counter()
        searcher.search(QUESTION)
        taken.append(1_000 * (time.perf_counter() - started))
    searcher.close()
    return min(taken)
