"""Files that openpyxl and pypdf are tested with (``data``, with their licences), as these libraries read them.

everfind reads them with others: calamine and PDFium. More of pypdf's are read by ``python -m bench extraction``.
"""

from __future__ import annotations

import datetime as dt
import io
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import openpyxl
import pytest
from pypdf import PdfReader

from everfind_core.model import Document, SkipReason
from everfind_core.ports import NotExtractedError
from everfind_indexer.extractors import Extraction

DATA = Path(__file__).parent / "data"
SHEETS = sorted((DATA / "openpyxl").glob("*.xlsx"))
PAGES = [
    DATA / "pypdf" / f"{name}.pdf"
    for name in ("Sample_Td-matrix", "multilang", "pdflatex-outline", "r4-owner-password", "r5-owner-password")
]
BORDER = re.compile(r"(?<!\\)\|")


@pytest.fixture(scope="module")
def extraction() -> Iterator[Extraction]:
    with Extraction() as made:
        yield made


def shown(value: object) -> str:
    """A cell's value as a spreadsheet shows it."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return f"{value:.15g}"
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        return value.date().isoformat()
    return " ".join(str(value).split()) if value is not None else ""


def sheets_of(document: Document) -> dict[str, list[list[str]]]:
    """The filled cells of each row, by sheet."""
    sheets: dict[str, list[list[str]]] = {}
    rows: list[list[str]] = []
    for line in document.text.split("\n"):
        if line.startswith("# "):
            sheets[line[2:]] = rows = []
        elif line.strip("|- "):
            cells = BORDER.split(line.strip()[1:-1]) if line.startswith("|") else [line]
            rows.append([cell.strip() for cell in cells if cell.strip()])
    return sheets


@pytest.mark.filterwarnings("ignore::UserWarning:openpyxl")  # of parts that are no cells
@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.stem)
def test_cells_are_those_that_openpyxl_reads(extraction: Extraction, path: Path) -> None:
    book = openpyxl.load_workbook(io.BytesIO(path.read_bytes()), data_only=True)
    expected = {
        sheet.title: [cells for row in sheet.values if (cells := [shown(value) for value in row if shown(value)])]
        for sheet in book.worksheets
    }
    assert sheets_of(extraction.extract(path.name, path.read_bytes())) == {
        name: rows for name, rows in expected.items() if rows
    }


def pages_of(document: Document) -> list[str]:
    lines = document.text.split("\n")
    starts = [start - 1 for start in document.page_starts]
    return ["\n".join(lines[start:end]) for start, end in zip(starts, [*starts[1:], len(lines)], strict=True)]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_pages_say_what_pypdf_reads_on_them(extraction: Extraction, path: Path) -> None:
    pages = pages_of(extraction.extract(path.name, path.read_bytes()))
    read = [Counter(re.findall(r"\w+", page)) for page in pages]
    assert read == [Counter(re.findall(r"\w+", page.extract_text())) for page in PdfReader(path).pages]


def test_titles_of_an_outline_are_headings(extraction: Extraction) -> None:
    path = DATA / "pypdf" / "pdflatex-outline.pdf"
    text = extraction.extract(path.name, path.read_bytes()).text
    titles = [" ".join(str(title.title).split()) for title in PdfReader(path).outline if not isinstance(title, list)]
    headings = [re.sub(r"^#+ (?:[\d.]+ )?", "", line) for line in text.split("\n") if line.startswith("#")]
    assert titles
    assert [title for title in titles if title not in headings] == []


@pytest.mark.parametrize(
    ("name", "reason"),
    [("imagemagick-lzw", SkipReason.NO_TEXT), ("r4-user-password", SkipReason.ENCRYPTED)],
)
def test_what_nobody_can_read_says_why(extraction: Extraction, name: str, reason: SkipReason) -> None:
    path = DATA / "pypdf" / f"{name}.pdf"
    with pytest.raises(NotExtractedError) as refused:
        extraction.extract(path.name, path.read_bytes())
    assert refused.value.reason is reason
