"""AsciiDoc lines: section titles (``==`` and underlined), delimited blocks and tables whole, attributes with theirs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from everfind_core.chunking.headed import Heading, Rows, headed, is_blank
from everfind_core.chunking.structure import BLANK, Structure, column_of

_PARAGRAPH = 60
_ITEM = 45
_BLOCK = 50
_INSIDE_AFTER_BLANK = 15
_LINE = 10
_INSIDE = 6
_ROW = 4
_DEEPEST = 20

_TITLE = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*?)(?:[ \t]+\1)?[ \t]*$")
_UNDERLINE = re.compile(r"([-=~^+])\1+[ \t]*$")
_UNDERLINE_LEVELS = {"=": 1, "-": 2, "~": 3, "^": 4, "+": 5}
_DELIMITER = re.compile(r"(?:([-.=*_+/])\1{3,}|--|[|,:!]={3,}|`{3,})[ \t]*$")
_FENCE = re.compile(r"(```+)[\w+-]+[ \t]*$")
_ATTRIBUTE = re.compile(r"\[[^\]]*\][ \t]*$|\.[^\s.].*$|\[\[.+\]\][ \t]*$|//(?!/)")
_ITEM_START = re.compile(r"\s*(?:[-*.]{1,5}|\d{1,3}\.|<\d+>|<\.>)\s|\s*\S.*(?:::|;;)(?:\s|$)")


def analyse(lines: Sequence[str]) -> Structure:
    """The structure of AsciiDoc ``lines``."""
    strengths = [BLANK] * len(lines)
    headings: list[Heading] = []
    tables: list[Rows] = []
    after_blank = True
    number = 0
    while number < len(lines):
        line = lines[number]
        if is_blank(line):
            after_blank = True
            number += 1
            continue
        heading = _heading_at(lines, number, starts=after_blank or _is_attribute(lines[number - 1]))
        if heading is not None:
            headings.append(heading)
            strengths[number : heading.last + 1] = [_LINE] * (heading.last + 1 - number)
            number, after_blank = heading.last + 1, True
            continue
        strengths[number] = _strength(lines, number, after_blank=after_blank)
        beyond = _block_end(lines, number)
        if beyond > number:
            _inside(lines, strengths, number, beyond)
            if line.startswith("|="):
                tables += _header(lines, number, beyond)
            number, after_blank = beyond, True
            continue
        after_blank = False
        number += 1
    return headed(strengths, headings, tables)


def _heading_at(lines: Sequence[str], number: int, *, starts: bool) -> Heading | None:
    """The section title in line ``number``, attributes above it included; ``starts``: a block may start there."""
    if not starts:
        return None
    first = number
    while first and _is_attribute(lines[first - 1]):
        first -= 1
    if match := _TITLE.match(lines[number]):
        return Heading(first, number, len(match[1]), match[2])
    if number + 1 >= len(lines) or lines[number][0].isspace() or _is_attribute(lines[number]):
        return None
    title, under = lines[number].rstrip(), _UNDERLINE.match(lines[number + 1])
    if under and abs(len(under[0].rstrip()) - len(title)) <= 1 and any(c.isalnum() for c in title):
        return Heading(first, number + 1, _UNDERLINE_LEVELS[under[1]], title)
    return None


def _is_attribute(line: str) -> bool:
    """An attribute list, anchor, block title or comment: it belongs to the block below."""
    return bool(_ATTRIBUTE.match(line))


def _strength(lines: Sequence[str], number: int, *, after_blank: bool) -> int:
    line = lines[number]
    if number and _is_attribute(lines[number - 1]):
        return _LINE
    if _DELIMITER.match(line) or _is_attribute(line):
        return _BLOCK
    if _ITEM_START.match(line):
        return _ITEM - min(column_of(line), _DEEPEST)
    return _PARAGRAPH if after_blank else _LINE


def _block_end(lines: Sequence[str], number: int) -> int:
    """The line after the delimited block that starts at ``number``; 0 if none does, or if it is never closed."""
    fence = _FENCE.match(lines[number])
    if not fence and not _DELIMITER.match(lines[number]):
        return 0
    delimiter = fence[1] if fence else lines[number].rstrip()
    return next((n + 1 for n in range(number + 1, len(lines)) if lines[n].rstrip() == delimiter), 0)


def _inside(lines: Sequence[str], strengths: list[int], first: int, beyond: int) -> None:
    table = lines[first].startswith("|=")
    for number in range(first + 1, beyond):
        if is_blank(lines[number]):
            continue
        blank = is_blank(lines[number - 1])
        strengths[number] = _ROW if table else (_INSIDE_AFTER_BLANK if blank else _INSIDE)
    strengths[beyond - 1] = 1


def _header(lines: Sequence[str], first: int, beyond: int) -> list[Rows]:
    """The rows of a table whose first one stands in one line and is followed by a blank one: it is the header."""
    header = first + 1
    if header + 1 < beyond and lines[header].startswith("|") and is_blank(lines[header + 1]):
        cells = [cell.strip() for cell in lines[header].split("|")[1:]]
        if len(cells) > 1:
            return [Rows(header + 2, beyond - 1, cells)]
    return []
