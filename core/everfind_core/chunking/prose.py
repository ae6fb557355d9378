"""Plain text lines: paragraphs, and headings by underline, number, ``==`` prefix (AsciiDoc) or capitals (manuals)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from everfind_core.chunking.structure import BLANK, MAX_STRENGTH, Label, Outline, Structure, column_of

_PARAGRAPH = 60
_ITEM = 30
_LINE = 10
_AFTER_HEADING = 3
_LONGEST_TITLE = 100

_UNDERLINE = re.compile(r"([=\-~^\"'`#*+.:_])\1{2,}\s*$")
_UNDERLINE_LEVELS = {"#": 1, "*": 1, "=": 2, "-": 3, "~": 4, "^": 5, '"': 5}
_NUMBERED = re.compile(r"(\d{1,3}(?:\.\d{1,3})*)\.?[ \t]+(?=\S)[^\n]*[^.,;:\s]\s*$")
_PREFIXED = re.compile(r"(={1,6})[ \t]+(\S[^\n]*)$")
_CAPITALS = re.compile(r"[A-Z][A-Z0-9 ,/&'()-]{2,}$")
_ITEM_START = re.compile(r"\s*(?:[-+*•]|\d{1,3}[.)])\s")


def analyse(lines: Sequence[str]) -> Structure:
    """The structure of plain text ``lines``."""
    strengths = _strengths(lines)
    outline = Outline()
    number, count = 0, len(lines)
    while number < count:
        heading = _heading_at(lines, strengths, number)
        if heading is None:
            number += 1
            continue
        last, label = heading
        outline.open(number, last, label)
        strengths[number] = MAX_STRENGTH - label.depth
        strengths[number + 1 : last + 1] = [1] * (last - number)
        after = next((i for i in range(last + 1, min(last + 4, count)) if strengths[i] != BLANK), count)
        if after < count and _heading_at(lines, strengths, after) is None:
            strengths[after] = _AFTER_HEADING
        number = last + 1
    return outline.structure(strengths)


def _strengths(lines: Sequence[str]) -> list[int]:
    strengths: list[int] = []
    after_blank = True
    for line in lines:
        if not line or line.isspace():
            strengths.append(BLANK)
            after_blank = True
            continue
        if after_blank:
            strengths.append(_PARAGRAPH - min(column_of(line), 20))
        else:
            strengths.append(_ITEM if _ITEM_START.match(line) else _LINE)
        after_blank = False
    return strengths


def _heading_at(lines: Sequence[str], strengths: Sequence[int], number: int) -> tuple[int, Label] | None:
    """Last line and label of the heading that starts in line ``number``; None if none does."""
    line = lines[number]
    if strengths[number] == BLANK or len(line) > _LONGEST_TITLE or line[0].isspace():
        return None
    if number and strengths[number - 1] != BLANK:
        return None
    return _underlined(lines, number) or _one_line(lines, strengths, number)


def _underlined(lines: Sequence[str], number: int) -> tuple[int, Label] | None:
    """A title with a line of punctuation under it, or one over and one under it."""
    over = bool(_UNDERLINE.match(lines[number]))
    title = number + 1 if over else number
    if title + 1 >= len(lines):
        return None
    match = _UNDERLINE.match(lines[title + 1])
    text = lines[title].strip()
    if not match or not text or len(text) > _LONGEST_TITLE or len(lines[title + 1].rstrip()) < len(text) - 2:
        return None
    level = 2 * _UNDERLINE_LEVELS.get(match.group(1), 6) - over
    return title + 1, Label(level, text)


def _one_line(lines: Sequence[str], strengths: Sequence[int], number: int) -> tuple[int, Label] | None:
    line = lines[number].rstrip()
    if prefixed := _PREFIXED.match(line):
        return number, Label(2 * len(prefixed.group(1)), prefixed.group(2).rstrip("= \t"))
    followed = number + 1 < len(lines)
    alone = followed and strengths[number + 1] == BLANK
    if alone and (numbered := _NUMBERED.match(line)):
        return number, Label(2 * (numbered.group(1).count(".") + 1), line)
    indents = followed and lines[number + 1][:1].isspace()
    if (alone or indents) and _CAPITALS.match(line):
        return number, Label(1, line)
    return None
