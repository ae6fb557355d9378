"""Names of a package whose modules are loaded when one of them is used (PEP 562): nobody waits for the others."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import NamedTuple


class LateNames(NamedTuple):
    """What a module must define to give names that it does not hold yet."""

    getattr: Callable[[str], object]
    dir: Callable[[], list[str]]
    all: tuple[str, ...]


def late_names(package: str, file: str) -> LateNames:
    """``__getattr__``, ``__dir__`` and ``__all__`` of ``package``, whose ``__init__`` is ``file``.

    The names are those that the stub beside it imports (``__init__.pyi``): what type checkers read is what there is
    (Scientific Python's SPEC 1). ``__getattr__`` raises AttributeError for any other.
    """
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text("utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    places = {alias.name: str(node.module) for node in imports for alias in node.names}

    def find(name: str) -> object:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(places[name]), name)
        setattr(sys.modules[package], name, found)  # the next one finds it at once
        return found

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *places})

    return LateNames(find, names, tuple(places))
