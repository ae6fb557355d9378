"""What one saved file costs at two sizes of an index, through the engines: the run over it, and finding it."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bench.figures import Figure, rest
from bench.free_model import FreeModel
from bench.freshness import CHUNKS_A_FILE, FILES_A_BATCH, VOCABULARY, file_of
from everfind_core.index.directory import current_index
from everfind_core.index.names import CATALOG
from everfind_core.lifecycle import Statement
from everfind_core.model import FileState, Folder, IndexRequest, SearchMode, SearchRequest
from everfind_core.ports import Embedder
from everfind_embedder import EmbedderSettings, open_embedder
from everfind_indexer.engine import IndexEngine
from everfind_indexer.index.catalog import Catalog
from everfind_indexer.settings import IndexerSettings
from everfind_indexer.store import open_writer
from everfind_indexer.syntax import SyntaxChunker
from everfind_searcher.engine import SearchEngine
from everfind_searcher.settings import SearcherSettings
from everfind_searcher.store import open_reader

FOLDER = "bench"
REAL_FILES = 20
SAVES = 24
WARM = 4
"""Saves that are not counted: they open what stays open, and settle the documents."""


def measure(*, quick: bool = False) -> Iterator[Figure]:
    """Saves at both sizes in turn, so that both meet the same machine. Embedding costs nothing here."""
    small, large = (5_000, 25_000) if quick else (100_000, 500_000)
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        model = FreeModel(stack.enter_context(closing(open_embedder(EmbedderSettings()))))
        one, other = (_Index(scratch / f"{chunks}", chunks, model) for chunks in (small, large))
        for index in (one, other):
            stack.callback(index.searcher.close)
        for number in range(SAVES):
            for index in (one, other):
                index.save(number)
    for index, chunks, bar in ((one, small, 150.0), (other, large, None)):
        yield Figure(
            f"one saved file at {chunks:,} chunks: committed, and found by its words",
            index.median(index.found),
            "ms CPU",
            bar,
            note=f"the run {index.median(index.runs):.0f}, a hybrid search after it {index.median(index.searches):.0f}",
        )
    yield Figure(
        f"the same at {large:,} / at {small:,} chunks", other.median(other.found) / one.median(one.found), "ratio", 1.2
    )


@dataclass
class _Index:
    """An index of a few real files and many made-up ones, which runs over saved files do not look at."""

    base: Path
    chunks: int
    model: Embedder
    found: list[float] = field(default_factory=list)
    runs: list[float] = field(default_factory=list)
    searches: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.corpus, directory = self.base / "corpus", self.base / "index"
        self.corpus.mkdir(parents=True)
        chance = np.random.default_rng(1)
        for number in range(REAL_FILES):
            self._path(number).write_text(_text(chance), encoding="ascii")
        settings = IndexerSettings(directory, (Folder(FOLDER, str(self.corpus)),))
        self.indexer = IndexEngine(settings, self.model, SyntaxChunker(), open_writer)
        self.indexer.index(IndexRequest(), lambda _event: None)
        _grow(directory, self.chunks // CHUNKS_A_FILE)
        self.searcher = SearchEngine(SearcherSettings(directory), self.model, self.indexer, open_reader)
        for _ in range(WARM):
            self.searcher.search(SearchRequest("w1 w2"))
            rest()

    def save(self, number: int) -> None:
        """Save one of the real files, index it, and find its new word; what follows in the background counts, too."""
        path, word = self._path(number % REAL_FILES), f"saved{number}"
        path.write_text(f"{path.read_text(encoding='ascii')}{word}\n", encoding="ascii")
        start = time.process_time()
        self.indexer.index(IndexRequest(folders=(FOLDER,), paths=(path.name,)), lambda _event: None)
        ran = time.process_time()
        answer = self.searcher.search(SearchRequest(word, mode=SearchMode.LEXICAL))
        assert answer.hits[0].path == path.name
        rest()
        found = time.process_time()
        self.searcher.search(SearchRequest(f"{word} w1 w2 w3"))
        if number >= WARM:
            self.runs.append(1e3 * (ran - start))
            self.found.append(1e3 * (found - start))
            self.searches.append(1e3 * (time.process_time() - found))

    def median(self, costs: list[float]) -> float:
        """The median of what saves cost."""
        return statistics.median(costs)

    def _path(self, number: int) -> Path:
        return self.corpus / f"page{number:02}.md"


def _text(chance: np.random.Generator) -> str:
    """A page of about ten chunks."""
    words = (VOCABULARY * chance.random((CHUNKS_A_FILE, 60)) ** 3).astype(int)
    parts = (" ".join(f"w{word}" for word in row) for row in words)
    return "".join(f"# Part {number}\n\n{part}\n\n" for number, part in enumerate(parts))


def _grow(index_directory: Path, files: int) -> None:
    """Add made-up files, each a document with a title, to table and catalog."""
    directory = current_index(index_directory).directory
    chance = np.random.default_rng(2)
    with closing(open_writer(directory, 384)) as writer, closing(Catalog(directory / CATALOG)) as catalog:
        for first in range(0, files, FILES_A_BATCH):
            made = [file_of(number, chance) for number in range(first, min(first + FILES_A_BATCH, files))]
            writer.replace(made)
            writer.maintain(finish=False)
            catalog.record(
                [FileState(one.ref, 1, 1, 1, 1, 1, one.chunks[0].content_hash, CHUNKS_A_FILE) for one in made],
                statements={one.ref: Statement(title=f"Page {one.ref.path}") for one in made},
                generation=writer.generation(),
            )
        writer.maintain(finish=True)
        catalog.record([], generation=writer.generation())
