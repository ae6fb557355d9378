"""Loads a model from a directory laid out as sentence-transformers does, with an ONNX export in it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from everfind_core.errors import ModelUnusableError
from everfind_core.model import ModelInfo, ModelSource
from everfind_core.noise.model_registry import facts_of
from everfind_embedder.encoder import MODEL_INPUTS, RUN_TOKENS, Pooling, PoolingEncoder
from everfind_embedder.loading.checksum import revision_of, sha256_of
from everfind_embedder.loading.layout import ModelLayout, read_layout
from everfind_embedder.loading.loaded import LoadedModel
from everfind_embedder.loading.onnx_file import OnnxFile
from everfind_embedder.runtime import Session, first_line
from everfind_embedder.tokenizer import HubTokenizer

VARIANT = "onnx"
POOLED_OUTPUT = "sentence_embedding"
STATE_OUTPUTS = ("last_hidden_state", "token_embeddings")

_BATCH_SCALED = frozenset({"DynamicQuantizeLinear", "DynamicQuantizeMatMul"})
"""Operators with one scale for a whole batch: sequences of one run would change each other's vectors."""


def load_directory(directory: Path, *, hub_id: str = "") -> LoadedModel:
    """The model in ``directory``; ``hub_id`` is its name if it came from the hub.

    Raises:
        ModelUnusableError: something is missing, unreadable, or no embedding model that everfind can run.
    """
    name = hub_id or directory.resolve().name
    layout = _with_known_prefixes(read_layout(directory), name)
    tokenizer = HubTokenizer(_read(layout.tokenizer), source=str(layout.tokenizer))
    file = OnnxFile(layout.graph)
    session = Session(layout.graph)
    output, pooling = _choose_output(session, layout)
    encoder = PoolingEncoder(session, output=output, pooling=pooling)
    document_prefix_tokens = len(tokenizer.prefix_ids(layout.document_prefix))
    info = ModelInfo(
        id=name,
        revision=_revision(layout, file, pooling),
        dimensions=_dimensions(encoder, tokenizer, layout.graph),
        max_tokens=layout.max_tokens,
        pooling=pooling.value,
        document_prefix=layout.document_prefix,
        query_prefix=layout.query_prefix,
        special_tokens=tokenizer.special_tokens,
        document_prefix_tokens=document_prefix_tokens,
        source=ModelSource.HUB if hub_id else ModelSource.DIRECTORY,
        variant=VARIANT,
    )
    if info.text_budget < 1:
        raise ModelUnusableError(
            f"the model in {directory} has a window of {layout.max_tokens} tokens, which leaves none for a text",
            hint="Set max_seq_length in its sentence_bert_config.json.",
        )
    return LoadedModel(info, tokenizer, encoder, run_tokens=1 if file.operators & _BATCH_SCALED else RUN_TOKENS)


def _with_known_prefixes(layout: ModelLayout, name: str) -> ModelLayout:
    """Prefixes that the model's own files do not say, from what is known of it."""
    facts = facts_of(name)
    if facts is None or layout.query_prefix or layout.document_prefix:
        return layout
    return replace(layout, query_prefix=facts.query_prefix, document_prefix=facts.document_prefix)


def _choose_output(session: Session, layout: ModelLayout) -> tuple[str, Pooling]:
    """Which output to take, and what is left to do with it."""
    unknown = sorted(set(session.inputs) - MODEL_INPUTS)
    if unknown or "input_ids" not in session.inputs:
        asks = f"asks for {', '.join(unknown)}" if unknown else "has no input input_ids"
        raise ModelUnusableError(
            f"{layout.graph} {asks}, so it is not a text embedding model",
            hint="Export the model for feature extraction.",
        )
    if POOLED_OUTPUT in session.outputs:
        return POOLED_OUTPUT, Pooling.GRAPH
    if layout.extra_modules:
        raise ModelUnusableError(
            f"the model in {layout.directory} needs its modules {', '.join(layout.extra_modules)}, "
            f"and its graph has no output {POOLED_OUTPUT}",
            hint="Export the whole pipeline to ONNX, or use a model of a transformer and a pooling only.",
        )
    for name in STATE_OUTPUTS:
        if name in session.outputs:
            return name, layout.pooling
    raise ModelUnusableError(
        f"{layout.graph} has none of the outputs {', '.join((POOLED_OUTPUT, *STATE_OUTPUTS))}",
        hint="Export the model for feature extraction.",
    )


def _dimensions(encoder: PoolingEncoder, tokenizer: HubTokenizer, graph: Path) -> int:
    """The length of a vector, found by embedding a word, which also shows whether the graph works."""
    try:
        ids = tokenizer.wrap(tokenizer.encode_ids("test"))
        vectors = encoder.run(np.stack([ids, ids]))
    except Exception as error:  # onnxruntime's own classes have no common base
        raise ModelUnusableError(
            f"{graph} cannot embed a text: {first_line(error)}",
            hint="Check that tokenizer.json and the graph belong to the same model.",
        ) from error
    if len(vectors) != 2 or not vectors.shape[1] or not np.isfinite(vectors).all():
        raise ModelUnusableError(
            f"{graph} does not give one finite vector a text: its output for two texts has the shape {vectors.shape}",
            hint="Use the export of a sentence embedding model.",
        )
    return int(vectors.shape[1])


def _revision(layout: ModelLayout, file: OnnxFile, pooling: Pooling) -> str:
    digests = [sha256_of(path) for path in (layout.graph, *file.external_files(), layout.tokenizer)]
    facts = [pooling.value, str(layout.max_tokens), layout.document_prefix, layout.query_prefix, VARIANT]
    return revision_of([*digests, *(repr(fact) for fact in facts)])


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ModelUnusableError(
            f"the model file {path} cannot be read: {error.strerror}",
            hint="Check the file's permissions.",
        ) from error
