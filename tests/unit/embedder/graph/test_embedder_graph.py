from __future__ import annotations

import json

import pytest

from everfind_embedder.loading.packaged import DATA_DIRECTORY, WEIGHTS_SHA256, weights_path

pytest.importorskip("onnx")

from everfind_embedder.graph.build import build_artefacts
from everfind_embedder.graph.minilm import build_minilm
from everfind_embedder.graph.weights import read_bert


def test_rebuilding_gives_the_committed_bytes() -> None:
    for name, content in build_artefacts().items():
        assert content == (DATA_DIRECTORY / name).read_bytes(), name


def test_the_graph_is_valid_and_has_no_mask() -> None:
    onnx = pytest.importorskip("onnx")
    model = build_minilm(read_bert(weights_path()))
    onnx.checker.check_model(model)
    assert [value.name for value in model.graph.input] == ["input_ids"]
    assert [value.name for value in model.graph.output] == ["sentence_embedding"]


def test_the_skeleton_is_small_and_made_for_these_weights() -> None:
    recipes = json.loads((DATA_DIRECTORY / "recipes.json").read_text())
    assert recipes["weights_sha256"] == WEIGHTS_SHA256
    assert len(recipes["tensors"]) == 3 + 6 * 4
    assert (DATA_DIRECTORY / "skeleton.onnx").stat().st_size < 300_000
