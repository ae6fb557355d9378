"""Configuration and data lines: sections in brackets, keys by indentation, one line a record."""

from __future__ import annotations

import re
from collections.abc import Sequence

from everfind_core.chunking.structure import BLANK, MAX_STRENGTH, STRUCTURAL, Label, Outline, Structure, column_of

_SECTION = re.compile(r"\[\[?([^\[\]]{1,100})\]\]?\s*(?:[#;].*)?$")
_KEY = re.compile(r"""(?:-\s)?["']?([\w./@$ -]{1,80})["']?$""")
_OPENS = (":", "{", "[")
_CLOSERS = ")]}"
_COMMENTS = ("#", ";", "//")

_LONGEST_KEY = 90

_TOP_LEVEL = STRUCTURAL + 10
_NESTED = 60
_AFTER_COMMENT = 2
_CLOSING = 1


def analyse(lines: Sequence[str]) -> Structure:
    """The structure of configuration or data ``lines``."""
    outline = Outline()
    strengths: list[int] = []
    after_blank, comment = True, -1
    for number, line in enumerate(lines):
        text = line.strip()
        if not text:
            strengths.append(BLANK)
            after_blank, comment = True, -1
            continue
        column = column_of(line)
        section = _SECTION.match(text) if column == 0 else None
        if section:
            outline.open(comment if comment >= 0 else number, number, Label(-1, section.group(1).strip()))
        elif text.endswith(_OPENS) and text[0] not in _CLOSERS:
            _open_key(outline, number, column, text)
        strength = _strength(text, column, after_blank=after_blank, section=bool(section))
        if comment >= 0:
            strengths[comment] = max(strengths[comment], strength)
            strength = _AFTER_COMMENT
        strengths.append(strength)
        if not text.startswith(_COMMENTS):
            comment = -1
        elif comment < 0:
            comment = number
        after_blank = False
    return outline.structure(strengths, by_column=True)


def _open_key(outline: Outline, number: int, column: int, text: str) -> None:
    key = _KEY.match(text.rstrip("[{").rstrip().rstrip(":=").rstrip()[:_LONGEST_KEY])
    outline.open(number, number, Label(column, key.group(1).strip() if key else ""))


def _strength(text: str, column: int, *, after_blank: bool, section: bool) -> int:
    if section:
        return MAX_STRENGTH
    if text[0] in _CLOSERS:
        return _CLOSING
    if column == 0:
        return _TOP_LEVEL + after_blank
    return _NESTED - 2 * min(column, 25) + after_blank
