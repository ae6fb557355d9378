"""Documents in an index run, and the same text in reading and grep: pages, lines, and reasons for what is left out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from everfind_core.errors import FileNotIndexableError
from everfind_core.model import Document, GrepRequest, LineKind, ReadFileRequest, SkipReason
from everfind_core.ports import NotExtractedError
from everfind_indexer.extractors import worker
from everfind_indexer.files.sizes import SizeLimits
from everfind_indexer.recent import RecentDocuments
from tests.support import document_samples as samples
from tests.support.indexing import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def test_one_bad_file_never_stops_a_run(workspace: Workspace) -> None:
    files = {
        "a.pdf": samples.pdf(2),
        "b.docx": samples.word()[:1_500],
        "c.pdf": samples.scan(),
        "d.pdf": samples.pdf(1, password="secret"),
        "e.xlsx": samples.sheets(),
        "f.txt": b"plain words\n",
    }
    for name, raw in files.items():
        (workspace.root / name).write_bytes(raw)
    report = workspace.index()
    assert report.indexed == 3
    assert report.skipped == {"extraction_failed": 1, "no_text": 1, "encrypted": 1}
    assert {error.ref.path: error.reason for error in report.errors} == {
        "b.docx": SkipReason.EXTRACTION_FAILED,
        "c.pdf": SkipReason.NO_TEXT,
        "d.pdf": SkipReason.ENCRYPTED,
    }
    assert all(error.message for error in report.errors)
    assert workspace.index().unchanged == 3


def test_chunks_have_pages_and_breadcrumbs(workspace: Workspace) -> None:
    (workspace.root / "a.pdf").write_bytes(samples.pdf(5, paragraphs=12))
    workspace.index()
    (rows,) = workspace.store.rows.values()
    assert {(row.page, row.heading) for row in rows} == {(n, f"Chapter {n}") for n in range(1, 6)}


def test_reading_and_grep_see_the_extracted_text(workspace: Workspace) -> None:
    (workspace.root / "a.pdf").write_bytes(samples.pdf(3))
    (workspace.root / "b.txt").write_text("Second paragraph of a text\n")
    workspace.index()
    engine = workspace.engine()
    found = engine.grep(GrepRequest("Second paragraph"))
    assert [(m.ref.path, m.page, m.extracted_from) for m in found.matches] == [
        ("a.pdf", 1, "pdf"),
        ("a.pdf", 2, "pdf"),
        ("a.pdf", 3, "pdf"),
        ("b.txt", 0, ""),
    ]
    match = found.matches[1]
    text = engine.read_file(ReadFileRequest("f", "a.pdf", match.line, match.line))
    assert (text.text, text.extracted_from, text.indexed) == (match.text, "pdf", True)
    (rows,) = [rows for ref, rows in workspace.store.rows.items() if ref.path == "a.pdf"]
    row = next(row for row in rows if row.start_line <= match.line <= row.end_line)
    assert engine.read_file(ReadFileRequest("f", "a.pdf", row.start_line, row.end_line)).text == row.text


def test_what_cannot_be_read_says_why(workspace: Workspace) -> None:
    (workspace.root / "a.pdf").write_bytes(samples.scan())
    with pytest.raises(FileNotIndexableError, match="no text on its 2 pages"):
        workspace.engine().read_file(ReadFileRequest("f", "a.pdf"))


def test_documents_have_their_own_size_limit(workspace: Workspace) -> None:
    workspace.settings = replace(workspace.settings, sizes=SizeLimits(text=100, documents=10_000))
    (workspace.root / "a.eml").write_bytes(samples.mail())
    (workspace.root / "b.txt").write_text("x" * 101)
    (workspace.root / "c.pdf").write_bytes(b"%PDF-1.7\n" + b"0" * 10_000)
    report = workspace.index()
    assert (report.indexed, report.skipped) == (1, {"too_large": 2})
    left_out = {s.ref.path: s.message for s in workspace.engine().status(skipped_files=True).skipped_files}
    assert left_out == {
        "b.txt": "101 bytes; max_file_bytes is 100",
        "c.pdf": "10,009 bytes; max_document_bytes is 10,000",
    }


def test_a_document_is_extracted_once_for_many_readings(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    (workspace.root / "a.pdf").write_bytes(samples.pdf(2))
    (workspace.root / "b.pdf").write_bytes(samples.scan())
    engine = workspace.engine()
    first = engine.read_file(ReadFileRequest("f", "a.pdf"))
    with pytest.raises(FileNotIndexableError, match="no text"):
        engine.read_file(ReadFileRequest("f", "b.pdf"))
    monkeypatch.setattr(worker.DocumentReader, "read", None)
    assert engine.read_file(ReadFileRequest("f", "a.pdf")) == first
    assert len(engine.grep(GrepRequest("First paragraph")).matches) == 2
    with pytest.raises(FileNotIndexableError, match="no text"):
        engine.read_file(ReadFileRequest("f", "b.pdf"))


def test_few_documents_are_remembered() -> None:
    recent = RecentDocuments(most_characters=3_500)
    for name in ("a", "b", "c"):
        recent.keep("pdf", name, Document("x" * 500, LineKind.MARKDOWN))
    assert recent.get("pdf", "a") is None
    assert recent.get("pdf", "b") is not None
    recent.keep("pdf", "d", NotExtractedError(SkipReason.NO_TEXT, "a scan"))
    assert recent.get("pdf", "c") is None
    assert recent.get("pdf", "b") is not None
    with pytest.raises(NotExtractedError, match="a scan"):
        recent.get("pdf", "d")
