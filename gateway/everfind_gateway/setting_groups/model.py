"""Settings of models: which, where they are, and what they may take."""

from __future__ import annotations

from pathlib import Path

import platformdirs
from pydantic import BaseModel

from everfind_gateway.setting_groups.field import STRICT, setting


class ModelSettings(BaseModel):
    """The embedding model, the reranker, and the language model that rephrases questions."""

    model_config = STRICT

    model: str = setting(
        "default",
        "Embedding model: `default` (all-MiniLM-L6-v2, installed with everfind), a directory that holds a "
        "sentence-transformers style ONNX model, a hub id such as `BAAI/bge-small-en-v1.5`, or a provider's model: "
        "`voyage:NAME`, `openai:NAME` (whatever speaks that API), `ollama:NAME`. A provider gets every text that is "
        "indexed, and every query.",
        group="Model",
        shapes_answers=True,
        min_length=1,
    )
    hub_endpoint: str = setting(
        "https://huggingface.co",
        "Where a model given by hub id is downloaded from. Used only when `model` is a hub id.",
        group="Model",
        pattern=r"^https?://",
    )
    model_cache_dir: Path = setting(
        lambda: platformdirs.user_cache_path("everfind") / "models",
        "Directory for models downloaded by hub id.",
        group="Model",
        shown_default="`models` in the user's cache directory",
    )
    vector_cache_dir: Path = setting(
        lambda: platformdirs.user_cache_path("everfind") / "vectors",
        "Directory where vectors are kept for reuse by all indexes of this user. It holds no text, but vectors tell "
        "something of their texts: keep it private.",
        group="Model",
        shown_default="`vectors` in the user's cache directory",
    )
    vector_cache_days: float = setting(
        14,
        "How many days a vector is kept after its text left every index; 0 keeps none.",
        group="Model",
        ge=0,
        le=3650,
    )
    vector_cache_bytes: int = setting(
        1 << 30,
        "What the kept vectors may take on the disk; those used longest ago go first. A vector takes about 850 bytes.",
        group="Model",
        ge=1 << 20,
        le=1 << 50,
    )
    threads: int = setting(0, "CPU threads for embedding; 0 follows the CPU quota.", group="Model", ge=0, le=256)
    model_endpoint: str = setting(
        "",
        "Where the provider of `model` answers.",
        group="Model",
        shapes_answers=True,
        shown_default="the provider's own address; for Ollama this machine",
        pattern=r"^$|^https?://",
    )
    model_key_file: Path | None = setting(
        None,
        "File that holds the key for the provider of `model`; it can also come from the environment, as "
        "`EVERFIND_MODEL_KEY`.",
        group="Model",
    )
    model_window: int = setting(
        0,
        "Tokens that a text may have at the provider of `model`; 0 is what it usually takes.",
        group="Model",
        shapes_answers=True,
        ge=0,
        le=1 << 20,
    )
    reranker: str = setting(
        "",
        "Model that reranks the best hits: a directory or hub id of a cross-encoder with an ONNX export, or a "
        "provider's: `voyage:rerank-2.5`, `cohere:rerank-v3.5`. A provider gets the query and the hits' text.",
        group="Model",
        shapes_answers=True,
    )
    reranker_endpoint: str = setting(
        "",
        "Where the provider of `reranker` answers.",
        group="Model",
        shapes_answers=True,
        shown_default="the provider's own address",
        pattern=r"^$|^https?://",
    )
    reranker_key_file: Path | None = setting(
        None,
        "File that holds the key for the provider of `reranker`; it can also come from the environment, as "
        "`EVERFIND_RERANKER_KEY`.",
        group="Model",
    )
    reranker_seconds: float = setting(
        10.0,
        "How long the provider of `reranker` may take; after that the order of before stands, with a warning.",
        group="Model",
        ge=0.1,
        le=120,
    )
    reranker_interval: float = setting(
        0.0, "Seconds between two calls of that provider at least.", group="Model", ge=0, le=60
    )
    expansion_endpoint: str = setting(
        "",
        "OpenAI-compatible address of a language model that gives other ways to ask a question, such as "
        "`http://localhost:11434/v1`. It gets the text of queries that name nothing exactly, and nothing else.",
        group="Search",
        shapes_answers=True,
        pattern=r"^$|^https?://",
    )
    expansion_model: str = setting("", "Model that is asked for there.", group="Search", shapes_answers=True)
    expansion_key_file: Path | None = setting(
        None,
        "File that holds the key for it; the key can also come from the environment, as `EVERFIND_EXPANSION_KEY`.",
        group="Search",
    )
