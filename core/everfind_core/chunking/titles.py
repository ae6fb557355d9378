"""The title of a plain text, which each of its chunks is embedded and found with."""

from __future__ import annotations

import re
from collections.abc import Sequence

from everfind_core.chunking.headed import Heading, is_blank

_OUTERMOST = 0
_LONGEST = 120
_MOST_LINES = 3
_FEWEST_WORDS = 3
_CENTRED = 8  # columns
_GAP = re.compile(r"\S\s{3,}\S")
_TITLE = re.compile(r"[^\W_].*[^,;:\s]$|[\"'“„«(\[].*[^,;:\s]$")
_NAME = "name"
"""What the first section of a manual page is called; its text says what the page is about."""


def with_title(lines: Sequence[str], headings: Sequence[Heading]) -> list[Heading]:
    """``headings`` and, if the text has a title of another kind, that one, which encloses all of them.

    A title is what a manual page says under NAME, a first line that stands alone, or a line in the middle of the page
    between the header of a memo (an RFC) and its first heading.
    """
    if headings and headings[0].title.casefold() == _NAME:
        named = _named(lines, headings[0])
        return [named or headings[0], *headings[1:]]
    title = _first_line(lines, headings) or _centred(lines, headings)
    return [title, *headings] if title else list(headings)


def _named(lines: Sequence[str], heading: Heading) -> Heading | None:
    first, beyond = _paragraph(lines, heading.last + 1)
    title = _joined(lines, first, beyond)
    return heading._replace(level=_OUTERMOST, title=title) if title else None


def _first_line(lines: Sequence[str], headings: Sequence[Heading]) -> Heading | None:
    first, beyond = _paragraph(lines, 0)
    alone = beyond == first + 1 and _paragraph(lines, beyond)[0] < len(lines)
    if not alone or lines[first][0].isspace() or (headings and headings[0].first <= first):
        return None
    title = _joined(lines, first, beyond)
    return Heading(first, first, _OUTERMOST, title) if len(title.split()) >= _FEWEST_WORDS else None


def _centred(lines: Sequence[str], headings: Sequence[Heading]) -> Heading | None:
    """The last paragraph before the first heading whose lines are all in the middle, and which is not the first one."""
    end = headings[0].first if headings else 0
    first, beyond = _paragraph(lines, 0)
    found = None
    while beyond < end:
        first, beyond = _paragraph(lines, beyond)
        if beyond <= end and all(len(line) - len(line.lstrip()) >= _CENTRED for line in lines[first:beyond]):
            title = _joined(lines, first, beyond)
            found = Heading(first, beyond - 1, _OUTERMOST, title) if title else found
    return found


def _paragraph(lines: Sequence[str], start: int) -> tuple[int, int]:
    """The first line of the next paragraph from line ``start`` on, and the one after its last."""
    first = start
    while first < len(lines) and is_blank(lines[first]):
        first += 1
    beyond = first
    while beyond < len(lines) and not is_blank(lines[beyond]):
        beyond += 1
    return first, beyond


def _joined(lines: Sequence[str], first: int, beyond: int) -> str:
    """A paragraph as a title; empty if it is none."""
    written = [line.strip() for line in lines[first:beyond]]
    title = " ".join(written)
    fits = 0 < len(written) <= _MOST_LINES and len(title) <= _LONGEST and _TITLE.fullmatch(title)
    return title if fits and not any(map(_GAP.search, written)) else ""
