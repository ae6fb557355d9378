"""The one-process mode: wires the engines together through their ports. The only module that imports the services."""

from __future__ import annotations

import os
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

import platformdirs

from everfind_core.tuning import FILE as TUNING_FILE
from everfind_gateway.config.settings_folders import SettingsFolders
from everfind_gateway.wiring.late import Late, LateChunker
from everfind_gateway.wiring.models import Models
from everfind_gateway.wiring.running import running_server
from everfind_gateway.wiring.warm import WarmSearcher

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from types import TracebackType

    from everfind_core.cancellation import Cancellation
    from everfind_core.errors import EverfindError
    from everfind_core.index.archive import Header
    from everfind_core.model import Folder, IndexReport
    from everfind_core.ports import Chunker, ChunkReader, ChunkWriter, Embedder, Indexer, Reranker, Searcher
    from everfind_core.tuning import Tuning
    from everfind_embedder import EmbedderSettings
    from everfind_gateway.config.settings import Settings
    from everfind_indexer.engine import IndexEngine
    from everfind_indexer.running.workers import Workers, WorkersOpener
    from everfind_indexer.runs import RunHistory
    from everfind_indexer.settings import IndexerSettings
    from everfind_indexer.watching import Following
    from everfind_rpc.serving.service import Service
    from everfind_searcher.engine import SearchEngine


class LocalWorkspace:
    """One workspace in this process. Engines come up when first used; use it as a context manager.

    ``shared`` is what several workspaces share; otherwise it has its own.
    ``open_workers`` opens what does the heavy part of a run; this process, if it is None.
    """

    def __init__(
        self, settings: Settings, shared: Shared | None = None, open_workers: WorkersOpener | None = None
    ) -> None:
        self._settings = settings
        self._shared = open_shared() if shared is None else shared
        self._models = self._shared.models.lease(settings)
        self._embedder = self._models.embedder
        self._reranker = self._models.reranker
        self._indexer = Late(
            lambda: _open_indexer(settings, self._embedder, _outgoing(settings, self._reranker.get()), open_workers)
        )
        self._engine = Late(lambda: _open_searcher(settings, self._embedder, self.indexer, self._reranker.get()))
        find = partial(running_server, settings.index_dir, settings.digest)
        self._searcher = WarmSearcher(find if settings.local_server else lambda: None, self._engine.get)
        self._following: Following | None = None
        self._runs: RunHistory | None = None
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def embedder(self) -> Embedder:
        """The embedding model; loads at first use."""
        return self._embedder

    @property
    def indexer(self) -> Indexer:
        """Keeps the index."""
        return self._indexer.get()

    @property
    def searcher(self) -> Searcher:
        """Answers questions, through the running server of this index where there is one."""
        return self._searcher

    def export(self, target: Path) -> Header:
        """Write the index into one file; see :meth:`everfind_indexer.engine.IndexEngine.export`."""
        return self._indexer.get().export(target)

    def import_archive(self, source: Path, *, overwrite: bool, cancel: Cancellation) -> Header:
        """Let an exported index answer; see :meth:`everfind_indexer.engine.IndexEngine.import_archive`."""
        return self._indexer.get().import_archive(source, overwrite=overwrite, cancel=cancel)

    def follow(
        self,
        *,
        create: bool = True,
        on_report: Callable[[Folder, IndexReport | EverfindError], object] = lambda *_: None,
    ) -> None:
        """Keep the index up with its folders in the background, until the workspace is closed; also with those to come.

        ``on_report`` hears of each run. With ``create`` false it waits until a run has made the index.
        """
        from everfind_indexer.watching import Following

        told = _indexer_settings(self._settings, ())
        self._following = Following(self._indexer.get(), told, on_report=on_report, create=create)
        self._following.start()

    def services(self) -> tuple[Service, ...]:
        """Everything that this workspace answers to gRPC clients."""
        from everfind_embedder.servicer import embedder_service
        from everfind_indexer.servicer import indexer_service
        from everfind_searcher.servicer import searcher_service
        from everfind_searcher.settings import SearcherSettings
        from everfind_searcher.status import index_status

        index = SearcherSettings(self._settings.index_dir)
        self._runs = self._shared.runs(self._settings.index_dir)
        return (
            embedder_service(self.embedder, self._reranker.get()),
            indexer_service(self.indexer, history=self._runs),
            searcher_service(self._engine.get(), lambda: index_status(index, _open_reader)),
        )

    def close(self) -> None:
        """End what was started."""
        if self._following is not None:
            self._following.close()
            self._following = None
        self._searcher.close()
        if engine := self._engine.take():
            engine.close()
        if self._runs is not None:
            self._runs.shorten()
        if not self._closed:
            self._closed = True
            self._models.close()


class Shared:
    """What the workspaces of a process share: models, and the runs of each index, which outlast its being open."""

    def __init__(self, models: Models) -> None:
        self.models = models
        self._guard = threading.Lock()
        self._runs: dict[Path, RunHistory] = {}

    def runs(self, index_dir: Path) -> RunHistory:
        """The runs of the index in a directory."""
        from everfind_indexer.runs import RunHistory

        with self._guard:
            return self._runs.setdefault(index_dir, RunHistory())


def open_shared() -> Shared:
    """What several workspaces share."""
    return Shared(Models(_open_embedder, _open_reranker))


def open_local(settings: Settings, shared: Shared | None = None) -> LocalWorkspace:
    """The workspace that ``settings`` describe."""
    return LocalWorkspace(settings, shared)


def open_on_ray(settings: Settings) -> LocalWorkspace:
    """The same, whose runs are done by workers of a Ray cluster: that of ``RAY_ADDRESS``, or one of their own.

    Index with it and close it: each run joins or starts the cluster, which takes seconds.
    """
    return LocalWorkspace(settings, open_workers=partial(_ray_workers, settings))


def open_followed(settings: Settings, shared: Shared | None = None) -> LocalWorkspace:
    """The same for a server: where ``settings`` allow it, an index that was made is kept up with its folders."""
    workspace = LocalWorkspace(settings, shared)
    if settings.watch:
        workspace.follow(create=False)
    return workspace


def tune(settings: Settings, cancel: Cancellation) -> Tuning:
    """Measure how this machine embeds fastest; see :func:`everfind_embedder.settings.tune`."""
    from everfind_embedder.settings import tune as measured

    return measured(_embedder_settings(settings), cancel)


def embeds_here(settings: Settings) -> bool:
    """Whether the settings' model runs on this machine; see :func:`everfind_embedder.settings.embeds_here`."""
    from everfind_embedder.settings import embeds_here as runs_here

    return runs_here(_embedder_settings(settings))


def tuning_in_use(settings: Settings) -> Tuning | None:
    """What was measured for the settings' model on this machine; None if nothing was."""
    from everfind_embedder.settings import tuning_for

    return tuning_for(_embedder_settings(settings))


def _open_embedder(settings: Settings) -> Embedder:
    from everfind_embedder import open_embedder

    return open_embedder(_embedder_settings(settings))


def _embedder_settings(settings: Settings) -> EmbedderSettings:
    from everfind_embedder import EmbedderSettings
    from everfind_rpc.json_api import read_key

    return EmbedderSettings(
        model=settings.model,
        hub_endpoint=settings.hub_endpoint,
        cache_dir=settings.model_cache_dir,
        threads=settings.threads,
        endpoint=settings.model_endpoint,
        key=read_key(settings.model_key_file, "model_key_file", "EVERFIND_MODEL_KEY"),
        window=settings.model_window,
        tuning=platformdirs.user_state_path("everfind") / TUNING_FILE,
    )


def _open_reranker(settings: Settings) -> Reranker | None:
    if not settings.reranker:
        return None
    from everfind_embedder.settings import RerankerSettings, open_reranker
    from everfind_rpc.json_api import read_key

    return open_reranker(
        RerankerSettings(
            model=settings.reranker,
            hub_endpoint=settings.hub_endpoint,
            cache_dir=settings.model_cache_dir,
            threads=settings.threads,
            endpoint=settings.reranker_endpoint,
            key=read_key(settings.reranker_key_file, "reranker_key_file", "EVERFIND_RERANKER_KEY"),
            budget=settings.reranker_seconds,
            interval=settings.reranker_interval,
        )
    )


def _outgoing(settings: Settings, reranker: Reranker | None) -> tuple[str, ...]:
    """What leaves the machine besides what the embedding model says of itself."""
    leaving = []
    if reranker is not None and reranker.endpoint:
        leaving.append(f"queries that are reranked, and the text of their hits, to {reranker.endpoint}")
    if settings.expansion_endpoint:
        leaving.append(f"queries that name nothing exactly, to {settings.expansion_endpoint}")
    return tuple(leaving)


def _open_indexer(
    settings: Settings, embedder: Embedder, outgoing: tuple[str, ...], open_workers: WorkersOpener | None
) -> IndexEngine:
    from everfind_indexer.engine import IndexEngine

    folders = SettingsFolders(settings.files.folders_file, settings.folders, settings.index_dir)
    indexing = _indexer_settings(settings, outgoing)
    return IndexEngine(indexing, embedder, LateChunker(_open_chunker), _open_writer, folders, open_workers=open_workers)


def _ray_workers(settings: Settings, told: IndexerSettings) -> AbstractContextManager[Workers]:
    from everfind_core.cpu_quota import cpu_quota
    from everfind_indexer.running.ray_workers import ray_workers
    from everfind_indexer.running.workers import WorkerRecipe

    one_thread = settings.model_copy(update={"threads": 1})  # there are as many workers as CPUs
    recipe = WorkerRecipe(told, partial(_open_embedder, one_thread), _open_chunker)
    return ray_workers(recipe, address=os.environ.get("RAY_ADDRESS", ""), cpus=settings.threads or cpu_quota())


def _indexer_settings(settings: Settings, outgoing: tuple[str, ...]) -> IndexerSettings:
    from everfind_core.index.store_backends import StoreChoice
    from everfind_core.index.vector_types import VectorType
    from everfind_indexer.settings import indexer_settings

    return indexer_settings(
        settings,
        store=StoreChoice(settings.store_backend),
        vector_type=VectorType(settings.vector_type),
        user_ignore=settings.user_ignore,
        vectors=settings.vector_cache_dir,
        outgoing=outgoing,
        digest=settings.digest,
    )


def _open_searcher(settings: Settings, embedder: Embedder, indexer: Indexer, reranker: Reranker | None) -> SearchEngine:
    from everfind_rpc.json_api import read_key
    from everfind_searcher.asking.expansion import open_expander
    from everfind_searcher.engine import OptionalModels, SearchEngine
    from everfind_searcher.settings import Fusion, SearcherSettings

    tuning = settings.folder_tuning
    searching = SearcherSettings(
        index_directory=settings.index_dir,
        fusion=Fusion(settings.fusion),
        rrf_k=settings.rrf_k,
        default_exclude=(*settings.default_exclude, *tuning.default_exclude),
        path_boosts={**settings.path_boosts, **tuning.path_boosts},
        hidden_statuses=settings.hidden_statuses,
        redact_secrets=settings.redact_secrets,
        min_score=settings.min_score,
        relative_cutoff=settings.relative_cutoff,
    )
    expander = open_expander(
        settings.expansion_endpoint,
        settings.expansion_model,
        read_key(settings.expansion_key_file, "expansion_key_file", "EVERFIND_EXPANSION_KEY"),
    )
    reader = partial(_open_reader, resident_bytes=settings.resident_bytes)
    return SearchEngine(searching, embedder, indexer, reader, OptionalModels(reranker, expander))


def _open_chunker() -> Chunker:
    from everfind_indexer.syntax import SyntaxChunker

    return SyntaxChunker()


def _open_writer(directory: Path, dimensions: int) -> ChunkWriter:
    from everfind_indexer.store import open_writer

    return open_writer(directory, dimensions)


def _open_reader(directory: Path, resident_bytes: int = 0) -> ChunkReader:
    from everfind_searcher.store import open_reader

    return open_reader(directory, resident_bytes=resident_bytes)
