"""PDF: the text of each page as Markdown. Lines come in the order in which the file's maker wrote them.

A PDF knows no paragraphs and headings. A wider gap than between most lines, another size of type, or a step back up the
page (the next column) starts a paragraph; a heading is a line that the outline names, or a short one in larger type.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice, pairwise

import pypdfium2
from pypdfium2 import raw as pdfium

from everfind_core.model import SkipReason
from everfind_core.ports import NotExtractedError
from everfind_indexer.extractors.wire import MAX_TEXT, Extracted

_HYPHEN = re.compile(r"[\x02\ufffe]")
"""What PDFium gives for a hyphen at the end of a line, whose word then goes on without a line end."""

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")

_NUMBER = re.compile(
    r"\s*(?:(?:chapter|section|part|appendix)\s+)?(?:\d+|[A-Z](?=[.\d]))(?:\.\d+)*[.:)]?\s+", re.IGNORECASE
)

Bookmarks = dict[int, dict[str, int]]
"""By page (from 0): titles as :func:`_plain` has them, and their levels from 1."""

_DEEPEST_BOOKMARK = 6
_MOST_BOOKMARKS = 20_000

_LARGER = 1.15
_LONGEST_HEADING = 120
_DEEPEST_HEADING = 3
_WIDE_GAP = 1.35


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a page: its text, where it stands (upwards from the page's bottom), and its type's size, in points."""

    text: str
    bottom: float
    size: float


def read(raw: bytes) -> Extracted:
    """The text of all pages; ``pages`` are their first lines."""
    pages, bookmarks = _contents(raw)
    if not any(pages):
        raise NotExtractedError(SkipReason.NO_TEXT, f"no text on its {len(pages):,} pages; a scan needs OCR first")
    levels = _heading_levels(pages)
    lines: list[str] = []
    starts: list[int] = []
    for number, page in enumerate(pages):
        starts.append(len(lines) + 1)
        lines += _markdown(page, levels, bookmarks.get(number, {}))
        lines.append("")
    return Extracted("\n".join(lines), "pdf", pages=tuple(starts))


def _contents(raw: bytes) -> tuple[list[list[Line]], Bookmarks]:
    try:
        document = pypdfium2.PdfDocument(raw)
    except pypdfium2.PdfiumError as error:
        if error.err_code == pdfium.FPDF_ERR_PASSWORD:
            raise NotExtractedError(SkipReason.ENCRYPTED, "it needs a password") from error
        raise NotExtractedError(SkipReason.EXTRACTION_FAILED, "it is no PDF that can be read") from error
    pages: list[list[Line]] = []
    characters = 0
    for number in range(len(document)):
        pages.append(list(_lines(document, number)))
        characters += sum(len(line.text) for line in pages[-1])
        if characters > MAX_TEXT:
            raise NotExtractedError(SkipReason.TOO_LARGE, f"more than {MAX_TEXT:,} characters of text")
    bookmarks = _bookmarks(document)
    document.close()
    return pages, bookmarks


def _bookmarks(document: pypdfium2.PdfDocument) -> Bookmarks:
    """The outline's titles by page, with their levels."""
    found: Bookmarks = {}
    for bookmark in islice(document.get_toc(max_depth=_DEEPEST_BOOKMARK), _MOST_BOOKMARKS):
        target = bookmark.get_dest()
        page = target.get_index() if target else None
        if page is not None and (title := _plain(bookmark.get_title())):
            found.setdefault(page, {})[title] = bookmark.level + 1
    return found


def _plain(title: str) -> str:
    """A title without its number, case and white space, to compare one in the outline with one on a page."""
    return "".join(_NUMBER.sub("", title, count=1).lower().split())


def _lines(document: pypdfium2.PdfDocument, number: int) -> Iterator[Line]:
    """The lines of a page that are not blank; none if the page is broken."""
    try:
        page = document[number]
        text_page = page.get_textpage()
    except pypdfium2.PdfiumError:
        return
    offset = 0
    for row in text_page.get_text_range().split("\n"):
        written = " ".join(_CONTROL.sub(" ", _HYPHEN.sub("", row)).split())
        if written:
            yield Line(written, *_place(text_page, offset + len(row) - len(row.lstrip())))
        offset += len(row) + 1
    text_page.close()
    page.close()


def _place(text_page: pypdfium2.PdfTextPage, offset: int) -> tuple[float, float]:
    """Bottom and height of the character at ``offset`` of the page's text; its font's, not its own."""
    index = pdfium.FPDFText_GetCharIndexFromTextIndex(text_page, offset)
    if index < 0:
        return 0.0, 0.0
    try:
        _, bottom, _, top = text_page.get_charbox(index, loose=True)
    except pypdfium2.PdfiumError:
        return 0.0, 0.0
    return bottom, round(top - bottom, 1)


def _heading_levels(pages: Sequence[Sequence[Line]]) -> dict[float, int]:
    """The level of each size of type that is larger than that of most of the text."""
    written: Counter[float] = Counter()
    for page in pages:
        for line in page:
            written[line.size] += len(line.text)
    body = written.most_common(1)[0][0]
    larger = sorted((size for size in written if size > _LARGER * body), reverse=True)
    return {size: min(level, _DEEPEST_HEADING) for level, size in enumerate(larger, start=1)}


def _markdown(page: Sequence[Line], levels: dict[float, int], bookmarks: dict[str, int]) -> Iterator[str]:
    """A page's lines, with blank ones between its paragraphs, and marks before its headings."""
    usual = _usual_step(page)
    previous: Line | None = None
    for size, group in groupby(page, key=lambda line: line.size):
        lines = list(group)
        title = " ".join(line.text for line in lines)
        large = size in levels and len(title) <= _LONGEST_HEADING and any(c.isalpha() for c in title)
        for line in [Line(title, lines[-1].bottom, size)] if large else lines:
            level = bookmarks.get(_plain(line.text)) or (levels[size] if large else 0)
            wide = previous is not None and not 0 <= previous.bottom - line.bottom <= _WIDE_GAP * usual
            if previous is not None and (level or wide or previous.size != size):
                yield ""
            yield f"{'#' * level} {line.text}" if level else line.text
            if level:
                yield ""
            previous = None if level else line


def _usual_step(page: Sequence[Line]) -> float:
    """How far most lines of a page stand below the one before."""
    steps = Counter(round(a.bottom - b.bottom, 1) for a, b in pairwise(page) if a.bottom > b.bottom)
    return steps.most_common(1)[0][0] if steps else 0.0
