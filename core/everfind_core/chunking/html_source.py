"""HTML as its author wrote it (templates, fragments): headings by tag, boundaries at block tags, scripts whole."""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Sequence

from everfind_core.chunking.headed import Heading, headed, is_blank
from everfind_core.chunking.structure import BLANK, Structure, column_of

_BLOCK = 60
_AFTER_BLANK = 40
_HIDDEN_AFTER_BLANK = 15
_LINE = 10
_HIDDEN = 6
_CLOSING = 2
_DEEPEST = 20
_LONGEST_HEADING = 1_000

_MARK = re.compile(r"<!--|-->|<(/?)(h[1-6]|script|style|pre|textarea)\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
_BLOCK_TAG = re.compile(
    r"<(?:address|article|aside|blockquote|body|dd|details|div|dl|dt|fieldset|figure|footer|form|h[1-6]|header|hr|li|"
    r"main|nav|ol|p|pre|script|section|style|table|tbody|template|thead|tr|ul)\b",
    re.IGNORECASE,
)


def analyse(lines: Sequence[str], text: str, starts: Sequence[int]) -> Structure:
    """The structure of HTML ``lines``; ``text`` is all of them, line ``n`` starts at ``starts[n]`` in it."""
    found: list[tuple[int, int, str]] = []
    hidden: list[tuple[int, int]] = []
    for first, beyond, name in _elements(text):
        first_line = bisect_right(starts, first) - 1
        last_line = bisect_right(starts, beyond - 1) - 1
        if name[0] == "h" and name[1:].isdigit():
            found.append((first_line, last_line, f"{name[1:]}{_words(text[first:beyond])}"))
        else:
            hidden.append((first_line, last_line))
    headings: list[Heading] = []
    for first_line, last_line, title in found:
        if len(title) > 1 and (not headings or headings[-1].last < first_line):
            headings.append(Heading(first_line, last_line, int(title[0]), title[1:]))
    return headed(_strengths(lines, hidden), headings)


def _elements(text: str) -> list[tuple[int, int, str]]:
    """First character, the one after the last, and name of each heading and of what is not text (``!``: a comment)."""
    found: list[tuple[int, int, str]] = []
    inside, since = "", 0  # the element that is open, and where it starts
    for mark in _MARK.finditer(text):
        opening = "!" if mark[0] == "<!--" else (mark[2] or "").lower()
        closes = mark[0] == "-->" or bool(mark[1])
        name = "!" if mark[0] == "-->" else opening
        if not inside or (inside[0] == "h" and not closes):
            inside, since = ("", 0) if closes else (name, mark.start())
        elif closes and name == inside:
            if name[0] != "h" or mark.end() - since <= _LONGEST_HEADING:
                found.append((since, mark.end(), name))
            inside = ""
    return found


def _words(markup: str) -> str:
    return " ".join(html.unescape(_TAG.sub(" ", markup)).split())


def _strengths(lines: Sequence[str], hidden: Sequence[tuple[int, int]]) -> list[int]:
    strengths: list[int] = []
    after_blank = True
    for line in lines:
        if is_blank(line):
            strengths.append(BLANK)
        elif line.lstrip().startswith("</"):
            strengths.append(_CLOSING)
        else:
            starts = _BLOCK if _BLOCK_TAG.match(line.lstrip()) else (_AFTER_BLANK if after_blank else _LINE)
            strengths.append(max(_LINE, starts - min(column_of(line), _DEEPEST)))
        after_blank = strengths[-1] == BLANK
    for first, last in hidden:
        for number in range(first + 1, last + 1):
            if strengths[number] != BLANK:
                strengths[number] = _HIDDEN_AFTER_BLANK if strengths[number - 1] == BLANK else _HIDDEN
    return strengths
