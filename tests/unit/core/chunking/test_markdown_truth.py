"""Headings, fences and tables of Markdown are those that markdown-it (CommonMark and GFM tables) finds."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from everfind_core.chunking.markdown_lines import Kind, Lines

TRUTH = MarkdownIt("commonmark").enable("table")

LINES = st.sampled_from(
    [
        "", "", "", "text", "more words | here", "# One", "## Two ##", "#no heading", "   ### Three", "    # code",
        "===", "---", "--", "***", "- - -", "- item", "* item", "  - nested", "    - deeper", "1. first", "2) second",
        "10. tenth", "-", "  continued", "    four", "- # inside", "> quote", "> # quoted", ">", "```", "```py",
        "~~~", "````", "  ```", "    ```", "| a | b |", "|---|---|", "a | b", "--- | :-:", "| 1 | 2 |", "|-|", "|a|",
        "<div>", "</div>", "<!-- one line -->", "<!--", "-->", "<pre>", "</pre>", "<span>x</span>", "<b>",
        "<my-tag a='1'>",        "\\# escaped", "- ```", "a\\|b | c", "+ plus", "\ttab", "1986\\. A year",
    ]
)  # fmt: skip
DOCUMENTS = st.lists(LINES, max_size=14)


def tokens(lines: Sequence[str]) -> list[Token]:
    return TRUTH.parse("\n".join(lines))


def closed(lines: Sequence[str]) -> bool:
    """Whether nothing goes on to the end of its container for want of an end: there everfind departs on purpose."""
    for token in tokens(lines):
        if token.map is None:
            continue
        last = lines[token.map[1] - 1].strip(" >")
        if token.type == "fence" and token.level == 0 and lines[token.map[1] - 1].startswith("    "):
            return False
        if token.type == "fence" and (
            token.map[1] - token.map[0] < 2 or set(last) != {token.markup[0]} or len(last) < len(token.markup)
        ):
            return False
        if token.type == "fence" and any(
            line.strip().startswith(token.markup) and line.strip("` ~") and token.markup[0] not in line.strip()[3:]
            for line in lines[token.map[0] + 1 : token.map[1]]
        ):
            return False
        if token.type == "html_block" and token.content.lstrip().startswith(("<!--", "<pre")):
            ends = "-->" if token.content.lstrip().startswith("<!--") else "</pre>"
            if ends not in token.content:
                return False
    return True


def headings(lines: Sequence[str]) -> list[tuple[int, int, int, str]]:
    found = tokens(lines)
    return [
        (token.map[0], token.map[1] - 1, int(token.tag[1]), " ".join(found[place + 1].content.split()))
        for place, token in enumerate(found)
        if token.type == "heading_open" and token.level == 0 and token.map
    ]


def ranges(lines: Sequence[str], kind: str) -> list[tuple[int, int]]:
    return [(t.map[0], t.map[1]) for t in tokens(lines) if t.type == kind and t.level == 0 and t.map]


@settings(max_examples=1500, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(DOCUMENTS)
@example(["a", "b", "==="])
@example(["- a", "", "      b", "", "# c"])
@example(["-", "", "    four", "a | b", "--"])
def test_headings(lines: list[str]) -> None:
    assume(closed(lines))
    mine = [(h.first, h.last, h.level, " ".join(h.title.split())) for h in Lines(lines, 0).headings]
    assert mine == headings(lines)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(DOCUMENTS)
def test_fences_and_tables(lines: list[str]) -> None:
    assume(closed(lines))
    found = Lines(lines, 0)
    fences = [number for number, kind in enumerate(found.kinds) if kind is Kind.FENCE_OPEN]
    assert {first for first, _ in ranges(lines, "fence")} <= set(fences)
    for first, beyond in ranges(lines, "fence"):
        assert found.kinds[beyond - 1] is Kind.FENCE_CLOSE
        assert {found.kinds[n] for n in range(first + 1, beyond - 1)} <= {Kind.FENCED, Kind.BLANK}
    tables = {(rows.first - 2, rows.beyond) for rows in found.tables}
    assert set(ranges(lines, "table_open")) <= tables
