"""The front of everfind: settings, command line, the one-process mode, and the Python API (docs/python.md)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from everfind_gateway.async_corpus import AsyncCorpus, open_async_corpus
    from everfind_gateway.corpus import Corpus, open_corpus

__all__ = ["AsyncCorpus", "Corpus", "open_async_corpus", "open_corpus"]

_MODULES = {
    "AsyncCorpus": "async_corpus",
    "Corpus": "corpus",
    "open_async_corpus": "async_corpus",
    "open_corpus": "corpus",
}


def __getattr__(name: str) -> object:
    """The Python API, loaded when it is used: neither commands nor a team's proxy wait for it or need it."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
