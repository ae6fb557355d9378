"""A workspace of one folder of notes, reached in each way."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from everfind_core.index.store_backends import StoreChoice
from everfind_core.model import Folder, IndexReport, IndexRequest
from everfind_core.ports import Embedder, Indexer, Searcher
from everfind_indexer.engine import IndexEngine
from everfind_indexer.servicer import indexer_service
from everfind_indexer.settings import IndexerSettings
from everfind_indexer.store import open_writer
from everfind_indexer.syntax import SyntaxChunker
from everfind_searcher.engine import SearchEngine
from everfind_searcher.servicer import searcher_service
from everfind_searcher.settings import SearcherSettings
from everfind_searcher.status import index_status
from everfind_searcher.store import open_reader
from tests.support.fakes import MODEL
from tests.support.serving import connected, serving

KNOWN = replace(MODEL, id="sentence-transformers/all-MiniLM-L6-v2")
"""A model that everfind knows a floor of, and that it knows English alone."""


@dataclass(frozen=True)
class Notes:
    """The ports, and where the folder and its index lie."""

    indexer: Indexer
    searcher: Searcher
    base: Path

    def write(self, name: str, text: str) -> None:
        """Write a note."""
        (self.base / "notes" / name).write_text(text, encoding="utf-8")

    def run(self, *, rebuild: bool = False) -> IndexReport:
        """Index all notes."""
        return self.indexer.index(IndexRequest(rebuild=rebuild), lambda _event: None)


Reach = Callable[..., Notes]


def open_notes(
    stack: contextlib.ExitStack,
    base: Path,
    *,
    remote: bool,
    embedder: Embedder,
    min_score: float | None = None,
    store: StoreChoice = StoreChoice.AUTO,
) -> Notes:
    """Engines over ``base`` in this process, or clients of a server of them, until ``stack`` is closed.

    Folders may be added below its ``roots``.
    """
    (base / "notes").mkdir(exist_ok=True)
    folders = (Folder("notes", str(base / "notes")),)
    indexing = IndexerSettings(
        base / "index", folders, min_score=min_score, folder_roots=(base / "roots",), store=store
    )
    searching = SearcherSettings(base / "index", min_score=min_score)
    indexer = IndexEngine(indexing, embedder, SyntaxChunker(), open_writer)
    searcher = SearchEngine(searching, embedder, indexer, open_reader)
    stack.callback(searcher.close)
    if not remote:
        return Notes(indexer, searcher, base)
    services = (indexer_service(indexer), searcher_service(searcher, lambda: index_status(searching, open_reader)))
    clients = stack.enter_context(connected(stack.enter_context(serving(services))))
    return Notes(clients.indexer, clients.searcher, base)
