"""The searcher as a process: ``python -m everfind_searcher``."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from pydantic import BeforeValidator, Field
from pydantic_settings import NoDecode

from everfind_core.index.object_place import SCHEME, ObjectPlace
from everfind_core.model import HIDDEN_STATUSES
from everfind_core.ranking.fusion import RRF_K
from everfind_rpc.serving.service import Service
from everfind_rpc.serving.service_main import ServiceSettings, comma_separated, run_service
from everfind_searcher.settings import Fusion, SearcherSettings
from everfind_searcher.store import RESIDENT_BYTES

if TYPE_CHECKING:
    from everfind_searcher.published import PublishedIndex

Factor: TypeAlias = Annotated[float, Field(ge=0.1, le=10)]


def _factors(given: Any) -> Any:
    """``GLOB=FACTOR`` entries, separated by commas, as a mapping; what is no text as it is."""
    if not isinstance(given, str):
        return given
    entries = [entry.rpartition("=") for entry in comma_separated(given)]
    return {glob.strip(): factor for glob, _, factor in entries}


def _place(given: Any) -> Any:
    return ObjectPlace.parse(given) if isinstance(given, str) and given.startswith(SCHEME) else given


class SearcherServerSettings(ServiceSettings):
    """What the searcher's process is told."""

    index_dir: Annotated[Path | ObjectPlace, BeforeValidator(_place)] = Field(
        description="Directory of the index, which reading is enough for; or s3://BUCKET/PREFIX where one is published."
    )
    embedder: str = Field(description="HOST:PORT of the embedder.")
    indexer: str = Field(description="HOST:PORT of the indexer, which reads what surrounds a hit.")
    fusion: Fusion = Field(default=Fusion.WEIGHTED, description="How the two arms become one order: weighted or rrf.")
    rrf_k: int = Field(default=RRF_K, ge=1, le=10_000, description="Smoothing constant of rrf.")
    redact_secrets: bool = Field(default=True, description="Answer only from an index whose secrets are masked.")
    min_score: float | None = Field(
        default=None, ge=-1, le=1, description="Cosine that each hit must reach; unset, the calibrated floor stands."
    )
    relative_cutoff: float = Field(
        default=0.0, ge=0, le=1, description="Share of the best hit's cosine that each hit must reach."
    )
    resident_bytes: int = Field(
        default=RESIDENT_BYTES, ge=0, description="Bytes of the index kept in memory, about 2,300 a chunk."
    )
    default_exclude: Annotated[tuple[str, ...], NoDecode, BeforeValidator(comma_separated)] = Field(
        default=(), description="Path globs, separated by commas, that a search leaves out unless it asks for all."
    )
    path_boosts: Annotated[dict[str, Factor], NoDecode, BeforeValidator(_factors)] = Field(
        default={}, description="Path globs with the factors that move their files in the order, as GLOB=FACTOR,…"
    )
    expansion_endpoint: str = Field(
        default="", description="OpenAI-compatible address that rewords questions; none is no rewording."
    )
    expansion_model: str = Field(default="", description="Model that is asked for there.")
    expansion_key_file: Path | None = Field(default=None, description="File of the key that it wants.")
    hidden_statuses: Annotated[tuple[str, ...], NoDecode, BeforeValidator(comma_separated)] = Field(
        default=HIDDEN_STATUSES,
        description="Statuses of documents, separated by commas, that a search leaves out unless it asks for all.",
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until told to stop; gives the exit code."""
    return run_service("searcher", SearcherServerSettings, _open, arguments)


def _open(settings: SearcherServerSettings, stack: contextlib.ExitStack) -> Sequence[Service]:
    from everfind_rpc.channel import Connection
    from everfind_rpc.clients import embedder, indexer, reranker
    from everfind_rpc.json_api import read_key
    from everfind_searcher.asking.expansion import open_expander
    from everfind_searcher.engine import OptionalModels, SearchEngine
    from everfind_searcher.servicer import searcher_service
    from everfind_searcher.status import index_status
    from everfind_searcher.store import open_reader

    to_embedder = stack.enter_context(Connection(settings.endpoint(settings.embedder), [embedder.SERVICE]))
    to_indexer = stack.enter_context(Connection(settings.endpoint(settings.indexer), [indexer.SERVICE]))
    directory, published = _index(settings.index_dir, stack)
    index = SearcherSettings(
        directory,
        fusion=settings.fusion,
        rrf_k=settings.rrf_k,
        default_exclude=settings.default_exclude,
        hidden_statuses=settings.hidden_statuses,
        path_boosts=settings.path_boosts,
        redact_secrets=settings.redact_secrets,
        min_score=settings.min_score,
        relative_cutoff=settings.relative_cutoff,
        published=published,
    )
    key = read_key(settings.expansion_key_file, "expansion_key_file")
    expander = open_expander(settings.expansion_endpoint, settings.expansion_model, key)
    engine = SearchEngine(
        index,
        embedder.RemoteEmbedder(to_embedder),
        indexer.RemoteIndexer(to_indexer),
        partial(open_reader, resident_bytes=settings.resident_bytes),
        OptionalModels(reranker.RemoteReranker(to_embedder), expander),
    )
    stack.callback(engine.close)
    return [searcher_service(engine, lambda: index_status(index, open_reader))]


def _index(place: Path | ObjectPlace, stack: contextlib.ExitStack) -> tuple[Path, PublishedIndex | None]:
    """The index directory, and what it is a part of where the index is on an object store."""
    if isinstance(place, Path):
        return place, None
    from everfind_searcher.published import PublishedIndex

    published = stack.enter_context(contextlib.closing(PublishedIndex(place)))
    return published.directory, published


if __name__ == "__main__":
    sys.exit(main())
