"""One suite for every way to reach everfind. ``workspace`` has a parameter for each."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from everfind_core.index.store_backends import StoreChoice
from everfind_core.model import Folder, IndexReport, IndexRequest, ModelInfo
from everfind_core.ports import Embedder, Indexer, Searcher
from everfind_embedder import EmbedderSettings, open_embedder
from everfind_embedder.servicer import embedder_service
from everfind_indexer.engine import IndexEngine
from everfind_indexer.servicer import indexer_service
from everfind_indexer.settings import IndexerSettings
from everfind_indexer.store import open_writer
from everfind_indexer.syntax import SyntaxChunker
from everfind_rpc.serving.service import Service
from everfind_searcher.engine import SearchEngine
from everfind_searcher.servicer import searcher_service
from everfind_searcher.settings import SearcherSettings
from everfind_searcher.status import index_status
from everfind_searcher.store import open_reader
from tests.support.corpus import write_corpus
from tests.support.fakes import MODEL, FakeEmbedder
from tests.support.notes import Notes, Reach, open_notes
from tests.support.serving import Remote, connected, serving
from tests.support.team import team


@dataclass(frozen=True)
class Engines:
    """A workspace's engines in this process."""

    embedder: Embedder
    indexer: Indexer
    searcher: Searcher
    base: Path

    def services(self) -> list[Service]:
        settings = SearcherSettings(self.base / "index")
        return [
            embedder_service(self.embedder),
            indexer_service(self.indexer),
            searcher_service(self.searcher, lambda: index_status(settings, open_reader)),
        ]


@dataclass(frozen=True)
class Connected:
    """The ports of one workspace, however they are reached, and where its folders lie."""

    embedder: Embedder
    indexer: Indexer
    searcher: Searcher
    base: Path
    report: IndexReport


@dataclass(frozen=True)
class Deployment:
    """A team's everfind in containers over a corpus below ``base``, indexed."""

    remote: Remote
    base: Path
    report: IndexReport


CONTAINERS = pytest.param("containers", marks=[pytest.mark.containers, pytest.mark.timeout(900)])


@contextlib.contextmanager
def open_engines(base: Path, embedder: Embedder, store: StoreChoice = StoreChoice.AUTO) -> Iterator[Engines]:
    """Engines over a corpus below ``base``, not indexed yet."""
    folders = (Folder("code", str(base / "code")), Folder("docs", str(base / "docs")))
    write_corpus(base)
    settings = IndexerSettings(base / "index", folders, store=store)
    indexer = IndexEngine(settings, embedder, SyntaxChunker(), open_writer)
    searcher = SearchEngine(SearcherSettings(base / "index"), embedder, indexer, open_reader)
    yield Engines(embedder, indexer, searcher, base)
    searcher.close()


@pytest.fixture(scope="session")
def embedder() -> Iterator[Embedder]:
    embedder = open_embedder(EmbedderSettings())
    yield embedder
    embedder.close()


@pytest.fixture(params=["direct", "aio", "sqlite"])
def notes(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Reach]:
    """Opens the engines of one folder's index with a fast model and a configured ``min_score``."""
    with contextlib.ExitStack() as stack:

        def opened(info: ModelInfo = MODEL, min_score: float | None = None) -> Notes:
            return open_notes(
                stack,
                tmp_path,
                remote=request.param == "aio",
                embedder=FakeEmbedder(info=info),
                min_score=min_score,
                store=store_of(request.param),
            )

        yield opened


@pytest.fixture(scope="session")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    base = tmp_path_factory.mktemp("deployment")
    write_corpus(base)
    (base / "code" / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    folders = {"EVERFIND_FOLDERS": f"{base}/code,{base}/docs"}
    with team(base, settings=folders) as running, running.client() as remote:
        yield Deployment(remote, base, remote.indexer.index(IndexRequest(), lambda _event: None))


def store_of(parameter: str) -> StoreChoice:
    """In this process the suite runs over each store."""
    return StoreChoice.SQLITE if parameter == "sqlite" else StoreChoice.AUTO


@pytest.fixture(scope="session", params=["direct", "aio", "sqlite", CONTAINERS])
def workspace(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, embedder: Embedder
) -> Iterator[Connected]:
    if request.param == "containers":
        deployed: Deployment = request.getfixturevalue("deployment")
        remote = deployed.remote
        yield Connected(remote.embedder, remote.indexer, remote.searcher, deployed.base, deployed.report)
        return
    base = tmp_path_factory.mktemp("workspace")
    with contextlib.ExitStack() as stack:
        engines = stack.enter_context(open_engines(base, embedder, store_of(request.param)))
        reached: tuple[Embedder, Indexer, Searcher] = (engines.embedder, engines.indexer, engines.searcher)
        if request.param == "aio":
            remote = stack.enter_context(connected(stack.enter_context(serving(engines.services()))))
            reached = (remote.embedder, remote.indexer, remote.searcher)
        report = reached[1].index(IndexRequest(), lambda _event: None)
        yield Connected(*reached, base, report)
