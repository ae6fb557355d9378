"""AsciiDoc, Org, HTML, RFC style and tables: headings by their rules, blocks whole, breadcrumbs and header rows."""

from __future__ import annotations

import html
import time
from itertools import accumulate

import pytest
from bs4 import BeautifulSoup
from hypothesis import given, settings
from hypothesis import strategies as st

from everfind_core.chunking import TextChunker, asciidoc, html_source, markdown, org, prose, records
from everfind_core.chunking.structure import Structure
from everfind_core.model import Document, LineKind
from everfind_core.ports import ChunkLimits
from tests.support.chunk_checks import WordTokenizer, cut

FILLER = "word " * 30


def titles(structure: Structure) -> list[tuple[int, str]]:
    return [(label.depth, label.text) for label in structure.labels]


def html_structure(text: str) -> Structure:
    lines = text.split("\n")
    return html_source.analyse(lines, text, [0, *accumulate(len(line) + 1 for line in lines)])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("= Document\nAuthor Name\n:toc:\n\n== Section\n\ntext", [(1, "Document"), (2, "Section")]),
        ("== One ==\n\n=== Two", [(2, "One"), (3, "Two")]),
        ("# Markdown style\n\n## Too", [(1, "Markdown style"), (2, "Too")]),
        ("Document\n========\n\nSection\n-------\n\nSub\n~~~\n", [(1, "Document"), (2, "Section"), (3, "Sub")]),
        ("----\n== not\n----\n\n== yes", [(2, "yes")]),
        ("====\n== not\n====\n\n== yes", [(2, "yes")]),
        ("|===\n|a |b\n\n== not\n|===\n== yes", [(2, "yes")]),
        ("a paragraph\n== not a title", []),
        ("[[anchor]]\n[appendix]\n== Title", [(2, "Title")]),
        ("[source,java]\n----\nint x;\n----", []),
        ("----\n== never closed", []),
        ("listing\n----\ncode\n----", []),
    ],
)
def test_asciidoc_headings(text: str, expected: list[tuple[int, str]]) -> None:
    assert titles(asciidoc.analyse(text.split("\n"))) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#+TITLE: x\n* One\n** Two\n*** Three\n* Four", [(1, "One"), (2, "Two"), (3, "Three"), (1, "Four")]),
        ("* TODO [#A] Fix it :work:urgent:\n:PROPERTIES:\n:ID: 1\n:END:\n", [(1, "Fix it")]),
        ("* DONE\n*bold* at the margin\n  * item", [(1, "DONE")]),
        ("#+BEGIN_SRC org\n,* not\n ** not\n#+END_SRC\n* yes", [(1, "yes")]),
    ],
)
def test_org_headings(text: str, expected: list[tuple[int, str]]) -> None:
    assert titles(org.analyse(text.split("\n"))) == expected


def test_an_org_block_stays_whole() -> None:
    block = "#+begin_src sh\n" + "\n\n".join(["echo one two three"] * 6) + "\n#+end_src"
    chunks = cut(
        f"* A\n\n{FILLER}\n\n{block}\n\n{FILLER}", LineKind.PROSE, language="org", limits=ChunkLimits(60, 80, 0)
    )
    assert next(chunk.text for chunk in chunks if "begin_src" in chunk.text).count("echo") == 6


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<h1>One</h1>\n<h2 class='x'>Two &amp; <b>half</b></h2>", [(1, "One"), (2, "Two & half")]),
        ("<h1>\n  Over\n  lines\n</h1>", [(1, "Over lines")]),
        ("<script>\nvar a = '<h1>not</h1>';\n</script>\n<h1>yes</h1>", [(1, "yes")]),
        ("<!-- <h1>not</h1> -->\n<h3>yes</h3>", [(3, "yes")]),
        ("<pre><h1>not</h1></pre>\n<h2></h2>", []),
        ("{% block title %}\n<H2>{{ title }}</H2>\n{% endblock %}", [(2, "{{ title }}")]),
        ("<h1>never closed\n<p>text</p>\n<h2>yes</h2>", [(2, "yes")]),
    ],
)
def test_html_headings(text: str, expected: list[tuple[int, str]]) -> None:
    assert titles(html_structure(text)) == expected


WORDS = st.sampled_from(["Install", "Why & how", "x < y", "naïve", "a b"])
ELEMENTS = st.tuples(st.sampled_from(["h1", "h2", "h3", "h4", "p", "li", "div"]), WORDS, st.booleans())


@settings(deadline=None)
@given(st.lists(ELEMENTS, max_size=12))
def test_html_headings_are_those_of_a_parser(elements: list[tuple[str, str, bool]]) -> None:
    text = "\n".join(
        f"<{tag} id=a>{'<em>' if inside else ''}{html.escape(words)}{'</em>' if inside else ''}</{tag}>"
        for tag, words, inside in elements
    )
    parsed = BeautifulSoup(text, "html.parser").find_all(["h1", "h2", "h3", "h4"])
    assert titles(html_structure(text)) == [(int(tag.name[1]), tag.get_text()) for tag in parsed]


BODY = "\n   ".join(["several words of a body that is indented"] * 6)
RFC = f"""
Internet Engineering Task Force (IETF)                    A. Author
Request for Comments: 9999                             Example Inc.

Abstract

   {BODY}

1.  Introduction

   {BODY}

1.1.  Terms Used Here

   {BODY}

Author                       Standards Track                    [Page 3]
\f
RFC 9999                          Thing                    December 2026

   {BODY}

Appendix A.  More

   {BODY}

A.1.  Inner

   {BODY}
"""


def test_an_rfc_has_its_headings_at_the_margin() -> None:
    assert titles(prose.analyse(RFC.split("\n"))) == [
        (2, "Abstract"),
        (2, "1.  Introduction"),
        (4, "1.1.  Terms Used Here"),
        (2, "Appendix A.  More"),
        (4, "A.1.  Inner"),
    ]
    trails = [chunk.heading for chunk in cut(RFC, LineKind.PROSE, limits=ChunkLimits(40, 60, 0))]
    assert "1.  Introduction > 1.1.  Terms Used Here" in trails
    assert trails[-1] == "Appendix A.  More > A.1.  Inner"


def test_in_a_text_at_the_margin_a_short_line_is_no_heading() -> None:
    text = "\n\n".join(["Dear all", "some words\nof a letter", "Kind regards"] * 3)
    assert titles(prose.analyse(text.split("\n"))) == []


def test_rows_of_a_long_table_know_their_header() -> None:
    rows = "\n".join(f"| setting_{n} | what it does in words, number {n} |" for n in range(40))
    text = f"# Settings\n\n| name | meaning |\n|---|---|\n{rows}\n\nafter the table\n"
    chunks = cut(text, LineKind.MARKDOWN, limits=ChunkLimits(60, 90, 0))
    inside = [chunk for chunk in chunks if chunk.text.startswith("| setting")]
    assert len(inside) > 3
    assert {chunk.context for chunk in inside} == {"Settings > name, meaning"}
    assert "after the table" in chunks[-1].text


def test_a_table_that_fits_stays_whole() -> None:
    table = "| a | b |\n|---|---|\n" + "\n".join(f"| {n} | x |" for n in range(6))
    chunks = cut(f"# T\n\n{FILLER}\n\n{table}\n\n{FILLER}", LineKind.MARKDOWN, limits=ChunkLimits(60, 90, 0))
    assert any(table in chunk.text for chunk in chunks)


@pytest.mark.parametrize(
    ("line", "header"),
    [
        ("name,age,city", "name, age, city"),
        ("name\tage", "name, age"),
        ('"last, first";"the ""age"""', 'last, first, the "age"'),
        ("1,2,3", ""),
        ("only one", ""),
        ("name,,city", ""),
    ],
)
def test_the_header_of_records(line: str, header: str) -> None:
    structure = records.analyse([line, "x,1,2"])
    assert ", ".join(label.text for label in structure.trail_at(1, 0)) == header
    assert structure.trail_at(0, 0) == ()


def test_records_repeat_their_header_and_a_quoted_cell_stays_whole() -> None:
    rows = "\n".join(f'{n},"first line\nsecond line of {n}",note' for n in range(40))
    chunks = cut(f"id,text,remark\n{rows}\n", LineKind.CONFIG, language="csv", limits=ChunkLimits(40, 60, 0))
    assert len(chunks) > 5
    assert {chunk.context for chunk in chunks[1:]} == {"id, text, remark"}
    assert all(chunk.text.endswith(",note") for chunk in chunks)


def test_nested_list_items_stay_with_their_item() -> None:
    item = "- outer words in a row\n    - nested one here\n    - nested two here\n        - deeper still\n"
    chunks = cut(item * 12, LineKind.MARKDOWN, limits=ChunkLimits(60, 80, 0))
    assert len(chunks) > 2
    assert all(chunk.text.startswith("- outer") for chunk in chunks)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- step\n\n  ```sh\n  # not\n  ```\n\n# yes\n", [(1, "yes")]),
        ("1. step\n\n    ```sh\n    # not\n# the item has ended\n", [(1, "the item has ended")]),
        ("- a\n\n  # inside the item\n", []),
    ],
)
def test_headings_beside_list_items(text: str, expected: list[tuple[int, str]]) -> None:
    assert titles(markdown.analyse(text.split("\n"))) == expected


@pytest.mark.parametrize(
    "line",
    ["+ " * 5_000, "<!--", "<pre>", "```py", "| a |\n|---|", "> ", "<h1>", "- x\n", "Title\n===", ".. _a:", "[[a]]"],
)
@pytest.mark.parametrize("language", ["", "restructuredtext", "asciidoc", "org", "html"])
def test_many_openings_take_no_long_time(line: str, language: str) -> None:
    text = "\n".join([line] * (50_000 // len(line)))
    kind = LineKind.PROSE if language else LineKind.MARKDOWN
    started = time.process_time()
    cut(text, kind, language=language, limits=ChunkLimits(160, 254, 0))
    assert time.process_time() - started < 4


CODE = "\n".join(f"value_{n} = compute(first_{n}, second)" for n in range(8))


def test_code_that_would_drown_its_explanation_is_not_embedded() -> None:
    text = f"# Renewal\n\n{FILLER}\n\n```py\n{CODE}\n```\n\nAfter the code.\n"
    (chunk,) = cut(text, LineKind.MARKDOWN, limits=ChunkLimits(300, 400, 0))
    assert chunk.text == text.rstrip("\n")
    assert chunk.embedded_text == f"# Renewal\n\n{FILLER}\n\n\nAfter the code."


@pytest.mark.parametrize(
    "text",
    [f"# A\n\nSee:\n\n```py\n{CODE}\n```\n", f"# A\n\n{FILLER * 8}\n\n```py\n{CODE}\n```\n", f"```py\n{CODE}\n```\n"],
)
def test_code_with_few_words_or_many_is_embedded(text: str) -> None:
    (chunk,) = cut(text, LineKind.MARKDOWN, limits=ChunkLimits(600, 800, 0))
    assert chunk.embedded_text == chunk.text == text.rstrip("\n")


def test_the_code_of_a_notebook_is_embedded() -> None:
    text = f"# Renewal\n\n{FILLER}\n\n```py\n{CODE}\n```"
    document = Document(text, LineKind.MARKDOWN, "python", extracted_from="notebook")
    (chunk,) = TextChunker().chunk(document, WordTokenizer(), ChunkLimits(300, 400, 0))
    assert chunk.embedded_text == text


def test_asciidoc_titles_have_the_values_of_attributes() -> None:
    text = "= The {product} Guide\n:product: Harbour\n:empty:\n\n== Installing {product} on {os}\n"
    assert titles(asciidoc.analyse(text.split("\n"))) == [(1, "The Harbour Guide"), (2, "Installing Harbour on {os}")]


PAGE_BREAK = "\n\n\nLindqvist             Experimental             [Page 1]\n\f\nRFC 8801    Parcels    May 2021\n\n"


def test_what_stands_on_every_page_of_an_rfc_is_not_embedded() -> None:
    text = f"1.  Introduction\n\n   A sentence that goes on{PAGE_BREAK}   on the next page.\n"
    (chunk,) = cut(text, LineKind.PROSE)
    assert chunk.text == text.rstrip("\n")
    assert " ".join(chunk.embedded_text.split()) == "1. Introduction A sentence that goes on on the next page."


def test_a_row_after_a_page_break_is_embedded_where_no_page_ends() -> None:
    text = "1.  Values\n\n   These:\n\f\n   one      two\n"
    (chunk,) = cut(text, LineKind.PROSE)
    assert chunk.embedded_text == chunk.text
