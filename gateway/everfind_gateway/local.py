"""The one-process mode: wires the engines together through their ports. The only module that imports the services."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from everfind_core.lifecycle import Vocabulary
from everfind_core.ports import ChunkReader, ChunkWriter, Embedder, Indexer, Reranker, Searcher
from everfind_embedder import EmbedderSettings, open_embedder
from everfind_embedder.settings import RerankerSettings, open_reranker
from everfind_indexer.engine import IndexEngine
from everfind_indexer.settings import IndexerSettings
from everfind_indexer.sizes import SizeLimits
from everfind_indexer.syntax import SyntaxChunker
from everfind_indexer.vectors import KeptVectors
from everfind_rpc.json_api import read_key

if TYPE_CHECKING:
    from types import TracebackType

    from everfind_gateway.settings import Settings
    from everfind_rpc.service import Service


class LocalWorkspace:
    """One workspace in this process. Engines come up when first used; use it as a context manager."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

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
        return self._indexer

    @property
    def searcher(self) -> Searcher:
        """Answers questions."""
        return self._searcher

    @cached_property
    def _embedder(self) -> Embedder:
        return open_embedder(
            EmbedderSettings(
                model=self._settings.model,
                hub_endpoint=self._settings.hub_endpoint,
                cache_dir=self._settings.model_cache_dir,
                threads=self._settings.threads,
                endpoint=self._settings.model_endpoint,
                key=read_key(self._settings.model_key_file, "model_key_file", "EVERFIND_MODEL_KEY"),
                window=self._settings.model_window,
            )
        )

    @cached_property
    def _indexer(self) -> Indexer:
        settings = self._settings
        return IndexEngine(
            IndexerSettings(
                index_directory=settings.index_dir,
                folders=settings.folders,
                user_ignore=settings.user_ignore,
                sizes=SizeLimits(settings.max_file_bytes, settings.max_document_bytes),
                redact_secrets=settings.redact_secrets,
                chunk_tokens=settings.chunk_tokens,
                code_chunk_tokens=settings.code_chunk_tokens,
                chunk_overlap=settings.chunk_overlap,
                concurrency=settings.concurrency,
                kept_vectors=_kept_vectors(settings),
                vocabulary=Vocabulary.with_words(settings.lifecycle_words),
                outgoing=self._outgoing(),
            ),
            self._embedder,
            SyntaxChunker(),
            _open_writer,
        )

    @cached_property
    def _searcher(self) -> Searcher:
        from everfind_searcher.engine import SearchEngine
        from everfind_searcher.settings import Fusion, SearcherSettings

        tuning = self._settings.folder_tuning
        settings = SearcherSettings(
            index_directory=self._settings.index_dir,
            fusion=Fusion(self._settings.fusion),
            rrf_k=self._settings.rrf_k,
            default_exclude=(*self._settings.default_exclude, *tuning.default_exclude),
            path_boosts={**self._settings.path_boosts, **tuning.path_boosts},
            hidden_statuses=self._settings.hidden_statuses,
            redact_secrets=self._settings.redact_secrets,
        )
        return SearchEngine(settings, self._embedder, self._indexer, _open_reader, self._reranker)

    def _outgoing(self) -> tuple[str, ...]:
        if self._reranker is None or not self._reranker.endpoint:
            return ()
        return (f"queries that are reranked, and the text of their hits, to {self._reranker.endpoint}",)

    @cached_property
    def _reranker(self) -> Reranker | None:
        settings = self._settings
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

    def services(self) -> tuple[Service, ...]:
        """Everything that this workspace answers to gRPC clients."""
        from everfind_embedder.servicer import embedder_service
        from everfind_indexer.servicer import indexer_service
        from everfind_searcher.servicer import searcher_service
        from everfind_searcher.settings import SearcherSettings
        from everfind_searcher.status import index_status

        index = SearcherSettings(self._settings.index_dir)
        return (
            embedder_service(self._embedder, self._reranker),
            indexer_service(self._indexer),
            searcher_service(self._searcher, lambda: index_status(index, _open_reader)),
        )

    def close(self) -> None:
        """End what was started."""
        for name in ("_searcher", "_reranker", "_embedder"):
            if started := self.__dict__.pop(name, None):
                started.close()


def open_local(settings: Settings) -> LocalWorkspace:
    """The workspace that ``settings`` describe."""
    return LocalWorkspace(settings)


def _kept_vectors(settings: Settings) -> KeptVectors | None:
    if not settings.vector_cache_days:
        return None
    return KeptVectors(settings.vector_cache_dir, settings.vector_cache_days, settings.vector_cache_bytes)


def _open_writer(directory: Path, dimensions: int) -> ChunkWriter:
    from everfind_indexer.store import open_writer

    return open_writer(directory, dimensions)


def _open_reader(directory: Path) -> ChunkReader:
    from everfind_searcher.store import open_reader

    return open_reader(directory)
