"""Models to test with: the real default one, loaded once, and tiny ones that tests describe."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from everfind_embedder.engine import OnnxEmbedder
from everfind_embedder.loading.packaged import load_packaged

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def embedder() -> Iterator[OnnxEmbedder]:
    """The default model with two threads."""
    engine = OnnxEmbedder(load_packaged, threads=2)
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def reference_texts() -> list[str]:
    texts: list[str] = json.loads((HERE / "reference_texts.json").read_text())
    return texts


@pytest.fixture
def tiny_model(tmp_path: Path) -> Callable[..., Path]:
    """Writes a ``TinyModel`` with the given fields into ``tmp_path/tiny`` and returns that directory."""
    pytest.importorskip("onnx")
    tiny = pytest.importorskip("tests.unit.embedder.tiny_model")

    def write(**fields: object) -> Path:
        tiny.write_model(tmp_path / "tiny", tiny.TinyModel(**fields))
        return tmp_path / "tiny"

    return write
