"""Documents over every transport: hits with pages, the same text in gather, cat and grep, reasons for skips."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from everfind_core.errors import FileNotIndexableError
from everfind_core.model import GatherRequest, GrepRequest, IndexRequest, ReadFileRequest, SearchRequest
from everfind_core.ports import Embedder, Indexer, Searcher
from tests.contract.conftest import open_engines, store_of
from tests.support import document_samples as samples
from tests.support.serving import connected, serving

FILES = {
    "manual.pdf": samples.pdf(3, paragraphs=8),
    "handbook.docx": samples.word(),
    "prices.xlsx": samples.sheets(),
    "scan.pdf": samples.scan(),
    "locked.pdf": samples.pdf(1, password="secret"),
    "broken.docx": samples.word()[:1_000],
}


@pytest.fixture(scope="module", params=["direct", "aio", "sqlite"])
def ports(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, embedder: Embedder
) -> Iterator[tuple[Indexer, Searcher]]:
    base: Path = tmp_path_factory.mktemp("documents")
    with contextlib.ExitStack() as stack:
        engines = stack.enter_context(open_engines(base, embedder, store_of(request.param)))
        for name, raw in FILES.items():
            (base / "docs" / name).write_bytes(raw)
        engines.indexer.index(IndexRequest(), lambda _event: None)
        if request.param == "aio":
            remote = stack.enter_context(connected(stack.enter_context(serving(engines.services()))))
            yield remote.indexer, remote.searcher
        else:
            yield engines.indexer, engines.searcher


def test_a_hit_has_its_page_and_heading(ports: tuple[Indexer, Searcher]) -> None:
    hits = ports[1].search(SearchRequest("second paragraph of page 2 about refused tokens")).hits
    pages = {(hit.page, hit.heading) for hit in hits if hit.path == "manual.pdf"}
    assert (2, "Chapter 2") in pages


def test_gather_cat_and_grep_show_the_same_extracted_text(ports: tuple[Indexer, Searcher]) -> None:
    indexer, searcher = ports
    answer = searcher.gather(GatherRequest(SearchRequest("expired or revoked, code 401"), context_lines=1))
    passage = next(p for p in answer.passages if p.hit.path == "handbook.docx")
    assert passage.extracted_from == "docx"
    assert "text extracted from docx" in answer.markdown
    read = indexer.read_file(ReadFileRequest("docs", "handbook.docx", passage.start_line, passage.end_line))
    assert (read.text, read.extracted_from) == (passage.text, "docx")
    (row,) = indexer.grep(GrepRequest("| 401 |")).matches
    assert (row.ref.path, row.extracted_from, row.page) == ("handbook.docx", "docx", 0)
    assert indexer.read_file(ReadFileRequest("docs", "handbook.docx", row.line, row.line)).text == row.text
    found = indexer.grep(GrepRequest("First paragraph of page"))
    assert [(m.ref.path, m.page, m.extracted_from) for m in found.matches] == [
        ("manual.pdf", page, "pdf") for page in (1, 2, 3)
    ]


def test_what_has_no_text_is_told_with_its_reason(ports: tuple[Indexer, Searcher]) -> None:
    indexer, searcher = ports
    skipped = {s.ref.path: s.reason.value for s in indexer.status(skipped_files=True).skipped_files}
    assert skipped == {"scan.pdf": "no_text", "locked.pdf": "encrypted", "broken.docx": "extraction_failed"}
    coverage = searcher.search(SearchRequest("anything")).coverage
    assert coverage.skipped == {"no_text": 1, "encrypted": 1, "extraction_failed": 1}
    with pytest.raises(FileNotIndexableError, match="password"):
        indexer.read_file(ReadFileRequest("docs", "locked.pdf"))
