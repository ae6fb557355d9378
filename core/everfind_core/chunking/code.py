"""Code lines in any language: definitions with their comments and decorators, blank lines, indentation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from everfind_core.chunking import definitions
from everfind_core.chunking.structure import BLANK, MAX_STRENGTH, STRUCTURAL, Label, Outline, Structure, column_of

_TOP_BLOCK = STRUCTURAL + 5
_BLOCK = 60
_STATEMENT = 28
_CLOSING = 2
WEAK = 1

_CLOSERS = (")", "]", "}", "end", "else", "elif", "elsif", "except", "finally", "rescue", "catch", "fi", "done", "esac")
_COMMENTS = ("#", "//", "/*", "*", "--", ";;", "@", '"""')
_BANNERS = ("#", "//", "/*", "--", ";;")
_DECORATORS = ("@", "#[")
_OPENS = (":", "{")
_LONGEST_HEADER = 40
_LONGEST_BANNER = 5
_BANNER_GAP = 2
_CLASSES = frozenset({"class", "struct", "interface", "enum"})


def analyse(lines: Sequence[str], text: str, line_starts: npt.NDArray[np.int64], language: str) -> Structure:
    """The structure of code ``lines``, which are ``text`` cut at ``line_starts``."""
    columns = columns_of(lines)
    strengths = line_strengths(lines, columns)
    found = list(definitions.find(text, language))
    numbers = np.searchsorted(line_starts, [f.offset for f in found]).tolist() if found else []
    by_line = dict(zip(numbers, found, strict=True))
    outline = Outline()
    for number, (line, column) in enumerate(zip(lines, columns, strict=True)):
        definition = by_line.get(number)
        if definition is not None:
            first = first_line(lines, columns, number)
            start_at(strengths, column, first, number)
            outline.open(first, number, _label(outline, definition, column))
        elif opens_block(line):
            outline.close(number, column)
    return outline.structure(strengths, by_column=True)


def opens_block(line: str) -> bool:
    """Whether ``line`` starts a statement with a block of its own: not a comment, nor the end of another statement."""
    return line.endswith(_OPENS) and not line.lstrip().startswith((*_COMMENTS, *_CLOSERS))


def columns_of(lines: Sequence[str]) -> list[int]:
    """The column at which each line's text starts; :data:`BLANK` for blank ones."""
    return [column_of(line) if line and not line.isspace() else BLANK for line in lines]


def line_strengths(lines: Sequence[str], columns: Sequence[int]) -> list[int]:
    """How good a place to cut each line is by itself: blank lines, indentation, closing and continuing lines."""
    strengths: list[int] = []
    before, after_blank, after_comment = 0, True, False
    for line, column in zip(lines, columns, strict=True):
        if column == BLANK:
            strengths.append(BLANK)
            after_blank = True
            continue
        text = line.lstrip()
        if text.startswith(_CLOSERS):
            strength = _CLOSING
        elif after_blank:
            strength = _BLOCK - min(column, 30) if column else _TOP_BLOCK
        elif column > before or after_comment:
            strength = WEAK
        else:
            strength = _STATEMENT - min(column, 20)
        strengths.append(strength)
        before, after_blank, after_comment = column, False, text.startswith(_COMMENTS)
    return strengths


def first_line(lines: Sequence[str], columns: Sequence[int], number: int) -> int:
    """The first line of the comments and decorators (of several lines, too) right above a definition."""
    first, column, crossed = number, columns[number], False
    for above in range(number - 1, max(-1, number - 1 - _LONGEST_HEADER), -1):
        if columns[above] == BLANK or columns[above] < column:
            break
        text = lines[above].lstrip()
        aligned = columns[above] == column or (columns[above] == column + 1 and text.startswith("*"))
        if aligned and text.startswith(_DECORATORS if crossed else _COMMENTS):
            first, crossed = above, False
        elif columns[above] > column or text.startswith(_CLOSERS):
            crossed = True
        else:
            break
    return banner_above(lines, columns, first, column)


def banner_above(lines: Sequence[str], columns: Sequence[int], first: int, column: int) -> int:
    """The first line of a short comment that stands alone above line ``first``; ``first`` without one."""
    last = first - 1
    while last >= 0 and columns[last] == BLANK and first - last <= _BANNER_GAP:
        last -= 1
    top = last
    while top >= 0 and last - top < _LONGEST_BANNER and columns[top] == column:
        if not lines[top].lstrip().startswith(_BANNERS):
            return first
        top -= 1
    return top + 1 if top < last and (top < 0 or columns[top] == BLANK) else first


def start_at(strengths: list[int], column: int, first: int, number: int) -> None:
    """Make ``first`` the place to cut before the definition in line ``number``, and nothing from there to it."""
    strengths[first] = MAX_STRENGTH - min(column, 40)
    for line in range(first + 1, number + 1):
        strengths[line] = min(strengths[line], WEAK)


def _label(outline: Outline, found: definitions.DefinitionLine, column: int) -> Label:
    label = Label(column, found.scope, found.name, found.kind)
    enclosing = next((outer for outer in reversed(outline.enclosing) if outer.depth < column), None)
    if found.kind == "function" and enclosing is not None and enclosing.kind in _CLASSES:
        return replace(label, kind="method")
    return label
