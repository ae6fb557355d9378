"""reStructuredText lines: sections by adornment, in order of appearance; tables and literal blocks whole."""

from __future__ import annotations

import re
from collections.abc import Sequence

from everfind_core.chunking.headed import Heading, headed, is_blank
from everfind_core.chunking.structure import BLANK, Structure, column_of

_PARAGRAPH = 60
_ITEM = 45
_NESTED = 40
_LITERAL = 15
_LINE = 10
_ROW = 4
_DEEPEST = 20

_ADORNMENT = re.compile(r"([!-/:-@[-`{-~])\1* *$")
_TARGET = re.compile(r"\.\. (?:_[^:]|\[|(?:index|module|currentmodule|_)\b|\|)")
_ITEM_START = re.compile(r"(?:[-+*•]|\(?(?:\d{1,4}|[a-zA-Z]|#)[.)]|:[^:\s][^:]*:(?:\s|$)|\|)(?:\s|$)")
_LITERAL_BLOCK = re.compile(r"\.\. (?:code|code-block|sourcecode|highlight|literalinclude|math|raw|parsed-literal)::")
_TABLE = re.compile(r"(?:=+ +)+=+ *$|\+[-=+]+\+ *$")
_SHORTEST = 4
_LONGEST_TABLE = 2_000


def analyse(lines: Sequence[str]) -> Structure:
    """The structure of reStructuredText ``lines``."""
    strengths = _strengths(lines)
    _keep_tables(lines, strengths)
    return headed(strengths, _headings(lines))


def _headings(lines: Sequence[str]) -> list[Heading]:
    """The section titles. A style's level is its place in the order in which styles first appear."""
    found: list[Heading] = []
    styles: list[str] = []
    number = 0
    while number + 1 < len(lines):
        title = _title_at(lines, number)
        if title is None:
            number += 1
            continue
        last, style, text = title
        if style not in styles:
            styles.append(style)
        found.append(Heading(_with_targets(lines, number), last, styles.index(style) + 1, text))
        number = last + 1
    return found


def _title_at(lines: Sequence[str], number: int) -> tuple[int, str, str] | None:
    """Last line, style (adornment, doubled where there is one above, too) and text of a title; None: there is none."""
    if number and not is_blank(lines[number - 1]) and not _ends_block(lines, number - 1):
        return None
    over = _adornment(lines[number])
    title = number + 1 if over else number
    if title + 1 >= len(lines):
        return None
    text, under = lines[title].rstrip(), _adornment(lines[title + 1])
    if not under or is_blank(text) or (text[0].isspace() and not over):
        return None
    text = text.strip()
    if over:
        fits = over == under and (len(over) >= len(text) or len(over) >= _SHORTEST)
    else:
        fits = len(under) >= len(text) or len(under) >= _SHORTEST
        fits = fits and not _adornment(text) and not (_ITEM_START.match(text) and not text[0].isalnum())
    if not fits or text.startswith(".. "):
        return None
    return title + 1, under[0] * (2 if over else 1), text


def _adornment(line: str) -> str:
    return line.rstrip() if _ADORNMENT.match(line) else ""


def _ends_block(lines: Sequence[str], number: int) -> bool:
    """Whether what stands in a line that is not blank ends there: an underline, or an indented block."""
    return lines[number][0].isspace() or bool(_adornment(lines[number])) or bool(_TARGET.match(lines[number]))


def _with_targets(lines: Sequence[str], first: int) -> int:
    """The first line of the link targets right above a title."""
    above = first - 1
    while above >= 0 and (is_blank(lines[above]) or _TARGET.match(lines[above])):
        if not is_blank(lines[above]):
            first = above
        above -= 1
    return first


def _strengths(lines: Sequence[str]) -> list[int]:
    strengths: list[int] = []
    after_blank = True
    literal = -1  # column beyond which a literal block goes on; -1: there is none
    for line in lines:
        if is_blank(line):
            strengths.append(BLANK)
            after_blank = True
            continue
        column = column_of(line)
        if literal >= 0 and column <= literal:
            literal = -1
        strengths.append(_strength(line.strip(), column, after_blank=after_blank, literal=literal >= 0))
        if literal < 0 and (line.rstrip().endswith("::") or _LITERAL_BLOCK.match(line.strip())):
            literal = column
        after_blank = False
    return strengths


def _strength(text: str, column: int, *, after_blank: bool, literal: bool) -> int:
    if not after_blank:
        return _ITEM - min(column, _DEEPEST) if _ITEM_START.match(text) and not literal else _LINE
    if literal:
        return _LITERAL
    return _PARAGRAPH if not column else _NESTED - min(column, _DEEPEST)


def _keep_tables(lines: Sequence[str], strengths: list[int]) -> None:
    """Weaken the boundaries inside tables: grid tables end at a blank line, simple ones at their last border."""
    number = 0
    while number < len(lines):
        text = lines[number].strip()
        if not _TABLE.match(text):
            number += 1
            continue
        beyond = _grid_end(lines, number) if text[0] == "+" else _simple_end(lines, number)
        for row in range(number + 1, beyond):
            if strengths[row] != BLANK:
                strengths[row] = _ROW
        number = max(beyond, number + 1)


def _grid_end(lines: Sequence[str], first: int) -> int:
    return next((n for n in range(first, len(lines)) if lines[n].strip()[:1] not in ("+", "|")), len(lines))


def _simple_end(lines: Sequence[str], first: int) -> int:
    """The line after a simple table: its border stands again below the header (if there is one) and at its end."""
    border = lines[first].strip()
    last = first
    for number in range(first + 1, min(first + _LONGEST_TABLE, len(lines))):
        text = lines[number].strip()
        if text and column_of(lines[number]) < column_of(lines[first]):
            break
        if text == border:
            last = number
            if number + 1 >= len(lines) or is_blank(lines[number + 1]):
                break
    return last + 1
