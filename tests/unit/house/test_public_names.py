"""The Python API speaks of nothing but the model, errors and Python's own types: no engine, message or array shows."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, get_args, get_origin, get_type_hints

import pytest

import everfind_gateway
from everfind_core.cancellation import Cancellation
from everfind_gateway import async_corpus, corpus

ROOMS = ("everfind_core.", "everfind_gateway.")
PYTHON = ("builtins", "typing", "types", "collections.abc", "pathlib")


def public(api: object) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The function itself, or the methods that a class has for its callers."""
    if inspect.isfunction(api):
        yield api.__name__, api
        return
    for name, method in inspect.getmembers(api, inspect.isfunction):
        if not name.startswith("_"):
            yield name, method


def named(kind: Any) -> Iterator[str]:
    """The modules of all types in an annotation."""
    for inner in get_args(kind):
        yield from named(inner)
    origin = get_origin(kind)
    if isinstance(origin or kind, type):
        yield (origin or kind).__module__


@pytest.mark.parametrize("name", vars(everfind_gateway)["__all__"])
def test_signatures_name_the_model_and_plain_types(name: str) -> None:
    functions = dict(public(getattr(everfind_gateway, name)))
    assert functions
    scope = {**vars(corpus), **vars(async_corpus), "Cancellation": Cancellation}
    for function, call in functions.items():
        hints = get_type_hints(inspect.unwrap(call), scope)
        modules = {module for kind in hints.values() for module in named(kind)}
        foreign = {module for module in modules if not module.startswith(ROOMS) and module not in PYTHON}
        assert foreign == set(), function
