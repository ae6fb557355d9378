"""Org lines: headlines by stars, blocks and drawers whole, lists and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from everfind_core.chunking.headed import Heading, Places, headed, is_blank
from everfind_core.chunking.structure import BLANK, Structure, column_of

_PARAGRAPH = 60
_ITEM = 45
_BLOCK = 40
_KEYWORD = 30
_INSIDE_AFTER_BLANK = 15
_LINE = 10
_INSIDE = 6
_ROW = 4
_DEEPEST = 20

_ANY_HEADLINE = "*"
_HEADLINE = re.compile(r"(\*+)[ \t]+(\S.*)$")
_STATE = re.compile(r"(?:TODO|DONE|NEXT|WAITING|HOLD|CANCELED|CANCELLED|STARTED|SOMEDAY)[ \t]+")
_PRIORITY = re.compile(r"\[#\w\][ \t]+")
_TAGS = re.compile(r"[ \t]+:[\w@#%:]+:[ \t]*$")
_BEGIN = re.compile(r"\s*#\+begin_(\w+)", re.IGNORECASE)
_DRAWER = re.compile(r"\s*:([\w-]+):\s*$")
_ITEM_START = re.compile(r"\s*(?:[-+]|\d{1,3}[.)])\s|\s+\*\s")


def analyse(lines: Sequence[str]) -> Structure:
    """The structure of Org ``lines``."""
    headings = [
        Heading(number, number, len(match[1]), _title(match[2]))
        for number, line in enumerate(lines)
        if (match := _HEADLINE.match(line))
    ]
    return headed(_strengths(lines), headings)


def _title(text: str) -> str:
    """A headline without its state, priority and tags."""
    return _TAGS.sub("", _PRIORITY.sub("", _STATE.sub("", text, count=1), count=1)).strip()


def _strengths(lines: Sequence[str]) -> list[int]:
    strengths = [BLANK] * len(lines)
    ends = Places(_ends(lines))
    after_blank = True
    beyond = 0  # first line after the block or drawer that is open
    for number, line in enumerate(lines):
        if is_blank(line):
            after_blank = True
            continue
        if number < beyond:
            strengths[number] = 1 if number == beyond - 1 else (_INSIDE_AFTER_BLANK if after_blank else _INSIDE)
        else:
            strengths[number] = _strength(line, after_blank=after_blank)
            beyond = _block_end(lines, ends, number)
        after_blank = False
    return strengths


def _strength(line: str, *, after_blank: bool) -> int:
    if line.lstrip().startswith("|"):
        return _BLOCK if after_blank else _ROW
    if _ITEM_START.match(line):
        return _ITEM - min(column_of(line), _DEEPEST)
    if after_blank:
        return _PARAGRAPH - min(column_of(line), _DEEPEST)
    if line.lstrip().startswith("#+"):
        return _KEYWORD
    return _LINE


def _block_end(lines: Sequence[str], ends: Places, number: int) -> int:
    """The line after the block or drawer that starts at ``number``; 0 if there is none, or no end before a headline."""
    begin, drawer = _BEGIN.match(lines[number]), _DRAWER.match(lines[number])
    if not (begin or drawer):
        return 0
    end = ends.after(number, f"#+end_{begin[1].lower()}" if begin else ":end:")
    headline = ends.after(number, _ANY_HEADLINE)
    return end + 1 if end and not 0 < headline < end else 0


def _ends(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(lines):
        if _HEADLINE.match(line):
            yield number, _ANY_HEADLINE
        elif (text := line.strip().lower()).startswith(("#+end_", ":end:")):
            yield number, text
