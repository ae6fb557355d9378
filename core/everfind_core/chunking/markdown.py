"""Markdown: headings (ATX and setext), fences, lists, tables, HTML blocks, front matter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from everfind_core.chunking.headed import headed
from everfind_core.chunking.markdown_lines import Kind, Lines
from everfind_core.chunking.markdown_titles import plain_title
from everfind_core.chunking.structure import BLANK, MAX_STRENGTH, Structure, column_of

_FRONT_MATTER_LINES = 200
_DEEPEST = 12

_STRENGTH = {
    Kind.TEXT: (50, 10),
    Kind.ITEM: (45, 25),
    Kind.TABLE: (40, 4),
    Kind.QUOTE: (45, 8),
    Kind.INDENTED: (30, 6),
    Kind.FENCE_OPEN: (35, 20),
    Kind.FENCED: (15, 6),
    Kind.FENCE_CLOSE: (1, 1),
    Kind.UNDERLINE: (55, 1),
    Kind.RULE: (55, 20),
    Kind.HTML: (40, 8),
}
"""Strength of a boundary before a line of a kind: after a blank line, and after another line."""

_CODE = frozenset({Kind.FENCE_OPEN, Kind.FENCED, Kind.FENCE_CLOSE})

_YAML_LINE = re.compile(r"\s*(?:#|-\s|[\w\"'.-]+\s*[:=]|\[)")


def analyse(lines: Sequence[str]) -> Structure:
    """The structure of Markdown ``lines``."""
    preamble = front_matter(lines)
    found = Lines(lines, preamble)
    code = frozenset(n for n, kind in enumerate(found.kinds) if n >= preamble and kind in _CODE)
    headings = [heading._replace(title=plain_title(heading.title)) for heading in found.headings]
    structure = headed(_strengths(lines, found.kinds), headings, found.tables, preamble=preamble)
    return replace(structure, code=code)


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


def _strengths(lines: Sequence[str], kinds: Sequence[Kind]) -> list[int]:
    strengths: list[int] = []
    before = Kind.BLANK
    for line, kind in zip(lines, kinds, strict=True):
        if kind is Kind.BLANK:
            strengths.append(BLANK)
        elif kind is Kind.ATX:
            strengths.append(MAX_STRENGTH)
        else:
            after_blank, after_line = _STRENGTH[kind]
            loose = before in (Kind.BLANK, Kind.FENCE_CLOSE)
            strength = after_blank if loose else after_line
            if kind is not Kind.FENCED and line[0].isspace():
                # What is nested in a list: a worse place than the next item at the margin.
                strength = max(1, strength - min(2 * column_of(line), _DEEPEST))
            strengths.append(strength)
        before = kind
    return strengths
