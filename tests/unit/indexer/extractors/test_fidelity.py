"""What libraries of others write into documents, read back and compared both ways: nothing lost, nothing made up.

The values are made by a fixed seed; the files that such libraries are tested with are read by ``python -m bench
extraction``.
"""

from __future__ import annotations

import datetime as dt
import io
import random
from collections.abc import Iterator, Sequence

import pytest
import xlsxwriter
from docx import Document as Word
from fpdf import FPDF
from pptx import Presentation
from pptx.util import Inches

from everfind_core.model import Document
from everfind_indexer.extractors import Extraction
from tests.support.document_samples import saved

WORDS = ["token", "refresh", "errors", "größe", "naïve", "令牌", "session", "café", "depot", "wagon"]
Table = Sequence[Sequence[str]]


@pytest.fixture(scope="module")
def extraction() -> Iterator[Extraction]:
    with Extraction() as made:
        yield made


def phrase(made: random.Random, latin: bool = False) -> str:
    words = [word for word in WORDS if not latin or word.isascii()]
    return f"{' '.join(made.choices(words, k=made.randint(1, 4)))} {made.randint(100, 9_999)}"


def table_of(made: random.Random, rows: int, columns: int) -> Table:
    return [[phrase(made) for _ in range(columns)] for _ in range(rows)]


def rows_of(document: Document) -> list[list[str]]:
    """The rows of all Markdown tables, without the lines below headers."""
    lines = [line.strip() for line in document.text.split("\n") if line.lstrip().startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in rows if set("".join(row)) - set("-: ")]


def headings_of(document: Document) -> list[str]:
    return [line.lstrip("# ") for line in document.text.split("\n") if line.startswith("#")]


@pytest.mark.parametrize("seed", range(3))
def test_tables_and_headings_of_word(extraction: Extraction, seed: int) -> None:
    made = random.Random(seed)
    written = Word()
    titles, tables = [phrase(made) for _ in range(4)], [table_of(made, 4, 3) for _ in range(4)]
    for level, (title, table) in enumerate(zip(titles, tables, strict=True), start=1):
        written.add_heading(title, level)
        grid = written.add_table(len(table), len(table[0]))
        for row, cells in enumerate(table):
            for column, text in enumerate(cells):
                grid.cell(row, column).text = text
    read = extraction.extract("a.docx", saved(written))
    assert headings_of(read) == titles
    assert rows_of(read) == [list(row) for table in tables for row in table]


@pytest.mark.parametrize("seed", range(3))
def test_slides_are_pages_with_their_titles_and_tables(extraction: Extraction, seed: int) -> None:
    made = random.Random(seed)
    show = Presentation()
    titles, tables = [phrase(made) for _ in range(5)], [table_of(made, 3, 2) for _ in range(5)]
    for title, table in zip(titles, tables, strict=True):
        slide = show.slides.add_slide(show.slide_layouts[5])
        heading = slide.shapes.title
        assert heading is not None
        heading.text = title
        grid = slide.shapes.add_table(3, 2, Inches(1), Inches(2), Inches(6), Inches(1)).table
        for row, cells in enumerate(table):
            for column, text in enumerate(cells):
                grid.cell(row, column).text = text
    read = extraction.extract("a.pptx", saved(show))
    assert headings_of(read) == titles
    assert rows_of(read) == [list(row) for table in tables for row in table]
    assert pages_of(read, titles) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("seed", range(3))
def test_cells_of_every_type_in_sheets(extraction: Extraction, seed: int) -> None:
    made = random.Random(seed)
    names = [f"Sheet {n} {phrase(made, latin=True)}"[:31] for n in range(3)]
    stream = io.BytesIO()
    expected: list[list[str]] = []
    with xlsxwriter.Workbook(stream, {"default_date_format": "yyyy-mm-dd"}) as book:
        for name in names:
            sheet = book.add_worksheet(name)
            sheet.write_row(0, 0, ["Name", "Count", "Price", "Day", "Open"])
            expected.append(["Name", "Count", "Price", "Day", "Open"])
            for row in range(1, 6):
                text, count, price = phrase(made), made.randint(0, 10**6), made.randint(1, 999) / 4
                day, is_open = dt.date(2020, 1, 1) + dt.timedelta(made.randint(0, 3_000)), made.random() < 0.5
                sheet.write_string(row, 0, text)
                sheet.write_number(row, 1, count)
                sheet.write_number(row, 2, price + 0.01)
                sheet.write_datetime(row, 3, dt.datetime.combine(day, dt.time()))
                sheet.write_boolean(row, 4, is_open)
                expected.append([text, str(count), f"{price + 0.01:g}", day.isoformat(), str(is_open).upper()])
    read = extraction.extract("a.xlsx", stream.getvalue())
    assert headings_of(read) == names
    assert rows_of(read) == expected


@pytest.mark.parametrize("seed", range(3))
def test_every_page_of_a_pdf_says_what_was_printed_on_it(extraction: Extraction, seed: int) -> None:
    made = random.Random(seed)
    book = FPDF()
    printed: list[list[str]] = []
    for number in range(1, 6):
        book.add_page()
        book.set_font("Helvetica", size=20)
        book.cell(0, 12, f"Chapter {number}", new_x="LMARGIN", new_y="NEXT")
        book.set_font("Helvetica", size=11)
        cells = [[phrase(made, latin=True) for _ in range(3)] for _ in range(4)]
        with book.table() as table:
            for row in cells:
                table.row(row)
        printed.append([word for row in cells for cell in row for word in cell.split()])
    read = extraction.extract("a.pdf", bytes(book.output()))
    chapters = [f"Chapter {number}" for number in range(1, 6)]
    assert headings_of(read) == chapters
    assert pages_of(read, chapters) == [1, 2, 3, 4, 5]
    lines = read.text.split("\n")
    bounds = [*(start for start in read.page_starts), len(lines) + 1]
    for number, words in enumerate(printed):
        page = " ".join(lines[bounds[number] - 1 : bounds[number + 1] - 1]).replace("|", " ").split()
        assert sorted(word for word in page if word not in ("#", "Chapter", str(number + 1))) == sorted(words)


def pages_of(document: Document, titles: Sequence[str]) -> list[int]:
    """The page, from 1, that each title stands on."""
    lines = document.text.split("\n")
    places = [next(n for n, line in enumerate(lines, start=1) if line.lstrip("# ") == title) for title in titles]
    return [sum(start <= place for start in document.page_starts) for place in places]
