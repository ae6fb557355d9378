"""Definitions in code, found by regular expressions per language: name, kind, and the text that names the scope.

Lines only, no syntax tree: enough to start chunks at definitions and to say what encloses a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

_MODIFIERS = (
    r"(?:(?:export|default|declare|pub(?:\([^()\n]*\))?|public|private|protected|internal|static|final|abstract|async"
    r"|unsafe|extern(?:[ \t]+\"[^\"\n]*\")?|const|override|virtual|inline|open|sealed|data|partial|suspend|local"
    r"|readonly|inner|companion|case|implicit|lazy|fileprivate|mutating|constexpr|typedef|annotation)[ \t]+){0,6}"
)

_KEYWORDS = {
    "python": "def|class",
    "javascript": r"function[ \t]*\*?|class",
    "typescript": r"function[ \t]*\*?|class|interface|enum|namespace|type",
    "go": "func|type",
    "rust": "fn|struct|enum|trait|impl|mod|union|macro_rules!|type",
    "java": "class|interface|enum|record|@interface",
    "kotlin": "fun|class|interface|object|typealias|enum class",
    "csharp": "class|interface|struct|enum|record|namespace|delegate",
    "c": "struct|enum|union",
    "cpp": "struct|class|enum(?: class)?|union|namespace",
    "ruby": "def|class|module",
    "php": "function|class|interface|trait|enum|namespace",
    "swift": "func|class|struct|enum|protocol|extension|actor",
    "scala": "def|class|object|trait|enum",
    "bash": "function",
    "lua": "function",
    "elixir": "defmodule|defmacro|defp?",
    "perl": "sub|package",
    "julia": "function|(?:mutable )?struct|module|macro",
    "dart": "class|enum|mixin|extension",
}
_KEYWORDS["tsx"] = _KEYWORDS["typescript"]
_KEYWORDS["jsx"] = _KEYWORDS["javascript"]
_ANY_KEYWORD = "def|class|function|func|fn|fun|struct|enum|interface|trait|impl|module|namespace|sub|macro"

_NOT_A_NAME = (
    r"(?!(?:if|for|while|switch|catch|return|else|do|new|throw|await|case|using|lock|synchronized|try|sizeof|typeof"
    r"|delete|yield|super|this|assert|goto|foreach|with|elif|defined|import|from|package)\b)"
)
_WORDS = r"(?:[\w$@<>\[\],.?*&:~]+[ \t]+)"
_ARGUMENTS = r"\([^;{}()\"'\n]{0,400}\)"
_TAIL = r"[^;(){}=\n]{0,100}"
_END = r"[ \t]{0,20}$"

_METHOD = (
    rf"^[ \t]*{_NOT_A_NAME}(?:{_WORDS}{{1,8}}{_NOT_A_NAME}(?P<typed>[\w$]+)[ \t]*{_ARGUMENTS}{_TAIL}\{{?"
    rf"|(?P<plain>[\w$#]+)[ \t]*{_ARGUMENTS}{_TAIL}\{{){_END}"
)
_C_FUNCTION = rf"^{_NOT_A_NAME}{_WORDS}{{1,8}}[*&]*(?P<typed>[\w$~:]+)[ \t]*\([^;\"'\n]*$"
_ARROW = (
    r"^[ \t]*(?:export[ \t]+)?(?:default[ \t]+)?(?:const|let|var)[ \t]+(?P<bound>[\w$]+)[^=\n]{0,200}=[ \t]*"
    r"(?:async[ \t]*)?(?:function\b|\([^()\n]*$|\([^()\n]*\)[^=\n]{0,200}=>|[\w$]+[ \t]*=>)"
)
_SHELL = r"^[ \t]*(?P<plain>[\w:.-]+)[ \t]*\(\)"
_SQL = (
    r"^[ \t]*create[ \t]+(?:or[ \t]+replace[ \t]+)?(?:temp(?:orary)?[ \t]+|unique[ \t]+|materialized[ \t]+)?"
    r"(?P<keyword>table|view|function|procedure|trigger|index|type|schema)[ \t]+(?:if[ \t]+not[ \t]+exists[ \t]+)?"
    r"(?P<name>[\w.\"`\[\]]+)"
)
_EXTRA = {
    "javascript": (_ARROW, _METHOD),
    "typescript": (_ARROW, _METHOD),
    "jsx": (_ARROW, _METHOD),
    "tsx": (_ARROW, _METHOD),
    "java": (_METHOD,),
    "csharp": (_METHOD,),
    "dart": (_METHOD,),
    "c": (_C_FUNCTION,),
    "cpp": (_C_FUNCTION,),
    "bash": (_SHELL,),
    "lua": (r"^[ \t]*(?:local[ \t]+)?(?P<bound>[\w.:]+)[ \t]*=[ \t]*function\b",),
}

_AFTER_NAME = {
    "python": r"(?:(?<=:)|(?=[ \t]*[(:\[\\]))",
    "c": r"(?=[ \t]*(?:\{|$))",
    "cpp": r"(?=[ \t]*(?:[{:<]|final\b|$))",
}
"""What tells a definition from a sentence or a declaration that starts with the same word."""

_KINDS = {
    **dict.fromkeys(("struct", "union", "mutable struct"), "struct"),
    **dict.fromkeys(("interface", "trait", "protocol", "@interface"), "interface"),
    **dict.fromkeys(("enum", "enum class"), "enum"),
    **dict.fromkeys(("type", "typealias"), "type"),
    **dict.fromkeys(("module", "mod", "namespace", "package", "defmodule", "schema"), "module"),
    **dict.fromkeys(("class", "impl", "object", "record", "extension", "actor", "mixin"), "class"),
    **dict.fromkeys(("table", "view", "index"), "table"),
}


@dataclass(frozen=True, slots=True)
class DefinitionLine:
    """A definition: offset of its line in the text, its name, its kind, and how its scope is called."""

    offset: int
    name: str
    kind: str
    scope: str


def find(text: str, language: str) -> Iterator[DefinitionLine]:
    """The definitions in ``text``, in order."""
    for match in _pattern(language).finditer(text):
        groups = match.groupdict()
        keyword = " ".join((groups.get("keyword") or "").split())
        name = next(groups[key] for key in ("name", "typed", "plain", "bound") if groups.get(key)).rstrip(":.")
        yield DefinitionLine(match.start(), name, _KINDS.get(keyword.lower(), "function"), f"{keyword} {name}".strip())


@cache
def _pattern(language: str) -> re.Pattern[str]:
    if language == "sql":
        return re.compile(_SQL, re.MULTILINE | re.IGNORECASE)
    keyword = (
        rf"^[ \t]*{_MODIFIERS}(?P<keyword>{_KEYWORDS.get(language, _ANY_KEYWORD)})(?:<[^\n{{]*?>)?[ \t]+"
        rf"(?:\([^()\n]*\)[ \t]*)?(?P<name>[\w$][\w$.:?!]*){_AFTER_NAME.get(language, '')}"
    )
    alternatives = (keyword, *_EXTRA.get(language, ()))
    return re.compile("|".join(f"(?:{pattern})" for pattern in alternatives), re.MULTILINE)
