from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from everfind_core.errors import ConfigError, ModelUnusableError
from everfind_core.model import InputKind, ModelSource, Vectors
from everfind_embedder import EmbedderSettings, open_embedder
from everfind_embedder.loading.directory import load_directory

pytest.importorskip("onnx")

from tests.unit.embedder.tiny_model import WORDS, tiny_table

Write = Callable[..., Path]
Model = dict[str, Any]
PROMPTS = {"config_sentence_transformers.json": {"prompts": {"query": "query: ", "passage": "passage: "}}}


def expected(*words: str, pooling: str = "mean") -> Vectors:
    table = tiny_table()[[WORDS.index(word) for word in words]]
    vector = {"mean": table.mean(axis=0), "cls": table[0], "last": table[-1]}[pooling]
    unit: Vectors = vector / np.linalg.norm(vector)
    return unit


def embed(directory: Path, text: str, kind: InputKind = InputKind.DOCUMENT) -> Vectors:
    vectors: Vectors = open_embedder(EmbedderSettings(model=str(directory), threads=1)).embed([text], kind)[0]
    return vectors


@pytest.mark.parametrize(
    "model",
    [
        {},
        {"graph": "model.onnx"},
        {"external_data": True},
        {"inputs": ("input_ids",)},
        {"inputs": ("input_ids", "attention_mask", "position_ids")},
        {"output": "token_embeddings"},
        {"output": "sentence_embedding"},
        {"output": "sentence_embedding", "modules": ("Transformer", "Pooling", "Dense", "Normalize")},
        {"modules": ()},
    ],
)
def test_every_form_of_export_gives_the_mean(tiny_model: Write, model: Model) -> None:
    vector = embed(tiny_model(**model), "red blue")
    np.testing.assert_allclose(vector, expected("[CLS]", "red", "blue", "[SEP]"), atol=1e-6)


@pytest.mark.parametrize(
    ("config", "pooling"),
    [
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls"),
        ({"pooling_mode_lasttoken": True}, "last"),
        ({"pooling_mode_mean_sqrt_len_tokens": True}, "mean"),
        ({"pooling_mode": "cls"}, "cls"),
        ({"pooling_mode": "lasttoken"}, "last"),
    ],
)
def test_poolings(tiny_model: Write, config: dict[str, Any], pooling: str) -> None:
    directory = tiny_model(pooling=config)
    np.testing.assert_allclose(
        embed(directory, "red blue"), expected("[CLS]", "red", "blue", "[SEP]", pooling=pooling), atol=1e-6
    )
    assert load_directory(directory).info.pooling == pooling


def test_identity(tiny_model: Write) -> None:
    info = load_directory(tiny_model(files=PROMPTS)).info
    assert (info.id, info.dimensions, info.max_tokens, info.special_tokens) == ("tiny", 4, 8, 2)
    assert (info.document_prefix, info.query_prefix, info.document_prefix_tokens) == ("passage: ", "query: ", 2)
    assert (info.text_budget, info.source, info.variant) == (4, ModelSource.DIRECTORY, "onnx")


def test_prefixes_that_a_known_model_does_not_state_are_those_known_of_it(tiny_model: Write, tmp_path: Path) -> None:
    unnamed = tiny_model()
    assert (load_directory(unnamed).info.query_prefix, load_directory(unnamed).info.document_prefix) == ("", "")
    known = unnamed.rename(tmp_path / "E5-small-v2")
    info = load_directory(known).info
    assert (info.query_prefix, info.document_prefix, info.document_prefix_tokens) == ("query: ", "passage: ", 2)
    query = embed(known, "red", InputKind.QUERY)
    np.testing.assert_allclose(query, expected("[CLS]", "query", ":", "red", "[SEP]"), atol=1e-6)
    own = {"config_sentence_transformers.json": {"prompts": {"query": "a ", "passage": "test "}}}
    info = load_directory(tiny_model(files=own).replace(tmp_path / "e5-base-v2")).info
    assert (info.query_prefix, info.document_prefix) == ("a ", "test ")


def test_prefixes(tiny_model: Write) -> None:
    directory = tiny_model(files=PROMPTS)
    query, document = embed(directory, "red", InputKind.QUERY), embed(directory, "red")
    np.testing.assert_allclose(query, expected("[CLS]", "query", ":", "red", "[SEP]"), atol=1e-6)
    np.testing.assert_allclose(document, expected("[CLS]", "passage", ":", "red", "[SEP]"), atol=1e-6)
    engine = open_embedder(EmbedderSettings(model=str(directory)))
    tokens = engine.embed_tokens([engine.tokenizer().encode("red").ids])[0]
    np.testing.assert_allclose(tokens, document, atol=1e-6)


def test_the_window_is_the_models(tiny_model: Write) -> None:
    vector = embed(tiny_model(), "red " * 6 + "blue")
    np.testing.assert_allclose(vector, expected("[CLS]", *["red"] * 6, "[SEP]"), atol=1e-6)


@pytest.mark.parametrize(
    ("files", "window"),
    [
        ({"sentence_bert_config.json": {"max_seq_length": 8}, "config.json": {"max_position_embeddings": 6}}, 6),
        ({"sentence_bert_config.json": {}, "tokenizer_config.json": {"model_max_length": 128}}, 128),
        ({"sentence_bert_config.json": {}, "tokenizer_config.json": {"model_max_length": 1e30}}, 512),
        (
            {
                "sentence_bert_config.json": {"max_seq_length": None},
                "config.json": {"max_position_embeddings": 514, "model_type": "xlm-roberta"},
            },
            512,
        ),
    ],
)
def test_where_the_window_is_written(tiny_model: Write, files: dict[str, Any], window: int) -> None:
    assert load_directory(tiny_model(files=files)).info.max_tokens == window


def test_a_batch_scaled_model_still_gives_the_same_vector_in_any_batch(tiny_model: Write) -> None:
    directory = tiny_model(dynamic_scale=True)
    assert load_directory(directory).run_tokens == 1
    engine = open_embedder(EmbedderSettings(model=str(directory)))
    texts = ["red", "green", "blue", "query"]
    together = engine.embed(texts, InputKind.DOCUMENT)
    alone = np.concatenate([engine.embed([text], InputKind.DOCUMENT) for text in texts])
    np.testing.assert_array_equal(together, alone)


def test_the_revision_follows_what_matters_and_not_the_place(tiny_model: Write, tmp_path: Path) -> None:
    directory = tiny_model(external_data=True)
    before = load_directory(directory).info.revision
    (directory / "README.md").write_text("new")
    shutil.copytree(directory, tmp_path / "copy")
    assert load_directory(directory).info.revision == load_directory(tmp_path / "copy").info.revision == before
    data = directory / "onnx/model.onnx_data"
    data.write_bytes(bytes(4) + data.read_bytes()[4:])
    assert load_directory(directory).info.revision != before
    (directory / "sentence_bert_config.json").write_text('{"max_seq_length": 7}')
    assert len({before, load_directory(directory).info.revision, load_directory(tmp_path / "copy").info.revision}) == 2


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ({"flat": True}, r"cannot embed a text: its output has the shape \(2, 4\)"),
        ({"output": "logits"}, "none of the outputs sentence_embedding, last_hidden_state, token_embeddings"),
        ({"inputs": ("input_ids", "pixel_values")}, "asks for pixel_values"),
        ({"modules": ("Transformer", "Pooling", "Dense")}, "needs its modules Dense"),
        ({"pooling": {"pooling_mode_max_tokens": True}}, "pooling that everfind does not have"),
        (
            {"pooling": {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True}},
            "pooling that everfind does not have: mean_tokens, cls_token",
        ),
        ({"files": {"modules.json": "{"}}, r"modules\.json cannot be read"),
        ({"files": {"modules.json": {}}}, r"modules\.json does not have the form"),
        ({"files": {"modules.json": [{"type": "Pooling", "path": "../x"}]}}, "points outside the model"),
        ({"files": {"tokenizer.json": "{}"}}, "is not a tokenizer"),
        ({"files": {"onnx/model.onnx": "not a model at all"}}, "ONNX"),
        ({"files": {"onnx/model.onnx": ""}}, "not a readable ONNX file"),
        ({"files": {"sentence_bert_config.json": {"max_seq_length": 2}}}, "leaves none for a text"),
    ],
)
def test_an_unusable_model_is_one_good_sentence(tiny_model: Write, model: Model, message: str) -> None:
    directory = tiny_model(**model)
    with pytest.raises(ModelUnusableError, match=message) as caught:
        load_directory(directory)
    assert caught.value.hint
    assert "\n" not in caught.value.message


def test_a_file_that_the_system_refuses_is_told_in_words(tiny_model: Write) -> None:
    directory = tiny_model()
    (directory / "config_sentence_transformers.json").mkdir()
    with pytest.raises(ModelUnusableError, match=r"config_sentence_transformers\.json cannot be read: Is a directory$"):
        load_directory(directory)


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("onnx/model.onnx", "has no onnx/model.onnx and no model.onnx"),
        ("tokenizer.json", "has no tokenizer.json"),
        ("onnx/model.onnx_data", "model.onnx"),
    ],
)
def test_a_missing_file_is_named(tiny_model: Write, missing: str, message: str) -> None:
    directory = tiny_model(external_data=True)
    (directory / missing).unlink()
    with pytest.raises(ModelUnusableError, match=message):
        load_directory(directory)


def test_nobodys_home() -> None:
    with pytest.raises(ConfigError, match="home directory of nobody"):
        open_embedder(EmbedderSettings(model="~no-such-user/model")).model()


def test_no_directory(tmp_path: Path) -> None:
    with pytest.raises(ModelUnusableError, match="is not a directory"):
        open_embedder(EmbedderSettings(model=str(tmp_path / "absent"))).model()
