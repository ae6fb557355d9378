"""The grammars that come with the install, and the query of each language."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module, resources
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Language, Query


class Grammar(NamedTuple):
    """How to parse a language, and the query that finds its definitions and borders."""

    language: Language
    query: Query


class _Entry(NamedTuple):
    """Where a grammar is, and the query files whose patterns hold for it."""

    module: str
    function: str = "language"
    queries: tuple[str, ...] = ()


_TYPESCRIPT = ("typescript", "ecmascript.calls", "typescript.calls")

_GRAMMARS = {
    "python": _Entry("tree_sitter_python", queries=("python", "python.calls")),
    "javascript": _Entry(
        "tree_sitter_javascript", queries=("javascript", "ecmascript.calls", "javascript.calls", "jsx.calls")
    ),
    "typescript": _Entry("tree_sitter_typescript", "language_typescript", _TYPESCRIPT),
    "tsx": _Entry("tree_sitter_typescript", "language_tsx", (*_TYPESCRIPT, "tsx", "jsx.calls")),
    "go": _Entry("tree_sitter_go", queries=("go", "go.calls")),
    "rust": _Entry("tree_sitter_rust", queries=("rust", "rust.calls")),
    "java": _Entry("tree_sitter_java", queries=("java", "java.calls")),
    "kotlin": _Entry("tree_sitter_kotlin", queries=("kotlin", "kotlin.calls")),
    "c": _Entry("tree_sitter_c", queries=("c", "c.calls")),
    "cpp": _Entry("tree_sitter_cpp", queries=("cpp", "c.calls", "cpp.calls")),
    "csharp": _Entry("tree_sitter_c_sharp", queries=("csharp", "csharp.calls")),
    "ruby": _Entry("tree_sitter_ruby", queries=("ruby", "ruby.calls")),
    "php": _Entry("tree_sitter_php", "language_php", ("php", "php.calls")),
    "swift": _Entry("tree_sitter_swift", queries=("swift", "swift.calls")),
    "scala": _Entry("tree_sitter_scala", queries=("scala", "scala.calls")),
    "bash": _Entry("tree_sitter_bash", queries=("bash", "bash.calls")),
    "lua": _Entry("tree_sitter_lua", queries=("lua", "lua.calls")),
    "sql": _Entry("tree_sitter_sql", queries=("sql", "sql.calls")),
}

_EVERYWHERE = "(ERROR) @error (ERROR (_) @item)"

LANGUAGES = frozenset(_GRAMMARS)
"""The languages that have a grammar."""

_ONLY_CPP = re.compile(r"^[ \t]*(?:class|namespace|template|public:|private:|protected:|using )\b", re.MULTILINE)


def dialect(language: str, text: str) -> str:
    """The language whose grammar reads ``text`` best: many headers that are C by name are C++."""
    return "cpp" if language == "c" and _ONLY_CPP.search(text) else language


def source_of(language: str) -> tuple[str, str]:
    """The module of a language's grammar, and its function that gives it."""
    entry = _GRAMMARS[language]
    return entry.module, entry.function


@cache
def grammar(language: str) -> Grammar:
    """The grammar of one of :data:`LANGUAGES`; loads at first use."""
    from tree_sitter import Language, Query

    module, function = source_of(language)
    loaded = Language(getattr(import_module(module), function)())
    folder = resources.files("everfind_indexer.syntax") / "queries"
    patterns = [(folder / f"{name}.scm").read_text("utf-8") for name in _GRAMMARS[language].queries]
    return Grammar(loaded, Query(loaded, "\n".join([*patterns, _EVERYWHERE])))
