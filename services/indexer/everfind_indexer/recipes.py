"""How documents become rows by a workspace's settings, for whoever prepares them: this process, or a worker."""

from __future__ import annotations

from everfind_core.ports import Chunker, Embedder
from everfind_indexer.extractors import Extraction
from everfind_indexer.preparing import Preparation
from everfind_indexer.settings import IndexerSettings


def preparation(settings: IndexerSettings, embedder: Embedder, chunker: Chunker, extraction: Extraction) -> Preparation:
    """What turns documents into rows in a run with these settings."""
    return Preparation(
        extract=extraction.extract,
        chunker=chunker,
        tokenizer=embedder.tokenizer(),
        limits=settings.limits(embedder.model()),
        redact_secrets=settings.redact_secrets,
        vocabulary=settings.vocabulary,
    )
