from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfind_core.errors import ModelUnusableError
from everfind_embedder.loading.onnx_file import OnnxFile
from everfind_embedder.loading.packaged import weights_path


def test_every_tensor_equals_what_the_onnx_library_reads() -> None:
    onnx = pytest.importorskip("onnx")
    graph = onnx.load(weights_path()).graph
    ours = OnnxFile(weights_path())
    assert set(ours.tensors) == {tensor.name for tensor in graph.initializer}
    for tensor in graph.initializer:
        if tensor.data_type in (1, 3, 7):
            np.testing.assert_array_equal(ours.array(tensor.name), onnx.numpy_helper.to_array(tensor))
    assert ours.operators == {node.op_type for node in graph.node}


def test_an_absent_tensor_is_an_error_that_names_it() -> None:
    with pytest.raises(ModelUnusableError, match="no tensor 'nonesuch'"):
        OnnxFile(weights_path()).array("nonesuch")


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    file = tmp_path_factory.mktemp("onnx") / "model.onnx"
    file.write_bytes(content)
    with contextlib.suppress(ModelUnusableError):
        OnnxFile(file)


def test_what_the_system_refuses_is_told_in_words(tmp_path: Path) -> None:
    with pytest.raises(ModelUnusableError, match=r"is not a readable ONNX file: Is a directory$"):
        OnnxFile(tmp_path)


def test_a_truncated_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    file.write_bytes(weights_path().read_bytes()[:1_000_000])
    with pytest.raises(ModelUnusableError, match="not a readable ONNX file"):
        OnnxFile(file)
