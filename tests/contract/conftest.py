"""One suite for every way to reach everfind. ``workspace`` has a parameter for each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from everfind_core.chunking import TextChunker
from everfind_core.model import Folder, IndexReport, IndexRequest
from everfind_core.ports import Embedder, Indexer, Searcher
from everfind_embedder import EmbedderSettings, open_embedder
from everfind_indexer.engine import IndexEngine
from everfind_indexer.settings import IndexerSettings
from everfind_indexer.store import open_writer
from everfind_searcher.engine import SearchEngine
from everfind_searcher.settings import SearcherSettings
from everfind_searcher.store import open_reader
from tests.support.corpus import write_corpus


@dataclass(frozen=True)
class Connected:
    """The ports of one workspace, and where its folders lie."""

    indexer: Indexer
    searcher: Searcher
    base: Path
    report: IndexReport


@pytest.fixture(scope="session")
def embedder() -> Iterator[Embedder]:
    embedder = open_embedder(EmbedderSettings())
    yield embedder
    embedder.close()


@pytest.fixture(scope="session", params=["direct"])
def workspace(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, embedder: Embedder
) -> Iterator[Connected]:
    base = tmp_path_factory.mktemp("workspace")
    folders = (Folder("code", str(base / "code")), Folder("docs", str(base / "docs")))
    write_corpus(base)
    indexer = IndexEngine(IndexerSettings(base / "index", folders), embedder, TextChunker(), open_writer)
    searcher = SearchEngine(SearcherSettings(base / "index"), embedder, indexer, open_reader)
    report = indexer.index(IndexRequest(), lambda _event: None)
    yield Connected(indexer, searcher, base, report)
    searcher.close()
