"""How a workspace's settings make rows of documents, and the recipe that an index keeps of that."""

from __future__ import annotations

from everfind_core.index.manifest import Recipe
from everfind_core.lifecycle import REVISION as LIFECYCLE_REVISION
from everfind_core.model import LineKind, ModelInfo
from everfind_core.ports import Chunker, Embedder
from everfind_core.text.lexical import REVISION as LEXICAL_REVISION
from everfind_core.text.secrets import REVISION as SECRETS_REVISION
from everfind_indexer.extractors import REVISION as EXTRACTION_REVISION
from everfind_indexer.extractors import Extraction
from everfind_indexer.running.preparing import Preparation
from everfind_indexer.settings import IndexerSettings


def preparation(settings: IndexerSettings, embedder: Embedder, chunker: Chunker, extraction: Extraction) -> Preparation:
    """What turns documents into rows in a run with these settings: in this process, or in a worker."""
    return Preparation(
        extract=extraction.extract,
        chunker=chunker,
        tokenizer=embedder.tokenizer(),
        limits=settings.limits(embedder.model()),
        redact_secrets=settings.redact_secrets,
        vocabulary=settings.vocabulary,
    )


def recipe_of(settings: IndexerSettings, chunker: Chunker, model: ModelInfo) -> Recipe:
    """All that decides which rows :func:`preparation` gives, and how their vectors are stored."""
    limits = settings.limits(model)
    sizes = ",".join(
        f"{kind.value}={limits[kind].target}/{limits[kind].hard}/{limits[kind].overlap}" for kind in LineKind
    )
    return Recipe(
        model=model.identity,
        chunker=f"{chunker.revision} {sizes}",
        lexical=LEXICAL_REVISION,
        extraction=f"{EXTRACTION_REVISION} {LIFECYCLE_REVISION} {settings.vocabulary.revision}".rstrip(),
        secrets=SECRETS_REVISION if settings.redact_secrets else "off",
        vector_type=settings.vector_type,
    )
