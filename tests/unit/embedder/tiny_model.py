"""Tiny sentence-transformers models with an ONNX export; needs ``onnx``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "red", "green", "blue", "query", "passage", ":", "test", "a"]
TINY_DIMENSIONS = 4


@dataclass(frozen=True)
class TinyModel:
    """What a tiny model is like; by default a mean over word vectors with BERT's inputs and tokenizer."""

    output: str = "last_hidden_state"
    inputs: tuple[str, ...] = ("input_ids", "attention_mask", "token_type_ids")
    graph: str = "onnx/model.onnx"
    external_data: bool = False
    dynamic_scale: bool = False
    flat: bool = False
    modules: tuple[str, ...] = ("Transformer", "Pooling", "Normalize")
    pooling: dict[str, Any] | None = None
    files: dict[str, Any] | None = None


def tiny_table() -> npt.NDArray[np.float32]:
    """One vector a word."""
    return np.random.default_rng(7).normal(size=(len(WORDS), TINY_DIMENSIONS)).astype(np.float32)


def write_model(directory: Path, model: TinyModel) -> None:
    """Writes ``model`` into ``directory``."""
    graph = directory / model.graph
    graph.parent.mkdir(parents=True, exist_ok=True)
    _write_graph(graph, model)
    _write_tokenizer(directory / "tokenizer.json")
    modules = [
        {"path": f"{index}_{kind}" if index else "", "type": f"sentence_transformers.models.{kind}"}
        for index, kind in enumerate(model.modules)
    ]
    contents: dict[str, Any] = {
        "modules.json": modules,
        "1_Pooling/config.json": model.pooling or {"pooling_mode_mean_tokens": True},
        "sentence_bert_config.json": {"max_seq_length": 8},
        **(model.files or {}),
    }
    for name, content in contents.items():
        (directory / name).parent.mkdir(exist_ok=True)
        (directory / name).write_text(content if isinstance(content, str) else json.dumps(content))


def _write_graph(path: Path, model: TinyModel) -> None:

    table = numpy_helper.from_array(tiny_table(), "table")
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["words"])]
    last = "words"
    if model.dynamic_scale:
        nodes += [
            helper.make_node("DynamicQuantizeLinear", [last], ["q", "scale", "zero"]),
            helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["rounded"]),
        ]
        last = "rounded"
    initializers = [table]
    if model.flat or model.output == "sentence_embedding":
        initializers.append(numpy_helper.from_array(np.array([1]), "axis"))
        nodes.append(helper.make_node("ReduceMean", [last, "axis"], [model.output], keepdims=0))
        shape: list[str | int] = ["batch", TINY_DIMENSIONS]
    else:
        nodes.append(helper.make_node("Identity", [last], [model.output]))
        shape = ["batch", "sequence", TINY_DIMENSIONS]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"]) for name in model.inputs],
        [helper.make_tensor_value_info(model.output, TensorProto.FLOAT, shape)],
        initializers,
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    onnx.save(
        proto,
        str(path),
        save_as_external_data=model.external_data,
        location=f"{path.name}_data" if model.external_data else None,
        size_threshold=0,
    )


def _write_tokenizer(path: Path) -> None:

    vocabulary = {word: index for index, word in enumerate(WORDS)}
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer()
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])]
    )
    tokenizer.enable_padding(length=32)
    tokenizer.enable_truncation(4)
    tokenizer.save(str(path))
