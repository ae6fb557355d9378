"""AsciiDoc lines: section titles (``==`` and underlined), delimited blocks and tables whole, attributes with theirs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from everfind_core.chunking.headed import Heading, Places, TableRows, headed, is_blank
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
_DEFINED = re.compile(r":(?P<name>\w[\w-]*):[ \t]+(?P<value>\S.*?)[ \t]*$")
_REFERENCE = re.compile(r"\{(?P<name>\w[\w-]*)\}")
_ITEM_START = re.compile(r"\s*(?:[-*.]{1,5}|\d{1,3}\.|<\d+>|<\.>)\s|\s*\S.*(?:::|;;)(?:\s|$)")


def analyse(lines: Sequence[str]) -> Structure:
    """The structure of AsciiDoc ``lines``."""
    found = _Blocks(lines)
    defined = {match["name"]: match["value"] for line in lines if (match := _DEFINED.match(line))}
    headings = [heading._replace(title=_resolved(heading.title, defined)) for heading in found.headings]
    return headed(found.strengths, headings, found.tables)


def _resolved(title: str, defined: Mapping[str, str]) -> str:
    """A title with the values of the attributes that it refers to, where the document defines them."""
    return _REFERENCE.sub(lambda match: defined.get(match["name"], match[0]), title)


class _Blocks:
    """One pass over the lines: strengths, section titles outside delimited blocks, and tables."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.strengths = [BLANK] * len(lines)
        self.headings: list[Heading] = []
        self.tables: list[TableRows] = []
        self._lines = lines
        self._ends = Places((n, line.rstrip()) for n, line in enumerate(lines) if _DELIMITER.match(line))
        self._starts = True  # whether a block may start here
        self._attributes = -1  # the first of the attributes right above; -1: there are none
        number = 0
        while number < len(lines):
            number = self._read(number)

    def _read(self, number: int) -> int:
        """Read what stands in line ``number``; gives the line after it."""
        line = self._lines[number]
        if is_blank(line):
            self._starts, self._attributes = True, -1
            return number + 1
        below = self._attributes >= 0
        heading = _heading_at(self._lines, number) if self._starts or below else None
        if heading is not None:
            first = self._attributes if below else number
            self.headings.append(heading._replace(first=first))
            self.strengths[number : heading.last + 1] = [_LINE] * (heading.last + 1 - number)
            self._starts, self._attributes = True, -1
            return heading.last + 1
        self.strengths[number] = _LINE if below else _strength(line, starts=self._starts)
        beyond = self._block_end(number)
        if beyond:
            self._inside(number, beyond)
        self._starts = bool(beyond)
        if not _is_attribute(line) or beyond:
            self._attributes = -1
        elif not below:
            self._attributes = number
        return beyond or number + 1

    def _block_end(self, number: int) -> int:
        """The line after the delimited block that starts at ``number``; 0 if none does, or if it is never closed."""
        fence = _FENCE.match(self._lines[number])
        if not fence and not _DELIMITER.match(self._lines[number]):
            return 0
        end = self._ends.after(number, fence[1] if fence else self._lines[number].rstrip())
        return end + 1 if end else 0

    def _inside(self, first: int, beyond: int) -> None:
        table = self._lines[first].startswith("|=")
        for number in range(first + 1, beyond):
            if not is_blank(self._lines[number]):
                blank = is_blank(self._lines[number - 1])
                self.strengths[number] = _ROW if table else (_INSIDE_AFTER_BLANK if blank else _INSIDE)
        self.strengths[beyond - 1] = 1
        if table:
            self.tables += _header(self._lines, first, beyond)


def _heading_at(lines: Sequence[str], number: int) -> Heading | None:
    """The section title in line ``number``, where a block may start."""
    if match := _TITLE.match(lines[number]):
        return Heading(number, number, len(match[1]), match[2])
    if number + 1 >= len(lines) or lines[number][0].isspace() or _is_attribute(lines[number]):
        return None
    title, under = lines[number].rstrip(), _UNDERLINE.match(lines[number + 1])
    if under and abs(len(under[0].rstrip()) - len(title)) <= 1 and any(c.isalnum() for c in title):
        return Heading(number, number + 1, _UNDERLINE_LEVELS[under[1]], title)
    return None


def _is_attribute(line: str) -> bool:
    """An attribute list, anchor, block title or comment: it belongs to the block below."""
    return bool(_ATTRIBUTE.match(line))


def _strength(line: str, *, starts: bool) -> int:
    if _DELIMITER.match(line) or _is_attribute(line):
        return _BLOCK
    if _ITEM_START.match(line):
        return _ITEM - min(column_of(line), _DEEPEST)
    return _PARAGRAPH if starts else _LINE


def _header(lines: Sequence[str], first: int, beyond: int) -> list[TableRows]:
    """The rows of a table whose first one stands in one line and is followed by a blank one: it is the header."""
    header = first + 1
    if header + 1 < beyond and lines[header].startswith("|") and is_blank(lines[header + 1]):
        cells = [cell.strip() for cell in lines[header].split("|")[1:]]
        if len(cells) > 1:
            return [TableRows(header + 2, beyond - 1, cells)]
    return []
