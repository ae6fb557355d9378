"""Packages whose names come from modules that are loaded late: every listed name is there, and no other."""

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
    seen = {
        name.name: node.module
        for node in ast.walk(ast.parse(Path(module.__file__).read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(f"{package}.")
        for name in node.names
    }
    assert sorted(seen) == sorted(module.__all__)
    assert set(dir(module)) >= set(seen)
    for name, place in seen.items():
        assert getattr(module, name) is getattr(importlib.import_module(place), name)
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'Chunky'"):
        _ = module.Chunky
    with pytest.raises(ImportError, match="cannot import name 'Chunky'"):
        exec(f"from {package} import Chunky")
