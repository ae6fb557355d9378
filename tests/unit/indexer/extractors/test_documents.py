"""PDF, Office, EPUB, mail and HTML: their text, and files that are broken, locked, hostile or misnamed."""

from __future__ import annotations

import io
import json
import signal
import sys
import time
import zipfile
from collections.abc import Iterator

import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from everfind_core.model import Document, LineKind, SkipReason
from everfind_core.ports import NotExtractedError
from everfind_indexer.extractors import Extraction
from everfind_indexer.extractors.formats import ENCRYPTED_PACKAGE, OLE, Format
from everfind_indexer.extractors.worker import DocumentReader
from tests.support import document_samples as samples


@pytest.fixture(scope="module")
def extraction() -> Iterator[Extraction]:
    with Extraction() as shared:
        yield shared


def refused(extraction: Extraction, path: str, raw: bytes) -> tuple[SkipReason, str]:
    with pytest.raises(NotExtractedError) as caught:
        extraction.extract(path, raw)
    return caught.value.reason, caught.value.message


def lines_of(document: Document) -> list[str]:
    assert document.kind is LineKind.MARKDOWN
    return document.text.split("\n")


# --- fidelity ---------------------------------------------------------------------------------------------------------


def test_a_pdf_has_pages_headings_and_paragraphs(extraction: Extraction) -> None:
    document = extraction.extract("a.pdf", samples.pdf(3))
    lines = lines_of(document)
    assert [lines[start - 1] for start in document.page_starts] == ["# Chapter 1", "# Chapter 2", "# Chapter 3"]
    second = " ".join(lines[document.page_starts[1] : document.page_starts[2] - 1])
    assert f"First paragraph of page 2. {samples.PARAGRAPH}" in second
    starts = [n for n, line in enumerate(lines) if line.startswith(("First", "Second"))]
    assert len(starts) == 6
    assert all(lines[n - 1] == "" for n in starts)
    assert (document.language, document.extracted_from) == ("pdf", "pdf")


def test_headings_that_the_outline_of_a_pdf_names(extraction: Extraction) -> None:
    lines = lines_of(extraction.extract("a.pdf", samples.outlined()))
    assert [line for line in lines if line.startswith("#")] == ["# 1. Refreshing", "## 2. Errors", "# 3. Signing out"]


def test_two_columns_are_read_one_after_the_other(extraction: Extraction) -> None:
    lines = lines_of(extraction.extract("a.pdf", samples.two_columns()))
    numbers = [int(line.split()[2]) for line in lines if line.startswith("sentence number")]
    assert numbers == sorted(numbers)
    assert len(numbers) == 140


def test_a_word_document(extraction: Extraction) -> None:
    assert extraction.extract("a.docx", samples.word()).text == (
        f"# Session handbook\n\n# Refreshing\n\n{samples.PARAGRAPH}\n\n## Errors\n\n"
        "- expired token\n- revoked token\n\n"
        "| Code | Meaning |\n| --- | --- |\n| 401 | expired \\| revoked |\n| 403 | not allowed |\n\nThe last words.\n"
    )


def test_a_footnote_is_kept(extraction: Extraction) -> None:
    text = extraction.extract("a.docx", samples.with_footnote()).text
    assert "Said in the text.[1]" in text
    assert "1. Said in the margin." in text


def test_slides_are_pages(extraction: Extraction) -> None:
    document = extraction.extract("a.pptx", samples.slides())
    assert document.text == (
        "# Plan\n\n- measure first\n  - then change\n\nNotes:\nMention the outage.\n\n"
        "# Costs\n\n| Part | Price |\n| --- | --- |\n| Disk | 12 |\n"
    )
    assert document.page_starts == (1, 9)


def test_sheets_are_tables_under_their_names(extraction: Extraction) -> None:
    document = extraction.extract("a.xlsx", samples.sheets())
    assert document.text == (
        "# Prices 2026\n\n| Item | Price | Remark |\n| --- | --- | --- |\n"
        "| Bolt M0 | 2.5 | made of steel \\| zinc |\n| Bolt M1 | 3.5 | made of steel \\| zinc |\n"
    )


def test_a_book_in_reading_order(extraction: Extraction) -> None:
    text = extraction.extract("a.epub", samples.book()).text
    assert text == "# The Book\n\n## Beginning\n\nIt began.\n\n## End\n\nIt ended.\n"


def test_mail_with_what_is_attached(extraction: Extraction) -> None:
    assert extraction.extract("a.eml", samples.mail()).text == (
        "# Re: Größe des Ausfalls\n\nFrom: Ann <ann@example.org>\nTo: Bob <bob@example.org>\n"
        "Date: Mon, 02 Nov 2026 10:00:00 +0000\n\nIt is mended.\nSee below.\n\n"
        "## The first report\n\n\nSomething broke.\n\nAttached: log.pdf\n"
    )


def test_a_page_without_its_scripts(extraction: Extraction) -> None:
    document = extraction.extract("a.html", samples.PAGE)
    assert document.text == (
        "# Handbook\n\n## Install it\n\nRead snake_case_name & go.\n\n- one\n  - inner\n- two\n\n"
        "| Key | Value |\n| --- | --- |\n| port | 80 \\| 443 |\n\n```\nx = 1\n  y = 2\n```\n"
    )
    assert (document.language, document.extracted_from) == ("html", "html")


@pytest.mark.parametrize(
    "source",
    [
        "<h1>a fragment</h1>\n",
        "<!doctype html><html>{% block body %}<h1>x</h1>{% endblock %}</html>\n",
        "<!doctype html><html><body><div id=app></div><script src=main.js></script></body></html>\n",
    ],
)
def test_templates_fragments_and_empty_pages_are_source(extraction: Extraction, source: str) -> None:
    document = extraction.extract("a.html", source.encode())
    assert (document.text, document.kind, document.extracted_from) == (source, LineKind.PROSE, "")


def notebook(output: str) -> bytes:
    code = {"cell_type": "code", "source": "x = load()", "outputs": [{"data": {"image/png": output}}]}
    words = {"cell_type": "markdown", "source": "# Loading\n\nIt loads."}
    return json.dumps({"cells": [words, code], "metadata": {"kernelspec": {"language": "R"}}}).encode()


def test_a_notebook_of_many_outputs_is_read_like_a_small_one(extraction: Extraction) -> None:
    large = extraction.extract("a.ipynb", notebook("A" * 3_000_000))
    assert large == extraction.extract("a.ipynb", notebook("A"))
    assert large.text == "# Loading\n\nIt loads.\n\n```r\nx = load()\n```\n"
    assert (large.language, large.extracted_from) == ("r", "notebook")
    assert refused(extraction, "a.ipynb", b"{" + b" " * 600_000)[0] is SkipReason.EXTRACTION_FAILED


# --- names that say something else ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "language"), [("report", "pdf"), ("a.docx", "pdf"), ("a.txt", "pdf"), ("a.html", "pdf")]
)
def test_a_pdf_under_another_name(extraction: Extraction, path: str, language: str) -> None:
    assert extraction.extract(path, samples.pdf(1)).language == language


def test_an_office_document_under_another_name(extraction: Extraction) -> None:
    assert extraction.extract("a.docx", samples.sheets()).text.startswith("# Prices 2026")
    assert extraction.extract("a.xls", samples.sheets()).text.startswith("# Prices 2026")
    assert extraction.extract("a.xlsx", samples.word()).text.startswith("# Session handbook")


def test_text_under_a_documents_name_is_text(extraction: Extraction) -> None:
    document = extraction.extract("a.pdf", b"Only words.\n")
    assert (document.text, document.extracted_from) == ("Only words.\n", "")


# --- files without text -----------------------------------------------------------------------------------------------

OLD_WORD = OLE + b"\0" * 600
LOCKED = OLE + b"\0" * 600 + ENCRYPTED_PACKAGE
ENTITIES = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaaaaaaaa">' + "".join(
    f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 20}">' for n in range(9)
)


def bomb(member: str, size: int) -> bytes:
    """A package that unpacks to ``size`` bytes of one member."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as package, package.open(member, "w") as out:
        for _ in range(size >> 20):
            out.write(b" " * (1 << 20))
    return stream.getvalue()


def entity_bomb() -> bytes:
    with zipfile.ZipFile(io.BytesIO(samples.word())) as package:
        members: dict[str, str | bytes] = {name: package.read(name) for name in package.namelist()}
    body = str(members["word/document.xml"], "utf-8") if isinstance(members["word/document.xml"], bytes) else ""
    declaration, rest = body.split("?>", 1)
    members["word/document.xml"] = f"{declaration}?>{ENTITIES}]>{rest.replace('The last words.', '&j;')}"
    return samples.zipped(members)


@pytest.mark.parametrize(
    ("path", "raw", "reason", "says"),
    [
        ("a.pdf", samples.scan(), SkipReason.NO_TEXT, "no text on its 2 pages"),
        ("a.pdf", samples.pdf(1, password="secret"), SkipReason.ENCRYPTED, "password"),
        ("a.docx", LOCKED, SkipReason.ENCRYPTED, "password"),
        ("a.xlsx", LOCKED, SkipReason.ENCRYPTED, "password"),
        ("a.docx", OLD_WORD, SkipReason.EXTRACTION_FAILED, "before 2007"),
        ("a.pdf", b"%PDF-1.7\nnothing more", SkipReason.EXTRACTION_FAILED, "no PDF"),
        ("a.pdf", b"\x89PNG\r\n\x1a\n\0\0", SkipReason.EXTRACTION_FAILED, "not what its name says"),
        ("a.docx", samples.word()[:2_000], SkipReason.EXTRACTION_FAILED, "broken"),
        ("a.docx", samples.zipped({"notes.txt": "x"}), SkipReason.EXTRACTION_FAILED, "no document"),
        ("a.xls", OLE + b"\1" * 700, SkipReason.EXTRACTION_FAILED, ""),
        ("a.eml", b"no headers at all", SkipReason.EXTRACTION_FAILED, "no mail"),
        (
            "a.xlsx",
            samples.zipped({"xl/workbook.xml": "<x/>"}),
            SkipReason.EXTRACTION_FAILED,
            "",
        ),
        ("a.docx", bomb("word/document.xml", 320 << 20), SkipReason.OVER_LIMIT, "unpacks to more than"),
        ("a.docx", entity_bomb(), SkipReason.EXTRACTION_FAILED, "amplification"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_read_says_why(
    extraction: Extraction, path: str, raw: bytes, reason: SkipReason, says: str
) -> None:
    found, message = refused(extraction, path, raw)
    assert (found, says in message) == (reason, True), (found, message)
    assert "Chapter 1" in extraction.extract("after.pdf", samples.pdf(1)).text


@pytest.mark.slow
def test_memory_is_bounded(extraction: Extraction) -> None:
    raw = samples.zipped({"mimetype": "application/epub+zip", **_one_chapter(b"<p>" + b"word " * 56_000_000)})
    reason, message = refused(extraction, "a.epub", raw)
    assert reason is SkipReason.OVER_LIMIT, message
    assert "Chapter 1" in extraction.extract("after.pdf", samples.pdf(1)).text


def _one_chapter(page: bytes) -> dict[str, str | bytes]:
    return {
        "META-INF/container.xml": '<container><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>',
        "b.opf": '<package><manifest><item id="a" href="a.html" media-type="text/html"/></manifest>'
        '<spine><itemref idref="a"/></spine></package>',
        "a.html": page,
    }


def ten_thousand_pages() -> bytes:
    """A PDF of 10,000 pages that share one text."""
    count = 10_000
    stream = b"BT /F1 12 Tf 72 720 Td (The same words) Tj ET"
    kids = " ".join(f"{n} 0 R" for n in range(5, 5 + count))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {count} /Kids [{kids}] >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
    ]
    fonts = b"<< /Font << /F1 3 0 R >> >>"
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources %s >>" % fonts
    objects += [page] * count
    out = bytearray(b"%PDF-1.4\n")
    offsets = []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, start)
    return bytes(out)


@pytest.mark.slow
def test_ten_thousand_pages_are_read_or_refused_in_bounded_time(extraction: Extraction) -> None:
    raw = ten_thousand_pages()
    document = extraction.extract("a.pdf", raw)
    assert len(document.page_starts) == 10_000
    with DocumentReader(seconds=0.2) as hurried, pytest.raises(NotExtractedError) as caught:
        hurried.read(Format.PDF, raw)
    assert caught.value.reason is SkipReason.OVER_LIMIT


VALID = st.sampled_from(
    [
        ("a.pdf", samples.pdf(1)),
        ("a.docx", samples.word()),
        ("a.pptx", samples.slides()),
        ("a.xlsx", samples.sheets()),
        ("a.epub", samples.book()),
        ("a.eml", samples.mail()),
        ("a.html", samples.PAGE),
    ]
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(VALID, st.lists(st.tuples(st.floats(0, 1), st.binary(max_size=8)), max_size=4), st.floats(0, 1))
def test_damage_ends_in_a_document_or_a_reason(
    extraction: Extraction, sample: tuple[str, bytes], damage: list[tuple[float, bytes]], keep: float
) -> None:
    path, valid = sample
    raw = bytearray(valid[: max(1, int(keep * 2 * len(valid)))])
    for place, junk in damage:
        at = int(place * len(raw))
        raw[at : at + len(junk)] = junk
    reason: SkipReason | None = None
    try:
        extraction.extract(path, bytes(raw))
    except NotExtractedError as error:
        reason = error.reason
    assert reason in {None, *(SkipReason(r) for r in ("extraction_failed", "no_text", "encrypted", "over_limit"))}


# --- the process ------------------------------------------------------------------------------------------------------


def children() -> list[psutil.Process]:
    return [p for p in psutil.Process().children() if "everfind_indexer.extractors.child" in p.cmdline()]


def test_text_starts_no_process_and_documents_share_one() -> None:
    before = children()
    with Extraction() as own:
        own.extract("a.py", b"x = 1\n")
        own.extract("a.ipynb", b'{"cells": [{"cell_type": "markdown", "source": "words"}]}')
        assert children() == before
        own.extract("a.pdf", samples.pdf(1))
        started = [p for p in children() if p not in before]
        own.extract("a.docx", samples.word())
        assert [p for p in children() if p not in before] == started
        assert len(started) == 1
    assert not started[0].is_running()


def test_a_process_that_was_killed_is_replaced(extraction: Extraction) -> None:
    with Extraction() as own:
        before = children()
        own.extract("a.eml", samples.mail())
        victim = next(p for p in children() if p not in before)
        victim.send_signal(signal.SIGKILL)
        victim.wait(30)
        assert "mended" in own.extract("a.eml", samples.mail()).text


@pytest.mark.parametrize(
    ("program", "reason", "says"),
    [
        ("import time; time.sleep(60)", SkipReason.OVER_LIMIT, "more than 2 s"),
        ("import sys; sys.stdin.buffer.read(9); print('[[[[')", SkipReason.EXTRACTION_FAILED, "status"),
        ("print('{\"text\": 1}')", SkipReason.EXTRACTION_FAILED, "status"),
        ("import os; os.abort()", SkipReason.OVER_LIMIT, "memory"),
        ("import os; os.kill(os.getpid(), 24)", SkipReason.OVER_LIMIT, "processor time"),
        ("import os; os.kill(os.getpid(), 9)", SkipReason.OVER_LIMIT, "memory"),
        ("import os; os.kill(os.getpid(), 11)", SkipReason.EXTRACTION_FAILED, "status -11"),
    ],
)
def test_whatever_the_process_does_a_reason_follows(program: str, reason: SkipReason, says: str) -> None:
    with DocumentReader(seconds=2, command=(sys.executable, "-S", "-c", program)) as reader:
        for _ in range(2):
            with pytest.raises(NotExtractedError) as caught:
                reader.read(Format.MAIL, b"x" * 1_000_000)
            assert (caught.value.reason, says in caught.value.message) == (reason, True), caught.value.message


def test_processor_time_is_bounded() -> None:
    program = (
        "from everfind_indexer.extractors import child, readers\n"
        "child.CPU_SECONDS = 0\n"
        "def spin(format_, raw):\n    while True: pass\n"
        "child.read = spin\n"
        "child.main()\n"
    )
    started = time.monotonic()
    with DocumentReader(command=(sys.executable, "-c", program)) as reader, pytest.raises(NotExtractedError) as caught:
        reader.read(Format.MAIL, b"x")
    assert caught.value.reason is SkipReason.OVER_LIMIT
    assert "processor time" in caught.value.message
    assert time.monotonic() - started < 60
