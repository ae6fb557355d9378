"""What a request for related chunks must satisfy, and what its symbol says."""

from __future__ import annotations

import re
from dataclasses import dataclass

from everfind_core.callgraph.symbols import is_name
from everfind_core.errors import FolderNotFoundError, InvalidRequestError
from everfind_core.index.directory import IndexCoverage
from everfind_core.model import RelatedRequest, Relation
from everfind_searcher.asking.checks import check_filters, check_limit, is_text

MAX_SYMBOL_CHARACTERS = 1_000

_HINT = "Such as `refresh`, `Session.refresh` or `src/session.py:42`."
_SEPARATORS = re.compile(r"::|->|[.#/\\]")
FOLLOWED = (Relation.CALLER, Relation.CALLEE, Relation.REFERENCE, Relation.SIMILAR)
"""The relations that can be asked for, in the order of the answer."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name, and the names before it, outermost first: types, modules, directories."""

    name: str
    qualifiers: tuple[str, ...] = ()


def read_symbol(text: str) -> Symbol:
    """``pkg.Session.refresh``, ``Session::refresh``, ``Session#refresh`` and ``refresh()`` as names.

    Raises:
        InvalidRequestError: there is no name in it.
    """
    names = [name for name in _SEPARATORS.split(text.strip().removesuffix("()")) if name]
    if not names or not all(map(is_name, names)):
        raise InvalidRequestError.of("symbol", f"{text[:80]!r} is no name", hint=_HINT)
    return Symbol(names[-1], tuple(names[:-1]))


def check_related(request: RelatedRequest) -> None:
    """Raise InvalidRequestError for the first field that is out of range."""
    if bool(request.symbol) == bool(request.path):
        raise InvalidRequestError.of("symbol", "name either a symbol or a place, and not both", hint=_HINT)
    if request.symbol:
        _check_symbol(request)
    else:
        _check_place(request)
    if Relation.SUCCESSOR in request.relations:
        raise InvalidRequestError.of("relations", "successors of documents come with a search, not from here")
    check_limit(request.limit)
    check_filters(request.filters)


def check_folder(name: str, coverage: IndexCoverage) -> None:
    """Raise FolderNotFoundError for the folder of a request that the index does not have."""
    known = sorted(one.folder.name for one in coverage.folders)
    if name and name not in known:
        raise FolderNotFoundError(
            f"no folder is called {name!r}; there are {', '.join(known) or 'none'}", hint="See `everfind list`."
        )


def _check_symbol(request: RelatedRequest) -> None:
    if not is_text(request.symbol) or len(request.symbol) > MAX_SYMBOL_CHARACTERS:
        raise InvalidRequestError.of("symbol", f"it is longer than {MAX_SYMBOL_CHARACTERS:,} characters, or no text")
    if request.line:
        raise InvalidRequestError.of("line", "a symbol has no line; give the path for a place")
    read_symbol(request.symbol)


def _check_place(request: RelatedRequest) -> None:
    if not request.folder:
        raise InvalidRequestError.of("folder", "a place needs the name of its folder")
    for name in ("folder", "path"):
        if not is_text(getattr(request, name)):
            raise InvalidRequestError.of(name, "it holds a lone surrogate, which is no text")
    if request.line < 1:
        raise InvalidRequestError.of("line", f"{request.line} is no line; they count from 1")
