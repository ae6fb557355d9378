"""The embedder as a process: ``python -m everfind_embedder``."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from everfind_embedder.settings import (
    DEFAULT_ENDPOINT,
    DEFAULT_MODEL,
    EmbedderSettings,
    RerankerSettings,
    open_embedder,
    open_reranker,
)
from everfind_rpc.json_api import read_key
from everfind_rpc.serving.service import Service
from everfind_rpc.serving.service_main import ServiceSettings, run_service

DOCUMENT_SHARE = 0.75
"""Of all calls that may be under way, at most, for documents; so queries always find room."""

DOCUMENTS_NICE = 10
"""Steps of priority between queries and documents: a query that comes takes the processor at once."""


class EmbedderServerSettings(ServiceSettings):
    """What the embedder's process is told."""

    call_threads: int = Field(
        default=128, ge=1, le=256, description="Threads that run calls; one that waits to be embedded holds one."
    )
    model: str = Field(
        default=DEFAULT_MODEL,
        description="`default`, a directory, a hub id ORG/NAME[@REVISION], or a provider's model such as "
        "`voyage:voyage-code-3`.",
    )
    model_endpoint: str = Field(default="", description="Where the provider answers; none is its own address.")
    model_key_file: Path | None = Field(default=None, description="File of the key that the provider wants.")
    model_window: int = Field(default=0, ge=0, description="Tokens that a text may have there; 0 is as it says.")
    hub_endpoint: str = Field(default=DEFAULT_ENDPOINT, description="Where a model given by hub id is downloaded from.")
    model_cache_dir: Path | None = Field(default=None, description="Directory for downloaded models.")
    threads: int = Field(default=0, ge=0, le=256, description="Threads that embed; 0 follows the CPU quota.")
    waiting_tokens: int = Field(
        default=500_000,
        ge=1,
        description="Tokens that may wait to be embedded, of queries and of documents; calls beyond are told to come "
        "later.",
    )
    reranker: str = Field(
        default="",
        description="A directory or hub id of a cross-encoder, or a provider's such as `voyage:rerank-2.5`.",
    )
    reranker_endpoint: str = Field(default="", description="Where its provider answers; none is its own address.")
    reranker_key_file: Path | None = Field(default=None, description="File of the key that its provider wants.")
    reranker_seconds: float = Field(default=10.0, gt=0, le=120, description="How long its provider may take.")
    reranker_interval: float = Field(
        default=0.0, ge=0, le=60, description="Seconds between two calls of its provider at least."
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until told to stop; gives the exit code."""
    return run_service("embedder", EmbedderServerSettings, _open, arguments)


def _open(settings: EmbedderServerSettings, stack: contextlib.ExitStack) -> Sequence[Service]:
    from everfind_embedder.servicer import embedder_service

    embedder = open_embedder(_embedder_settings(settings))
    stack.callback(embedder.close)
    embedder.model()  # a model that cannot be loaded ends the process now, and not its first caller
    reranker = open_reranker(_reranker_settings(settings))
    if reranker is not None:
        stack.callback(reranker.close)
        _ = reranker.identity  # as above
    calls = min(settings.max_calls, settings.call_threads)
    return [embedder_service(embedder, reranker, document_calls=max(1, int(DOCUMENT_SHARE * calls)))]


def _embedder_settings(settings: EmbedderServerSettings) -> EmbedderSettings:
    return EmbedderSettings(
        model=settings.model,
        hub_endpoint=settings.hub_endpoint,
        cache_dir=settings.model_cache_dir,
        threads=settings.threads,
        endpoint=settings.model_endpoint,
        key=read_key(settings.model_key_file, "model_key_file"),
        window=settings.model_window,
        waiting_tokens=settings.waiting_tokens,
        documents_nice=DOCUMENTS_NICE,
    )


def _reranker_settings(settings: EmbedderServerSettings) -> RerankerSettings:
    return RerankerSettings(
        model=settings.reranker,
        hub_endpoint=settings.hub_endpoint,
        cache_dir=settings.model_cache_dir,
        threads=settings.threads,
        endpoint=settings.reranker_endpoint,
        key=read_key(settings.reranker_key_file, "reranker_key_file"),
        budget=settings.reranker_seconds,
        interval=settings.reranker_interval,
    )


if __name__ == "__main__":
    sys.exit(main())
