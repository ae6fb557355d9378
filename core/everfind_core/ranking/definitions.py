"""Whether a text defines a name: one look for any of the usual languages, cheap enough for hundreds of chunks.

A chunk's own symbol says what it starts with; this finds what else is defined in it, constants and fields included.
"""

from __future__ import annotations

import re
from functools import lru_cache

_KEYWORDS = (
    r"def|class|func|fn|fun|function|sub|struct|enum|union|interface|trait|protocol|extension|impl|object|record|actor"
    r"|(?<!import )type|typealias|typedef|module|mod|namespace|package|macro_rules!|\#[ \t]*define|const|let|var|val"
)
_NO_HEAD = r"(?:return|await|new|throw|raise|yield|else|case|assert|if|elif|while|for|in|not|go|defer|import|from|do)\b"
_HEAD = rf"(?!{_NO_HEAD})(?:[\w<>\[\],.?*&:@$]+[ \t]+)"
_METHOD_HEAD = r"(?:(?:async|static|get|set|public|private|protected|override|export|default)[ \t]+){0,4}[#*]?"

_GENERIC = r"(?:<[^\n()]*>)?"

_OUTRIGHT = 1.0
_ASSIGNED = 0.7
"""An assignment or a field: it may also be a keyword argument or an entry of a mapping."""


def defines(text: str, name: str) -> float:
    """1 if ``text`` defines ``name`` as a function, type or the like, 0.7 if it assigns or declares it, else 0."""
    if name not in text:
        return 0.0
    lines = "\n".join([line for line in text.split("\n") if name in line])  # no pattern reaches over a line's end
    outright, assigned = _patterns(name)
    if outright.search(lines):
        return _OUTRIGHT
    return _ASSIGNED if assigned.search(lines) else 0.0


@lru_cache(maxsize=256)
def _patterns(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    escaped = rf"(?<![\w$]){re.escape(name)}(?![\w$])"
    outright = (
        rf"(?:^|(?<=[\s(;{{]))(?:{_KEYWORDS}){_GENERIC}[ \t*]+(?:mut[ \t]+)?(?:\([^()\n]*\)[ \t]*)?{_GENERIC}[ \t]*"
        rf"(?:[\w$]+(?:\.|::))*{escaped}(?![ \t]*[,}}])"
        rf"|^[ \t]*{_HEAD}{{1,6}}[*&]?(?:\w+::)*{escaped}[ \t]*\([^;\n]*$"
        rf"|^[ \t]*{_METHOD_HEAD}{escaped}[ \t]*{_GENERIC}\([^;\n]*\{{[ \t]*$"
    )
    assigned = (
        rf"^[ \t]*{_HEAD}{{0,6}}{escaped}[ \t]*(?::[^=\n]{{1,80}})?=(?![=>])|^[ \t]*[\"']?{escaped}[\"']?\??:(?![:=])"
    )
    return re.compile(outright, re.MULTILINE), re.compile(assigned, re.MULTILINE)
