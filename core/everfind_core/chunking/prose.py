"""Plain text lines: paragraphs, and headings by underline, number, ``==`` prefix, capitals, or by standing out.

A text whose body is indented (RFCs, manuals) has its headings at the margin.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from everfind_core.chunking.headed import Heading, headed, is_blank
from everfind_core.chunking.structure import BLANK, Structure, column_of
from everfind_core.chunking.titles import with_title

_PARAGRAPH = 60
_ITEM = 30
_LINE = 10
_PAGE = 2
_LONGEST_TITLE = 100
_INDENTED_SHARE = 0.6
_SECTION = 2

_UNDERLINE = re.compile(r"([=\-~^\"'`#*+.:_])\1{2,}\s*$")
_UNDERLINE_LEVELS = {"#": 1, "*": 1, "=": 2, "-": 3, "~": 4, "^": 5, '"': 5}
_NUMBERED = re.compile(r"(\d{1,3}(?:\.\d{1,3})*)\.?[ \t]+(?=\S)[^\n]*[^.,;:\s]\s*$")
_APPENDIX = re.compile(r"(?:(?:Appendix|Annex)[ \t]+[A-Z](?:[.:]|[ \t]|$)|([A-Z](?:\.\d{1,3})+)\.?[ \t]+\S)")
_PREFIXED = re.compile(r"(={1,6})[ \t]+(\S[^\n]*)$")
_CAPITALS = re.compile(r"[A-Z][A-Z0-9 ,/&'()-]{2,}$")
_ITEM_START = re.compile(r"\s*(?:[-+*•]|\d{1,3}[.)])\s")
_PAGE_END = re.compile(r"\S.*\[Page \w+\]\s*$")
_GAP = re.compile(r"\S\s{3,}\S")


def analyse(lines: Sequence[str]) -> Structure:
    """The structure of plain text ``lines``."""
    strengths = _strengths(lines)
    outdented = _is_indented(lines)
    headings: list[Heading] = []
    number = 0
    while number < len(lines):
        heading = _heading_at(lines, strengths, number, outdented=outdented)
        if heading is not None:
            headings.append(heading)
            number = heading.last
        number += 1
    return replace(headed(strengths, with_title(lines, headings)), furniture=_furniture(lines, strengths))


def _furniture(lines: Sequence[str], strengths: Sequence[int]) -> frozenset[int]:
    """The last line of each page, and the first of the next."""
    found: set[int] = set()
    ended = False
    for number, strength in enumerate(strengths):
        if strength == BLANK:
            continue
        ends = bool(_PAGE_END.match(lines[number]))
        if ends or (ended and strength == _PAGE):
            found.add(number)
        ended = ends
    return frozenset(found)


def _is_indented(lines: Sequence[str]) -> bool:
    """Whether most of the text is indented, so that what stands at the margin stands out."""
    written = [line for line in lines if not is_blank(line)]
    return sum(line[0].isspace() for line in written) > _INDENTED_SHARE * len(written)


def _strengths(lines: Sequence[str]) -> list[int]:
    strengths: list[int] = []
    after_blank, new_page = True, False
    for line in lines:
        if is_blank(line):
            strengths.append(BLANK)
            after_blank, new_page = True, new_page or "\f" in line
            continue
        if _PAGE_END.match(line) or (new_page and _GAP.search(line)):
            strengths.append(_PAGE)
        elif after_blank:
            strengths.append(_PARAGRAPH - min(column_of(line), 20))
        else:
            strengths.append(_ITEM if _ITEM_START.match(line) else _LINE)
        after_blank = new_page = False
    return strengths


def _heading_at(lines: Sequence[str], strengths: Sequence[int], number: int, *, outdented: bool) -> Heading | None:
    """The heading that starts in line ``number``; ``outdented``: whatever stands alone at the margin is one."""
    line = lines[number]
    if strengths[number] in (BLANK, _PAGE) or len(line) > _LONGEST_TITLE or line[0].isspace():
        return None
    if number and strengths[number - 1] != BLANK:
        return None
    return _underlined(lines, number) or _one_line(lines, strengths, number, outdented=outdented)


def _underlined(lines: Sequence[str], number: int) -> Heading | None:
    """A title with a line of punctuation under it, or one over and one under it."""
    over = bool(_UNDERLINE.match(lines[number]))
    title = number + 1 if over else number
    if title + 1 >= len(lines):
        return None
    match = _UNDERLINE.match(lines[title + 1])
    text = lines[title].strip()
    if not match or not text or len(text) > _LONGEST_TITLE or len(lines[title + 1].rstrip()) < len(text) - 2:
        return None
    return Heading(number, title + 1, 2 * _UNDERLINE_LEVELS.get(match.group(1), 6) - over, text)


def _one_line(lines: Sequence[str], strengths: Sequence[int], number: int, *, outdented: bool) -> Heading | None:
    line = lines[number].rstrip()
    if prefixed := _PREFIXED.match(line):
        return Heading(number, number, 2 * len(prefixed.group(1)), prefixed.group(2).rstrip("= \t"))
    followed = number + 1 < len(lines)
    alone = followed and strengths[number + 1] == BLANK
    if alone and (level := _numbered(line, outdented=outdented)):
        return Heading(number, number, level, line)
    indents = followed and lines[number + 1][:1].isspace()
    if (alone or indents) and _CAPITALS.match(line):
        return Heading(number, number, 1, line)
    if outdented and (alone or indents) and _stands_out(line):
        return Heading(number, number, _SECTION, line)
    return None


def _numbered(line: str, *, outdented: bool) -> int:
    """The level of a numbered heading, 2 for each number; 0 if it is none."""
    if numbered := _NUMBERED.match(line):
        return 2 * (numbered.group(1).count(".") + 1)
    if outdented and (appendix := _APPENDIX.match(line)):
        return 2 * ((appendix.group(1) or "").count(".") + 1)
    return 0


def _stands_out(line: str) -> bool:
    return line[0].isalnum() and line[-1] not in ".,;:" and not _GAP.search(line)
