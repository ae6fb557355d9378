"""Text of real documents, against a second reading of the same files by nothing but zip and regular expressions.

The documents are those that python-docx and python-pptx are tested with; pip downloads the packages' sources. PDFs are
those of pypdf, against what pypdf itself reads on each page. The book is what Sphinx makes of everfind's own pages.
"""

from __future__ import annotations

import html
import io
import logging
import re
import subprocess
import sys
import tarfile
import tempfile
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path

from pypdf import PdfReader
from pypdf.errors import PyPdfError

from bench.figures import Figure
from everfind_core.ports import NotExtractedError
from everfind_indexer.extractors import Extraction

SOURCES = ("python-docx==1.2.0", "python-pptx==1.0.2")
PDF_SOURCES = ("pypdf==7.1.1",)

_PARTS = {  # what is read of a file, and how a run, a paragraph, a table's cell and a heading are marked there
    ".docx": (r"word/document\.xml", "w:t", "w:p", "w:tc", r'<w:pStyle w:val="Heading\d"/>'),
    ".pptx": (r"ppt/slides/slide\d+\.xml", "a:t", "a:p", "a:tc", r'<p:ph type="(?:title|ctrTitle)"'),
}
_ROOT = Path(__file__).resolve().parents[1]
_WORD = re.compile(r"\w+")
_LETTERS = re.compile(r"[^\W\d_][^\W_]*")  # no number that Markdown gives to a list
_UNSEEN = re.compile(r"<(script|style|nav)\b.*?</\1>|<!--.*?-->", re.DOTALL)
_PICTURE = re.compile(r'<img\b[^>]*\balt="([^"]*)"[^>]*>')
_INLINE = re.compile(r"</?(?:a|b|i|em|strong|span|code|sup|sub|cite|kbd|q)\b[^>]*>")
_BREAK = re.compile(r"<[aw]:(?:tab|br|cr)\b[^>]*>")  # what stands between two runs and parts their words


def measure(*, quick: bool) -> Iterator[Figure]:
    """The share of words, table cells and headings of the files that stand in the text that is indexed."""
    found: dict[str, list[bool]] = {}
    read = refused = 0
    with tempfile.TemporaryDirectory() as directory, Extraction() as extraction:
        for name, raw in _documents(Path(directory), SOURCES[:1] if quick else SOURCES):
            expected = _second_reading(name, raw)
            if expected is None:
                continue
            try:
                text = extraction.extract(name, raw).text
            except NotExtractedError:
                refused += any(expected.values())
                continue
            read += 1
            for kind, pieces in expected.items():
                found.setdefault(kind, []).extend(_stands(kind, piece, text) for piece in pieces)
        yield from _book(Path(directory), extraction)
        if not quick:
            yield from _pdfs(Path(directory) / "pdf", extraction)
    yield Figure("documents read", read, "")
    yield Figure("documents refused although they hold text", refused, "")
    for kind, present in found.items():
        yield Figure(f"{kind} found, of {len(present)}", sum(present) / len(present), "")


def _book(directory: Path, extraction: Extraction) -> Iterator[Figure]:
    """Words of a book that are lost, and words that are in none of its chapters."""
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "epub", "-c", "docs", "."]
    subprocess.run([*command, str(directory / "book")], cwd=_ROOT, check=True, capture_output=True)
    raw = next((directory / "book").glob("*.epub")).read_bytes()
    expected = Counter(_chapters(raw))
    read = Counter(_LETTERS.findall(extraction.extract("a.epub", raw).text.replace("`", "")))
    yield Figure("words of a book", expected.total(), "")
    yield Figure("of them lost", (expected - read).total(), "", note=str(dict((expected - read).most_common(3)) or ""))
    yield Figure("made up", (read - expected).total(), "", note=str(dict((read - expected).most_common(3)) or ""))


def _chapters(raw: bytes) -> Iterator[str]:
    """The words of a book's chapters."""
    with zipfile.ZipFile(io.BytesIO(raw)) as package:
        contents = package.read("content.opf").decode()
        items = re.findall(r"<item [^>]*>", contents)
        files = {re.findall(r' id="([^"]*)"', item)[0]: re.findall(r'href="([^"]*)"', item)[0] for item in items}
        for name in re.findall(r'<itemref idref="([^"]*)"', contents):
            if name in files:
                body = package.read(files[name]).decode().partition("<body")[2].partition(">")[2]
                text = _INLINE.sub("", _PICTURE.sub(r" \1 ", _UNSEEN.sub("", body)))
                yield from _LETTERS.findall(html.unescape(re.sub(r"<[^>]+>", " ", text)))


def _pdfs(directory: Path, extraction: Extraction) -> Iterator[Figure]:
    """The words that pypdf reads on a page, and those of them that everfind shows on the same page."""
    files = pages = 0
    lost: Counter[str] = Counter()
    expected: Counter[str] = Counter()
    read: Counter[str] = Counter()
    for name, raw in _documents(directory, PDF_SOURCES, frozenset({".pdf"})):
        theirs = _pages_by_pypdf(raw)
        ours = _pages_by_everfind(extraction, name, raw)
        if not any(theirs):
            continue
        files += 1
        pages += len(theirs)
        for number, words in enumerate(theirs):
            expected += words
            shown = ours[number] if number < len(ours) else Counter()
            read += shown
            lost += words - shown
    yield Figure("PDFs with text", files, "", note=f"{pages} pages")
    yield Figure(f"words on their page, of {expected.total()}", 1 - lost.total() / expected.total(), "")
    yield Figure("words of everfind's that pypdf has on no page", (read - expected).total() / read.total(), "")


def _pages_by_pypdf(raw: bytes) -> list[Counter[str]]:
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        return [_words_of(page.extract_text()) for page in PdfReader(io.BytesIO(raw)).pages]
    except PyPdfError:
        return []


def _pages_by_everfind(extraction: Extraction, name: str, raw: bytes) -> list[Counter[str]]:
    try:
        document = extraction.extract(name, raw)
    except NotExtractedError:
        return []
    lines = document.text.split("\n")
    starts = [start - 1 for start in document.page_starts]
    return [_words_of("\n".join(lines[a:b])) for a, b in zip(starts, [*starts[1:], len(lines)], strict=True)]


def _words_of(page: str) -> Counter[str]:
    return Counter(_WORD.findall(unicodedata.normalize("NFKC", page)))


def _documents(
    directory: Path, sources: tuple[str, ...], suffixes: Collection[str] = frozenset(_PARTS)
) -> Iterator[tuple[str, bytes]]:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
    subprocess.run([*command, "--dest", str(directory), *sources], check=True)
    for archive in sorted(directory.glob("*.tar.gz")):
        with tarfile.open(archive) as members:
            for member in members:
                content = members.extractfile(member) if Path(member.name).suffix in suffixes else None
                if content is not None:
                    yield member.name, content.read()


def _second_reading(name: str, raw: bytes) -> dict[str, list[str]] | None:
    """Words, the text of each cell and of each heading; None for what is no whole file of its kind."""
    part, run, paragraph, cell, heading = _PARTS[Path(name).suffix]
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as package:
            names = [entry for entry in package.namelist() if re.fullmatch(part, entry)]
            body = "\n".join(package.read(entry).decode() for entry in names)
    except (zipfile.BadZipFile, UnicodeDecodeError):
        return None
    block = "p:sp" if cell == "a:tc" else paragraph
    headed = [text for text in re.findall(rf"<{block}[ >].*?</{block}>", body, re.DOTALL) if re.search(heading, text)]
    cells = re.findall(rf"<{cell}[ >].*?</{cell}>", body, re.DOTALL)
    return {
        "words": [word for text in _texts(body, run, paragraph) for word in _WORD.findall(text)],
        "cells": [text for one in cells if (text := " ".join(_texts(one, run, paragraph)).strip())],
        "headings": [text for one in headed if (text := " ".join(_texts(one, run, paragraph)).strip())],
    }


def _texts(xml: str, run: str, paragraph: str) -> list[str]:
    """The text of each paragraph, its runs joined."""
    spaced = _BREAK.sub(f"<{run}> </{run}>", xml)
    paragraphs = re.findall(rf"<{paragraph}[ >].*?</{paragraph}>", spaced, re.DOTALL)
    return ["".join(html.unescape(t) for t in re.findall(rf"<{run}(?: [^>]*)?>([^<]*)<", one)) for one in paragraphs]


def _stands(kind: str, piece: str, text: str) -> bool:
    """Whether ``piece`` is in ``text``: a cell in a row of a table, a heading in a heading."""
    words = _WORD.findall(piece)
    if kind == "words":
        return piece in text
    mark = "|" if kind == "cells" else "#"
    rows = (line for line in text.split("\n") if line.startswith(mark))
    return any(all(word in row for word in words) for row in rows)
