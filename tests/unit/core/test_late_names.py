"""Packages whose names come from modules that are loaded late: what type checkers see is there, and nothing else."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

PACKAGES = ("everfind_core.model", "everfind_gateway")


@pytest.mark.parametrize("package", PACKAGES)
def test_the_names_of_a_package_are_those_that_type_checkers_see(package: str) -> None:
    module = importlib.import_module(package)
    assert module.__file__ is not None
    stub = ast.parse(Path(module.__file__).with_suffix(".pyi").read_text("utf-8"))
    seen = {
        alias.asname: node.module for node in ast.walk(stub) if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert len(stub.body) == len(seen) == len(module.__all__)
    assert set(module.__all__) == set(seen)
    assert set(dir(module)) >= set(seen)
    for name, place in seen.items():
        assert name is not None
        assert place is not None
        assert getattr(module, name) is getattr(importlib.import_module(place), name)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_name_that_is_nowhere_is_refused_as_by_any_module(package: str) -> None:
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'Chunky'"):
        _ = importlib.import_module(package).Chunky
    with pytest.raises(ImportError, match="cannot import name 'Chunky'"):
        exec(f"from {package} import Chunky")
