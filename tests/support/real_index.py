"""An index in the real store, made with a fake model: what it answers, and what it holds."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from everfind_core.answers.json_form import search_json
from everfind_core.chunking import TextChunker
from everfind_core.index.directory import current_index
from everfind_core.index.store_backends import StoreChoice
from everfind_core.index.vector_types import VectorType
from everfind_core.model import FileRef, Filters, Folder, IndexReport, IndexRequest, SearchMode, SearchRequest
from everfind_core.ports import Chunker
from everfind_indexer.engine import IndexEngine
from everfind_indexer.settings import IndexerSettings, KeptVectors
from everfind_indexer.store import open_writer
from everfind_searcher.engine import SearchEngine
from everfind_searcher.settings import SearcherSettings
from everfind_searcher.store import open_reader
from tests.support.fakes import DIMENSIONS, FakeEmbedder
from tests.support.index_content import content_of

QUESTIONS = ("renewed token of a session", "files renamed after a crash", "word7 word14", "zebra", "note number eleven")


@dataclass(eq=False)
class RealIndex:
    """The index in ``base`` of the folder ``corpus``; vectors are kept in ``kept`` if it is given."""

    base: Path
    corpus: Path
    kept: Path | None = None
    chunker: Chunker = field(default_factory=TextChunker)
    embedder: FakeEmbedder = field(default_factory=FakeEmbedder)
    store: StoreChoice = StoreChoice.AUTO
    vector_type: VectorType = VectorType.HALF

    @property
    def directory(self) -> Path:
        return self.base / "index"

    @property
    def files(self) -> list[Path]:
        """Every file of the index that holds something, by its path below the index directory."""
        files = (path for path in self.directory.rglob("*") if path.is_file() and path.stat().st_size)
        return sorted(path.relative_to(self.directory) for path in files)

    def engine(self) -> IndexEngine:
        kept = KeptVectors(self.kept) if self.kept else None
        settings = IndexerSettings(
            self.directory,
            (Folder("notes", str(self.corpus)),),
            kept_vectors=kept,
            store=self.store,
            vector_type=self.vector_type,
        )
        return IndexEngine(settings, self.embedder, self.chunker, open_writer)

    def index(self, request: IndexRequest | None = None) -> IndexReport:
        return self.engine().index(request or IndexRequest(), lambda _event: None)

    def repair(self) -> IndexReport:
        return self.index(IndexRequest(repair=True))

    @contextlib.contextmanager
    def searcher(self) -> Iterator[SearchEngine]:
        engine = SearchEngine(SearcherSettings(self.directory), self.embedder, self.engine(), open_reader)
        try:
            yield engine
        finally:
            engine.close()

    def answers(self) -> list[Any]:
        """What both arms answer to all questions, whatever the generation."""
        with self.searcher() as searcher:
            return [
                search_json(replace(searcher.search(question), generation=0))
                for text in QUESTIONS
                for question in (
                    SearchRequest(text, 100, SearchMode.SEMANTIC, Filters(all_statuses=True), min_score=-1.0),
                    SearchRequest(text, 100, SearchMode.LEXICAL, explain=True),
                )
            ]

    def found(self) -> list[list[tuple[str, int, str]]]:
        """The chunks that are found for each question, without order: BM25 counts what was deleted until it is gone."""
        return [sorted((hit["path"], hit["start_line"], hit["text"]) for hit in one["hits"]) for one in self.answers()]

    def unembedded(self) -> Mapping[FileRef, int]:
        """Chunks that wait for vectors, by file."""
        with closing(open_writer(current_index(self.directory).directory, DIMENSIONS)) as store:
            return store.unembedded()

    def content(self) -> list[tuple[Any, ...]]:
        return content_of(self.directory)

    def export(self) -> Path:
        archive = self.base / "index.tar"
        self.engine().export(archive)
        return archive

    def import_archive(self, archive: Path, *, overwrite: bool = False) -> None:
        self.engine().import_archive(archive, overwrite=overwrite)

    def copied(self, base: Path) -> RealIndex:
        """The same index elsewhere, over the same folder; its vectors are kept there, too."""
        shutil.copytree(self.directory, base / "index")
        if self.kept:
            shutil.copytree(self.kept, base / "kept")
        return replace(self, base=base, kept=base / "kept" if self.kept else None, embedder=FakeEmbedder())


def write_notes(corpus: Path, count: int) -> None:
    """Notes of several sections; every fifth says that it replaces the one before."""
    corpus.mkdir(parents=True)
    for number in range(count):
        header = f"---\nstatus: accepted\nsupersedes: note{number - 1:02}.md\n---\n" if number % 5 == 4 else ""
        words = " ".join(f"word{number * step % 97}" for step in range(1, 150))
        text = f"{header}# Note number {number}\n\nA token may be renewed.\n\n## More of {number}\n\n{words}\n"
        (corpus / f"note{number:02}.md").write_text(text, encoding="utf-8")
