"""What is known of the embedding models that people use, and where to check it.

Compared in November 2026 with what other projects publish of the same models: prompts and windows with the model
metadata of mteb, pooling with the tables of fastembed and, of newer models, with vLLM's tests
(``tests/models/language/pooling_mteb_test``), which hold it to the scores of sentence-transformers; all with pages and
configurations of the models, or copies of them, as far as they could be read. The prompts of arctic-embed v2.0 are
those that programs which use it quote from its page.
"""

from __future__ import annotations

from dataclasses import dataclass

MEASURED = "measured by everfind (docs/benchmarks.md, Silence)"


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """One model.

    ``window`` in tokens, special ones included. ``floor`` is the evidence (:mod:`everfind_core.ranking.admission`)
    below which an answer is noise; None if nobody measured it. ``multilingual``: trained on scripts besides Latin.
    ``source`` is the page to check them by.
    """

    id: str
    query_prefix: str
    document_prefix: str
    pooling: str
    window: int
    source: str
    multilingual: bool = False
    floor: float | None = None


_PASSAGES = "Represent this sentence for searching relevant passages: "
_QWEN = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
_JINA_3 = ("Represent the query for retrieving evidence documents: ", "Represent the document for retrieval: ")


def _card(
    names: str,
    *,
    prefixes: tuple[str, str] = ("", ""),
    pooling: str = "mean",
    window: int,
    multilingual: bool = False,
    source: str = "",
) -> tuple[ModelFacts, ...]:
    """The facts of models (separated by spaces) whose cards say the same; ``source`` where they have no card."""
    return tuple(
        ModelFacts(name, *prefixes, pooling, window, source or f"https://huggingface.co/{name}", multilingual)
        for name in names.split()
    )


MODELS: tuple[ModelFacts, ...] = (
    ModelFacts("sentence-transformers/all-MiniLM-L6-v2", "", "", "mean", 256, MEASURED, floor=0.35),
    *_card("sentence-transformers/all-MiniLM-L12-v2", window=128),
    *_card(
        "BAAI/bge-small-en-v1.5 BAAI/bge-base-en-v1.5 BAAI/bge-large-en-v1.5 mixedbread-ai/mxbai-embed-large-v1",
        prefixes=(_PASSAGES, ""),
        pooling="cls",
        window=512,
    ),
    *_card(
        "Snowflake/snowflake-arctic-embed-xs Snowflake/snowflake-arctic-embed-s Snowflake/snowflake-arctic-embed-m "
        "Snowflake/snowflake-arctic-embed-l Snowflake/snowflake-arctic-embed-m-v1.5",
        prefixes=(_PASSAGES, ""),
        pooling="cls",
        window=512,
    ),
    *_card("BAAI/bge-m3", pooling="cls", window=8192, multilingual=True),
    *_card(
        "intfloat/e5-small-v2 intfloat/e5-base-v2 intfloat/e5-large-v2",
        prefixes=("query: ", "passage: "),
        window=512,
    ),
    *_card(
        "intfloat/multilingual-e5-small intfloat/multilingual-e5-base intfloat/multilingual-e5-large",
        prefixes=("query: ", "passage: "),
        window=512,
        multilingual=True,
    ),
    *_card("thenlper/gte-small thenlper/gte-base thenlper/gte-large", window=512),
    *_card("Alibaba-NLP/gte-base-en-v1.5 Alibaba-NLP/gte-large-en-v1.5", pooling="cls", window=8192),
    *_card("Alibaba-NLP/gte-multilingual-base", pooling="cls", window=8192, multilingual=True),
    *_card(
        "nomic-ai/nomic-embed-text-v1 nomic-ai/nomic-embed-text-v1.5",
        prefixes=("search_query: ", "search_document: "),
        window=8192,
    ),
    *_card(
        "nomic-ai/nomic-embed-text-v2-moe",
        prefixes=("search_query: ", "search_document: "),
        window=512,
        multilingual=True,
    ),
    *_card(
        "Snowflake/snowflake-arctic-embed-l-v2.0 Snowflake/snowflake-arctic-embed-m-v2.0",
        prefixes=("query: ", ""),
        pooling="cls",
        window=8192,
        multilingual=True,
    ),
    *_card(
        "jinaai/jina-embeddings-v2-small-en jinaai/jina-embeddings-v2-base-en jinaai/jina-embeddings-v2-base-code",
        window=8192,
    ),
    *_card("jinaai/jina-embeddings-v3", prefixes=_JINA_3, window=8192, multilingual=True),
    *_card(
        "Qwen/Qwen3-Embedding-0.6B Qwen/Qwen3-Embedding-4B Qwen/Qwen3-Embedding-8B",
        prefixes=(_QWEN, ""),
        pooling="last",
        window=32768,
        multilingual=True,
    ),
    *_card(
        "google/embeddinggemma-300m",
        prefixes=("task: search result | query: ", "title: none | text: "),
        window=2048,
        multilingual=True,
    ),
    *_card(
        "voyageai/voyage-code-3 voyageai/voyage-3.5 voyageai/voyage-3-large",
        window=32000,
        multilingual=True,
        source="https://docs.voyageai.com/docs/embeddings",
    ),
)

MULTILINGUAL_SUGGESTION = "intfloat/multilingual-e5-small"
"""The smallest model here that was trained on a hundred languages."""

_BY_NAME = {facts.id.rpartition("/")[2].lower(): facts for facts in MODELS}


def facts_of(model_id: str) -> ModelFacts | None:
    """What is known of a model, by its name alone: a local directory or a copy elsewhere has another owner."""
    return _BY_NAME.get(model_id.rpartition("/")[2].lower())


def reads_english_only(model_id: str) -> bool:
    """Whether a model is known to have been trained on no script but Latin."""
    facts = facts_of(model_id)
    return facts is not None and not facts.multilingual
