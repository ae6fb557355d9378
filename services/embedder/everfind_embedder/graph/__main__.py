"""Writes ``data/skeleton.onnx`` and ``data/recipes.json`` again from the installed weights' package."""

from __future__ import annotations

from everfind_embedder.graph.build import build_artefacts
from everfind_embedder.loading.packaged import DATA_DIRECTORY

if __name__ == "__main__":
    for name, content in build_artefacts().items():
        (DATA_DIRECTORY / name).write_bytes(content)
