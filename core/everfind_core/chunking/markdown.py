"""Markdown lines: headings (ATX and setext), fences, lists, tables, front matter (after CommonMark 0.31)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum

from everfind_core.chunking.structure import BLANK, MAX_STRENGTH, Label, Outline, Structure

_FRONT_MATTER_LINES = 200
_SETEXT_LINES = 3


class _Kind(IntEnum):
    BLANK = 0
    TEXT = 1
    ITEM = 2
    TABLE = 3
    QUOTE = 4
    INDENTED = 5
    FENCE_OPEN = 6
    FENCED = 7
    FENCE_CLOSE = 8
    UNDERLINE = 9
    RULE = 10
    ATX = 11
    HTML = 12


_STRENGTH = {
    _Kind.TEXT: (50, 10),
    _Kind.ITEM: (45, 25),
    _Kind.TABLE: (40, 4),
    _Kind.QUOTE: (45, 8),
    _Kind.INDENTED: (30, 6),
    _Kind.FENCE_OPEN: (35, 20),
    _Kind.FENCED: (15, 6),
    _Kind.FENCE_CLOSE: (1, 1),
    _Kind.UNDERLINE: (55, 1),
    _Kind.RULE: (55, 20),
    _Kind.HTML: (40, 8),
}
"""Strength of a boundary before a line of a kind: after a blank line, and after another line."""

_AFTER_HEADING = 3

_LINE = re.compile(
    r"""(?P<INDENTED>[ ]{4}|[ ]{0,3}\t)
    | [ ]{0,3}(?:
        (?P<ATX>\#{1,6}(?=[ \t]|$))
      | (?P<FENCE_OPEN>`{3,}(?=[^`]*$)|~{3,})
      | (?P<UNDERLINE>(?:=+|-+)[ \t]*$)
      | (?P<RULE>(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$)
      | (?P<ITEM>(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$))
      | (?P<TABLE>\|)
      | (?P<QUOTE>>)
      | (?P<HTML><[!/?a-zA-Z])
    )""",
    re.VERBOSE,
)
_YAML_LINE = re.compile(r"\s*(?:#|-\s|[\w\"'.-]+\s*[:=]|\[)")


def analyse(lines: Sequence[str]) -> Structure:
    """The structure of Markdown ``lines``."""
    preamble = front_matter(lines)
    kinds = [_Kind.FENCED if line.strip() else _Kind.BLANK for line in lines[:preamble]] + _classify(lines[preamble:])
    strengths = _strengths(kinds)
    outline = Outline()
    for first, last, level, title in _headings(lines, kinds, preamble):
        outline.open(first, last, Label(level, title))
        strengths[first] = _AFTER_HEADING if _follows_heading(strengths, kinds, first) else MAX_STRENGTH - level
        for line in range(first + 1, last + 1):
            strengths[line] = 1
        _keep_with_heading(strengths, kinds, last)
    return outline.structure(strengths, preamble=preamble)


def front_matter(lines: Sequence[str]) -> int:
    """The number of lines of YAML (``---``) or TOML (``+++``) front matter, fences included; 0 without one."""
    if not lines or lines[0].rstrip() not in ("---", "+++"):
        return 0
    fence = lines[0].rstrip()
    ends = (fence, "...") if fence == "---" else (fence,)
    for count, line in enumerate(lines[1:_FRONT_MATTER_LINES], start=2):
        if line.rstrip() in ends:
            return count
        if count == 2 and not _YAML_LINE.match(line):
            return 0
    return 0


def _classify(lines: Sequence[str]) -> list[_Kind]:
    kinds = [_kind_of(line) for line in lines]
    fences = [number for number, kind in enumerate(kinds) if kind is _Kind.FENCE_OPEN]
    closed = -1
    for place, number in enumerate(fences):
        if number <= closed:
            continue
        closed = _closing(lines, fences, place)
        if closed == number:
            kinds[number] = _Kind.TEXT
            continue
        for inside in range(number + 1, min(closed, len(lines))):
            if kinds[inside] is not _Kind.BLANK:
                kinds[inside] = _Kind.FENCED
        if closed < len(lines):
            kinds[closed] = _Kind.FENCE_CLOSE
    for number in range(1, len(kinds)):
        if kinds[number] is _Kind.INDENTED and kinds[number - 1] not in (_Kind.BLANK, _Kind.INDENTED):
            kinds[number] = _Kind.TEXT
    return kinds


def _closing(lines: Sequence[str], fences: Sequence[int], place: int) -> int:
    """The line that closes the fence at ``fences[place]``; the number of lines if none does, its own if it opens none.

    Unlike in CommonMark a fence opens none if another with an info string follows before its closing one: then the
    closing one is missing, and taking all text up to the next block for code would hide its headings.
    """
    opening, _ = _fence(lines[fences[place]])
    for number in fences[place + 1 :]:
        fence, info = _fence(lines[number])
        if fence.startswith(opening):
            return fences[place] if info else number
    return len(lines)


def _fence(line: str) -> tuple[str, str]:
    """A fence line's marks and its info string."""
    text = line.strip()
    info = text.lstrip(text[0])
    return text[: len(text) - len(info)], info


def _kind_of(line: str) -> _Kind:
    if not line or line.isspace():
        return _Kind.BLANK
    match = _LINE.match(line)
    return _Kind[match.lastgroup] if match and match.lastgroup else _Kind.TEXT


def _strengths(kinds: Sequence[_Kind]) -> list[int]:
    strengths: list[int] = []
    before = _Kind.BLANK
    for kind in kinds:
        if kind is _Kind.BLANK:
            strengths.append(BLANK)
        elif kind is _Kind.ATX:
            strengths.append(MAX_STRENGTH)
        else:
            after_blank, after_line = _STRENGTH[kind]
            loose = before in (_Kind.BLANK, _Kind.FENCE_CLOSE)
            strengths.append(after_blank if loose else after_line)
        before = kind
    return strengths


def _headings(lines: Sequence[str], kinds: Sequence[_Kind], start: int) -> list[tuple[int, int, int, str]]:
    """First line, last line, level and title of each heading."""
    found: list[tuple[int, int, int, str]] = []
    for number in range(start, len(lines)):
        kind = kinds[number]
        if kind is _Kind.ATX:
            text = lines[number].strip()
            title = text.lstrip("#")
            found.append((number, number, len(text) - len(title), _without_closing(title)))
        elif kind is _Kind.UNDERLINE:
            first = _paragraph_start(kinds, number)
            if first < number:
                title = " ".join(line.strip() for line in lines[first:number])
                found.append((first, number, 1 if "=" in lines[number] else 2, title))
    return found


def _without_closing(title: str) -> str:
    """An ATX title without its closing sequence of ``#``."""
    title = title.strip()
    opened = title.rstrip("#")
    return opened.rstrip() if not opened or opened[-1] in " \t" else title


def _paragraph_start(kinds: Sequence[_Kind], underline: int) -> int:
    """The first line of the paragraph that ``underline`` makes a heading; ``underline`` itself if there is none."""
    first = underline
    while first > 0 and kinds[first - 1] is _Kind.TEXT and underline - first <= _SETEXT_LINES:
        first -= 1
    plain = first == 0 or kinds[first - 1] in (_Kind.BLANK, _Kind.ATX, _Kind.UNDERLINE, _Kind.RULE, _Kind.FENCE_CLOSE)
    return first if plain and underline - first <= _SETEXT_LINES else underline


def _follows_heading(strengths: Sequence[int], kinds: Sequence[_Kind], line: int) -> bool:
    """Whether only blank lines stand between ``line`` and a heading before it."""
    before = line - 1
    while before >= 0 and kinds[before] is _Kind.BLANK:
        before -= 1
    return before >= 0 and (kinds[before] is _Kind.ATX or (kinds[before] is _Kind.UNDERLINE and strengths[before] == 1))


def _keep_with_heading(strengths: list[int], kinds: Sequence[_Kind], last: int) -> None:
    """Weaken the boundary between a heading and its first content."""
    after = last + 1
    while after < len(kinds) and kinds[after] is _Kind.BLANK:
        after += 1
    if after < len(kinds) and kinds[after] is not _Kind.ATX:
        strengths[after] = _AFTER_HEADING
