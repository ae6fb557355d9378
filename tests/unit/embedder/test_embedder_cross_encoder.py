"""A local cross-encoder: pairs as the model reads them, scores in order, and what is no cross-encoder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing

from everfind_core.errors import ModelUnusableError
from everfind_core.model import RerankRequest
from everfind_embedder.cross_encoder import LocalReranker, load_cross_encoder
from everfind_embedder.settings import RerankerSettings, open_reranker
from tests.unit.embedder.tiny_model import WORDS, TinyModel, write_model


def write_cross_encoder(directory: Path, *, classes: int = 1, output: str = "logits") -> Path:
    """A model whose score is the share of `blue` among all tokens plus that of the second text's tokens."""
    write_model(directory, TinyModel())
    table = np.zeros((len(WORDS), classes), np.float32)
    table[WORDS.index("blue"), -1] = 1
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["words"]),
        helper.make_node("Cast", ["token_type_ids"], ["types"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["types", "last"], ["second"]),
        helper.make_node("Add", ["words", "second"], ["sum"]),
        helper.make_node("ReduceMean", ["sum", "axis"], [output], keepdims=0),
    ]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"])
            for name in ("input_ids", "attention_mask", "token_type_ids")
        ],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, ["batch", classes])],
        [
            numpy_helper.from_array(table, "table"),
            numpy_helper.from_array(np.array([1]), "axis"),
            numpy_helper.from_array(np.array([2]), "last"),
        ],
    )
    opset = helper.make_opsetid("", 18)
    onnx.save(helper.make_model(graph, opset_imports=[opset], ir_version=10), str(directory / "onnx/model.onnx"))
    tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[("[CLS]", WORDS.index("[CLS]")), ("[SEP]", WORDS.index("[SEP]"))],
    )
    tokenizer.save(str(directory / "tokenizer.json"))
    return directory


def test_a_pair_is_read_with_its_types(tmp_path: Path) -> None:
    model = load_cross_encoder(write_cross_encoder(tmp_path))
    pair = model.pair("red", "blue green")
    assert [WORDS[token] for token in pair.ids[0]] == ["[CLS]", "red", "[SEP]", "blue", "green", "[SEP]"]
    assert pair.types.tolist() == [[0, 0, 0, 1, 1, 1]]
    assert model.score(pair) == pytest.approx(1 / 6 + 3 / 6)


def test_the_query_keeps_its_share_and_the_text_is_cut(tmp_path: Path) -> None:
    model = load_cross_encoder(write_cross_encoder(tmp_path))  # its window is 8
    words = [WORDS[token] for token in model.pair("red " * 50, "blue " * 50).ids[0]]
    assert words == ["[CLS]", "red", "red", "[SEP]", "blue", "blue", "blue", "[SEP]"]


def test_scores_come_in_the_order_of_the_texts(tmp_path: Path) -> None:
    write_cross_encoder(tmp_path)
    reranker = open_reranker(RerankerSettings(str(tmp_path), threads=2))
    assert isinstance(reranker, LocalReranker)
    assert reranker.endpoint == ""
    texts = ("green", "blue", "", "blue blue green", "green green green")
    alone = [reranker.rerank(RerankRequest("red", (text,)))[0] for text in texts]
    assert list(reranker.rerank(RerankRequest("red", texts))) == alone
    assert alone[3] == max(alone) == pytest.approx(6 / 7)
    assert reranker.rerank(RerankRequest("red", ())) == []
    reranker.close()


def test_two_classes_give_their_log_odds(tmp_path: Path) -> None:
    model = load_cross_encoder(write_cross_encoder(tmp_path, classes=2))
    assert model.score(model.pair("red", "blue")) == pytest.approx(1 / 5)


def test_the_identity_follows_the_files(tmp_path: Path) -> None:
    one = load_cross_encoder(write_cross_encoder(tmp_path / "m"))
    again = load_cross_encoder(tmp_path / "m", hub_id="org/m")
    other = load_cross_encoder(write_cross_encoder(tmp_path / "n", classes=2))
    assert one.identity.startswith("m@")
    assert again.identity == f"org/{one.identity}"
    assert one.identity.partition("@")[2] != other.identity.partition("@")[2]


def test_what_is_no_cross_encoder_is_said(tmp_path: Path) -> None:
    write_model(tmp_path / "embedder", TinyModel())
    with pytest.raises(ModelUnusableError, match="is no cross-encoder"):
        load_cross_encoder(tmp_path / "embedder")
    with pytest.raises(ModelUnusableError, match="cannot score"):
        load_cross_encoder(write_cross_encoder(tmp_path / "three", classes=3))
    with pytest.raises(ModelUnusableError, match="is not a directory"):
        load_cross_encoder(tmp_path / "none")
    broken = write_cross_encoder(tmp_path / "broken")
    (broken / "tokenizer.json").write_text("{")
    with pytest.raises(ModelUnusableError, match="not a tokenizer"):
        load_cross_encoder(broken)
