"""MiniLM-L6 as a graph with real int8 matrix products, for runs of sequences of one exact length.

Input ``input_ids`` int64 (batch, sequence), every token real: no padding and so no mask. Output
``sentence_embedding`` float32 (batch, 384), unit length. Activations are quantized with one scale a token row, so a
row's result never depends on the other rows of its batch; inside, all tokens of a batch are rows of one matrix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from onnx import ModelProto, TensorProto, helper

from everfind_embedder.graph.dsl import MICROSOFT, Graph
from everfind_embedder.graph.weights import Bert, Floats, Layer, LayerNorm, Quantized

HIDDEN = 384
HEADS = 12
EPSILON = 1e-12
GELU_FLOOR = 0.17
"""GELU never falls below -0.17, so its output plus this is positive and can use all 8 bits unsigned."""


@dataclass(frozen=True, slots=True)
class QuantizedRows:
    """Activations of shape (rows, columns) as uint8: ``(values - zero) * scale``, one scale a row."""

    values: str
    scale: str
    zero: int


@dataclass(frozen=True, slots=True)
class Shapes:
    """Values that every layer needs: the 3-d shape of the hidden state, and one zero point a row."""

    sequence: str
    zero_middle: str
    zero_bottom: str


def build_minilm(bert: Bert) -> ModelProto:
    """The whole graph."""
    graph = Graph("minilm_l6_int8_rows")
    x = _embeddings(graph, bert)
    shapes = _shapes(graph, x)
    for index, layer in enumerate(bert.layers):
        x = _attention(graph, x, layer, shapes, f"layer_{index}")
        x = _feed_forward(graph, x, layer, shapes, f"layer_{index}")
    _mean_unit(graph, x, shapes)
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "sequence"])
    embedding = helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["batch", HIDDEN])
    return graph.model([ids], [embedding])


def _embeddings(graph: Graph, bert: Bert) -> str:
    """Word plus position plus type 0, normalised: (rows, hidden)."""
    words = graph.op("Gather", graph.weight("word", bert.word.values), "input_ids")
    word_scales = graph.op("Gather", graph.weight("word_scale", bert.word.scales[:, None]), "input_ids")
    length = graph.op("Shape", "input_ids", start=1, end=2)
    positions = _first_rows(graph, graph.weight("position", bert.position.values), length)
    position_scales = _first_rows(graph, graph.weight("position_scale", bert.position.scales[:, None]), length)
    position = graph.op("Mul", graph.op("Cast", positions, to=TensorProto.FLOAT), position_scales)
    position = graph.op("Add", position, graph.weight("token_type", bert.token_type))
    word = graph.op("Mul", graph.op("Cast", words, to=TensorProto.FLOAT), word_scales)
    normalized = _layer_norm(graph, graph.op("Add", word, position), bert.embedding_norm, "embedding_norm")
    return _as_rows(graph, normalized)


def _attention(graph: Graph, x: str, layer: Layer, shapes: Shapes, name: str) -> str:
    """Self-attention over each sequence, with the residual and its normalisation: (rows, hidden)."""
    qkv = _linear(graph, _quantize_rows(graph, x, shapes), layer.qkv, f"{name}_qkv")
    qkv = graph.op("Add", qkv, graph.weight(f"{name}_qkv_bias", layer.qkv_bias))
    heads = [graph.op("Reshape", part, shapes.sequence) for part in graph.split(qkv, [HIDDEN] * 3)]
    attended = _as_rows(graph, graph.op("MultiHeadAttention", *heads, domain=MICROSOFT, num_heads=HEADS))
    output = _linear(graph, _quantize_rows(graph, attended, shapes), layer.attention_output, f"{name}_attention")
    output = _add_residual(graph, output, layer.attention_output_bias, x, f"{name}_attention")
    return _layer_norm(graph, output, layer.attention_norm, f"{name}_attention_norm")


def _feed_forward(graph: Graph, x: str, layer: Layer, shapes: Shapes, name: str) -> str:
    """Up, GELU, down, with the residual and its normalisation: (rows, hidden)."""
    up = _linear(graph, _quantize_rows(graph, x, shapes), layer.up, f"{name}_up")
    hidden = graph.op("BiasGelu", up, graph.weight(f"{name}_up_bias", layer.up_bias), domain=MICROSOFT)
    down = _linear(graph, _quantize_gelu(graph, hidden, shapes), layer.down, f"{name}_down")
    down = _add_residual(graph, down, _without_gelu_floor(layer), x, f"{name}_down")
    return _layer_norm(graph, down, layer.output_norm, f"{name}_output_norm")


def _quantize_rows(graph: Graph, x: str, shapes: Shapes) -> QuantizedRows:
    """Symmetric: a row's largest magnitude becomes 127, zero stands at 128."""
    highest = graph.op("ReduceMax", x, graph.axes(-1), keepdims=0)
    lowest = graph.op("ReduceMin", x, graph.axes(-1), keepdims=0)
    magnitude = graph.op("Max", highest, graph.op("Neg", lowest), graph.constant(1e-6, np.float32))
    scale = graph.op("Mul", magnitude, graph.constant(1 / 127, np.float32))
    values = graph.op("QuantizeLinear", x, scale, shapes.zero_middle, axis=0)
    return QuantizedRows(values, graph.op("Unsqueeze", scale, graph.axes(-1)), zero=128)


def _quantize_gelu(graph: Graph, x: str, shapes: Shapes) -> QuantizedRows:
    """``x + GELU_FLOOR`` over all of 0 to 255; :func:`_without_gelu_floor` takes the floor out again."""
    highest = graph.op("ReduceMax", x, graph.axes(-1), keepdims=0)
    floor = graph.constant(GELU_FLOOR, np.float32)
    scale = graph.op("Mul", graph.op("Add", highest, floor), graph.constant(1 / 255, np.float32))
    values = graph.op("QuantizeLinear", graph.op("Add", x, floor), scale, shapes.zero_bottom, axis=0)
    return QuantizedRows(values, graph.op("Unsqueeze", scale, graph.axes(-1)), zero=0)


def _without_gelu_floor(layer: Layer) -> Floats:
    """The down bias, less what the constant ``GELU_FLOOR`` in every input adds. Integer sums: the same everywhere."""
    column_sums = layer.down.values.sum(axis=0, dtype=np.int64)
    floor = GELU_FLOOR * column_sums * layer.down.scales.astype(np.float64)
    bias: Floats = (layer.down_bias.astype(np.float64) - floor).astype(np.float32)
    return bias


def _linear(graph: Graph, rows: QuantizedRows, weight: Quantized, name: str) -> str:
    """``rows @ weight`` in int8, as float32, without bias."""
    product = graph.op(
        "MatMulIntegerToFloat",
        rows.values,
        graph.weight(f"{name}_weight", weight.values),
        graph.constant(1.0, np.float32),
        graph.weight(f"{name}_scale", weight.scales),
        graph.constant(rows.zero, np.uint8),
        domain=MICROSOFT,
    )
    return graph.op("Mul", product, rows.scale)


def _add_residual(graph: Graph, x: str, bias: Floats, residual: str, name: str) -> str:
    biased = graph.op("Add", x, graph.weight(f"{name}_bias", bias))
    return graph.op("Add", biased, residual)


def _layer_norm(graph: Graph, x: str, norm: LayerNorm, name: str) -> str:
    gain, bias = graph.weight(f"{name}_gain", norm.gain), graph.weight(f"{name}_bias", norm.bias)
    return graph.op("LayerNormalization", x, gain, bias, axis=-1, epsilon=EPSILON)


def _mean_unit(graph: Graph, x: str, shapes: Shapes) -> None:
    """The mean over each sequence, at unit length, which its sum gives as well: the output.

    The sum is a product with ones: onnxruntime's reductions add a single sequence in another order than several.
    """
    states = graph.op("Reshape", x, shapes.sequence)
    length = graph.op("Shape", "input_ids", start=1, end=2)
    ones = graph.op("Expand", graph.constant([1], np.float32), graph.op("Concat", graph.axes(1), length, axis=0))
    total = graph.op("Squeeze", graph.op("MatMul", ones, states), graph.axes(1))
    norm = graph.op("ReduceL2", total, graph.axes(-1), keepdims=1)
    graph.op("Div", total, norm, output="sentence_embedding")


def _shapes(graph: Graph, x: str) -> Shapes:
    batch_and_length = graph.op("Shape", "input_ids")
    rows = graph.op("Shape", x, start=0, end=1)
    return Shapes(
        sequence=graph.op("Concat", batch_and_length, graph.axes(HIDDEN), axis=0),
        zero_middle=graph.op("Expand", graph.constant([128], np.uint8), rows),
        zero_bottom=graph.op("Expand", graph.constant([0], np.uint8), rows),
    )


def _first_rows(graph: Graph, table: str, count: str) -> str:
    return graph.op("Slice", table, graph.axes(0), count, graph.axes(0))


def _as_rows(graph: Graph, x: str) -> str:
    return graph.op("Reshape", x, graph.axes(-1, HIDDEN))
