"""Text with headings: what the analysers of Markdown, reStructuredText and the like have in common."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from everfind_core.chunking.structure import BLANK, MAX_STRENGTH, Label, Outline, Structure

_AFTER_HEADING = 3
_INSIDE_HEADING = 1
_ROWS = 100
"""Depth of a table's label: deeper than any heading's."""

_LONGEST_HEADER = 120


class Heading(NamedTuple):
    """A heading in lines ``first`` to ``last``, what names it for links included; level 1 is the outermost."""

    first: int
    last: int
    level: int
    title: str


class TableRows(NamedTuple):
    """A table's rows from line ``first`` up to, not including, ``beyond``, and the cells of the header above them."""

    first: int
    beyond: int
    header: Sequence[str]


def is_blank(line: str) -> bool:
    """Whether a line has no text."""
    return not line or line.isspace()


class Places:
    """Where each text that ends a block stands, so that looking for ends costs little in a file full of openings."""

    def __init__(self, ends: Iterable[tuple[int, str]]) -> None:
        self._places: dict[str, list[int]] = {}
        for number, end in ends:
            self._places.setdefault(end, []).append(number)

    def after(self, number: int, end: str) -> int:
        """The first line below ``number`` where ``end`` stands; 0 if there is none."""
        places = self._places.get(end, [])
        place = bisect_right(places, number)
        return places[place] if place < len(places) else 0


def headed(
    strengths: list[int], headings: Iterable[Heading], tables: Iterable[TableRows] = (), *, preamble: int = 0
) -> Structure:
    """The structure of lines with these ``strengths``, which headings override.

    A heading is the strongest boundary, but for one right below another: that stays with it, and so does the first
    text below a heading. A table's header encloses its rows, so that a piece of it says what its cells mean.
    """
    outline = Outline()
    marks: list[Heading | TableRows] = sorted([*headings, *tables], key=lambda mark: mark.first)
    beyond = -1  # first line after the heading before, blank ones skipped
    for mark in marks:
        if isinstance(mark, TableRows):
            if header := _header(mark.header):
                outline.enclose(mark.first, mark.beyond, Label(_ROWS, header))
            continue
        outline.open(mark.first, mark.last, Label(mark.level, mark.title))
        strengths[mark.first] = _AFTER_HEADING if mark.first == beyond else MAX_STRENGTH - mark.level
        for line in range(mark.first + 1, mark.last + 1):
            if strengths[line] != BLANK:
                strengths[line] = _INSIDE_HEADING
        beyond = mark.last + 1
        while beyond < len(strengths) and strengths[beyond] == BLANK:
            beyond += 1
        if beyond < len(strengths):
            strengths[beyond] = _AFTER_HEADING
    return outline.structure(strengths, preamble=preamble)


def _header(cells: Sequence[str]) -> str:
    header = ", ".join(" ".join(cell.split()) for cell in cells if not is_blank(cell))
    return header[:_LONGEST_HEADER]
