"""Names of a package whose modules are loaded when one of them is used (PEP 562): nobody waits for the others."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def late_names(package: str, modules: Mapping[str, str]) -> Callable[[str], object]:
    """``__getattr__`` of ``package``: ``modules`` has its modules, each with the names that it gives, by blanks.

    Raises:
        AttributeError: no module gives the name, when the function is called with it.
    """
    places = {name: module for module, names in modules.items() for name in names.split()}

    def find(name: str) -> object:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(f"{package}.{places[name]}"), name)
        setattr(sys.modules[package], name, found)  # the next one finds it at once
        return found

    return find
