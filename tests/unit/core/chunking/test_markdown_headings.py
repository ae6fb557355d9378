"""The words of Markdown headings are those that markdown-it shows, but for code, whose marks stay."""

from __future__ import annotations

import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from everfind_core.chunking.markdown_titles import plain_title
from everfind_core.model import LineKind
from tests.support.chunk_checks import cut

TRUTH = MarkdownIt("commonmark").enable("strikethrough")
WORD = st.sampled_from(["Parcels", "1.0.0", "and", "`**kwargs`", "(2024-01-02)", "C#"])
PIECE = st.one_of(
    WORD,
    WORD.map(lambda word: f"[{word}](https://example.org/a_(b)?c)"),
    WORD.map(lambda word: f'[{word}](page.md "its title")'),
    WORD.map(lambda word: f"![{word}](picture.png)"),
    st.sampled_from(
        ["**Fixes**", "*much*", "~~old~~", '<a name="x"></a>', "<b>bold</b>", "[![badge](b.svg)](ci.html)"]
    ),
)


def shown(title: str) -> str:
    """What a reader sees of a heading, as markdown-it parses it."""
    (inline,) = TRUTH.parseInline(title)
    parts = [child.content for child in inline.children or () if child.type in ("text", "code_inline", "image")]
    return " ".join("".join(parts).replace("`", "").split())


@given(st.lists(PIECE, min_size=1, max_size=5).map(" ".join))
def test_titles_are_what_is_shown(title: str) -> None:
    assume(shown(title))
    assert plain_title(title).replace("`", "") == shown(title)


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("[1.0.0](https://example.org/compare/v0.9...v1.0.0) (2024-01-02)", "1.0.0 (2024-01-02)"),
        ("Bug **Fixes** <a name='fixes'></a>", "Bug Fixes"),
        ("`**kwargs` and `List<T>`", "`**kwargs` and `List<T>`"),
        ("__init__ and List<T>", "__init__ and List<T>"),
        ("[Unreleased]", "[Unreleased]"),
        ("The `[text](address)` form and [`lift()`](lift.md)", "The `[text](address)` form and `lift()`"),
        ("[![badge](b.svg) Build](ci.html) state", "badge Build state"),
        ("[Tokens][tokens]", "Tokens"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("![](logo.svg)", "![](logo.svg)"),
        ("Props {#props}", "Props {#props}"),
    ],
)
def test_titles_of_all_kinds(title: str, expected: str) -> None:
    assert plain_title(title) == expected


def test_a_section_is_enclosed_by_the_words_of_its_heading() -> None:
    text = f"# [Lifts](lifts.md)\n\n## **Slow** ones\n\n{'word ' * 50}\n"
    assert cut(text, LineKind.MARKDOWN)[-1].heading == "Lifts > Slow ones"


@pytest.mark.parametrize("opening", ["[", "[a](", "<a b='", "*a ", "**a", "![", "`"])
def test_many_openings_take_no_long_time(opening: str) -> None:
    started = time.process_time()
    plain_title(opening * 4_000)
    assert time.process_time() - started < 4
