"""Pages, books, Word documents and notebooks against a second reading of the same bytes: no word lost, none made up,
and all in their order. Pages and books are read again by lxml, Word documents by python-docx, notebooks as JSON."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from functools import partial
from io import BytesIO

import pytest
from docx import Document as Word
from docx.table import Table
from lxml import html  # pyright: ignore[reportAttributeAccessIssue] - compiled, and has no stubs

from everfind_indexer.extractors import Extraction
from tests.support.document_samples import saved, zipped

SEEDS = range(4)
_WORD = re.compile(r"[^\W\d_][^\W_]*")
"""Begins with a letter, so that the numbers which Markdown gives to lists are none."""


@pytest.fixture(scope="module")
def extraction() -> Iterator[Extraction]:
    with Extraction() as made:
        yield made


class Words:
    """Words that occur once each, so that a lost, doubled or moved one shows."""

    def __init__(self, seed: int) -> None:
        self.made = random.Random(seed)
        self.given = 0

    def some(self, most: int = 5) -> str:
        words = []
        for _ in range(self.made.randint(1, most)):
            self.given += 1
            words.append(f"{self.made.choice(('token', 'größe', 'naïve', 'wagon', 'café'))}{self.given}x")
        return " ".join(words)


def inline(words: Words, depth: int = 0) -> str:
    """Text with tags that part no word, and with characters that Markdown or HTML could trip over."""
    made = words.made
    if depth > 2 or made.random() < 0.4:
        return made.choice(("{}", "{} &amp; ", "{}&nbsp;", "{} * ", "{}_", "{} &lt;", "{}, ")).format(words.some())
    tag = made.choice(("b", "em", "a", "code", "span", "sup", "q", "mark"))
    inner = f" {inline(words, depth + 1)} {inline(words, depth + 1)} "
    return f"{words.some()} <{tag}>{inner}</{tag}> {words.some()}"


def listed(words: Words, depth: int = 0) -> str:
    tag = words.made.choice(("ul", "ol"))
    items = [f"<li>{inline(words)}{listed(words, depth + 1) if depth < 2 and words.made.random() < 0.4 else ''}</li>"
             for _ in range(words.made.randint(1, 4))]  # fmt: skip
    return f"<{tag}>{''.join(items)}</{tag}>"


def table(words: Words) -> str:
    columns = words.made.randint(1, 4)
    head = "".join(f"<th>{inline(words)}</th>" for _ in range(columns))
    rows = ["".join(f"<td>{inline(words)}</td>" for _ in range(columns)) for _ in range(words.made.randint(1, 4))]
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(f'<tr>{row}</tr>' for row in rows)}</tbody></table>"


def block(words: Words) -> str:
    made = words.made
    kinds: dict[str, Callable[[], str]] = {
        "heading": lambda: f"<h{made.randint(1, 6)}>{inline(words)}</h1>",
        "paragraph": lambda: f"<p>{inline(words)}<br/>{inline(words)}</p>",
        "list": partial(listed, words),
        "table": partial(table, words),
        "quote": lambda: f"<blockquote><p>{inline(words)}</p><p>{inline(words)}</p></blockquote>",
        "code": lambda: f"<pre><code>if {words.some()} &lt; {words.some()}:\n    {words.some()}\n</code></pre>",
        "terms": lambda: f"<dl><dt>{inline(words)}</dt><dd>{inline(words)}</dd></dl>",
        "section": lambda: f"<section><div>{inline(words)}</div><article>{inline(words)}</article></section>",
        "figure": lambda: f"<figure><figcaption>{inline(words)}</figcaption></figure>",
        "unseen": lambda: "<script>lost()</script><style>lost {}</style><!-- lost --><template>lost</template>",
    }
    text = kinds[made.choice(list(kinds))]()
    return re.sub(r"<h(\d)>(.*)</h1>", r"<h\1>\2</h\1>", text)


def body(words: Words) -> str:
    return "".join(block(words) for _ in range(12)) + f"<p>{words.some()}</p>"


def words_of(text: str) -> list[str]:
    return _WORD.findall(text)


def second_reading(source: str) -> list[str]:
    """The words of a page's body, by lxml."""
    tree = html.fromstring(f"<html><body>{source}</body></html>")
    for unseen in tree.xpath("//script | //style | //template | //comment()"):
        unseen.drop_tree()
    for part in tree.iter():
        part.tail = f" {part.tail}" if part.tag in ("br", "td", "th", "li", "p") and part.tail else part.tail
    return words_of(" ".join(tree.itertext()))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_page_has_the_words_of_its_source_in_their_order(extraction: Extraction, seed: int) -> None:
    source = body(Words(seed))
    page = f"<!doctype html><html><head><meta charset='utf-8'></head><body>{source}</body></html>"
    expected = second_reading(source)
    assert len(set(expected)) > 50
    assert words_of(extraction.extract("a.html", page.encode()).text) == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_a_book_has_the_words_of_its_chapters_in_reading_order(extraction: Extraction, seed: int) -> None:
    words = Words(seed)
    chapters = [body(words) for _ in range(4)]
    names = [f"c{n}.xhtml" for n in range(len(chapters))]
    shuffled = words.made.sample(names, len(names))
    items = "".join(f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in shuffled)
    spine = "".join(f'<itemref idref="{name}"/>' for name in names)
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata/><manifest>'
        f"{items}</manifest><spine>{spine}</spine></package>"
    )
    container = '<container><rootfiles><rootfile full-path="book.opf"/></rootfiles></container>'
    written: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip", "META-INF/container.xml": container, "book.opf": package,
    }  # fmt: skip
    for name, source in zip(names, chapters, strict=True):
        written[name] = f"<html><head><title>lost</title></head><body>{source}</body></html>".encode()
    expected = [word for source in chapters for word in second_reading(source)]
    assert words_of(extraction.extract("a.epub", zipped(written)).text) == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_a_word_document_has_the_words_of_its_paragraphs_and_cells(extraction: Extraction, seed: int) -> None:
    words = Words(seed)
    written = Word()
    for _ in range(20):
        style = words.made.choice(("Normal", "List Bullet", "List Number", "Quote", "Heading 1", "Heading 3", "table"))
        if style == "table":
            grid = written.add_table(2, 3)
            for cell in (cell for row in grid.rows for cell in row.cells):
                cell.text = words.some()
            continue
        paragraph = written.add_paragraph(style=style)
        for run in words.some(8).split(" "):  # a run may end within a word
            half = len(run) // 2
            paragraph.add_run(run[:half]).bold = words.made.random() < 0.3
            paragraph.add_run(run[half:]).italic = words.made.random() < 0.3
            paragraph.add_run(" ")
    raw = saved(written)
    expected = [
        word
        for part in Word(BytesIO(raw)).iter_inner_content()
        for text in ([c.text for r in part.rows for c in r.cells] if isinstance(part, Table) else [part.text])
        for word in words_of(text)
    ]
    assert words_of(extraction.extract("a.docx", raw).text.replace("*", "")) == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_a_notebook_has_the_lines_of_its_cells_and_nothing_of_its_outputs(extraction: Extraction, seed: int) -> None:
    words = Words(seed)
    cells: list[dict[str, object]] = []
    sources: list[str] = []
    for _ in range(12):
        lines = [f"{words.some()}\n" for _ in range(words.made.randint(1, 5))]
        sources.append("".join(lines))
        lost = [{"output_type": "stream", "text": "lost"}]
        cells.append(
            {
                "cell_type": words.made.choice(("code", "markdown", "raw")),
                "source": lines if words.made.random() < 0.5 else "".join(lines),
                "metadata": {"tags": ["lost"]},
                "outputs": lost,
            }
        )
    raw = json.dumps({"cells": cells, "metadata": {"kernelspec": {"language": "python"}}, "nbformat": 4}).encode()
    text = extraction.extract("a.ipynb", raw).text
    assert [line for line in text.split("\n") if line and not line.startswith("```")] == [
        line for source in sources for line in source.splitlines()
    ]
