"""How much work a run and a search are, in counts that no machine changes: more than before is a regression.

Where a change lowers a count, or raises it for a good reason, the number here changes with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from everfind_core.index.directory import current_index
from everfind_core.index.store_schema import TABLE_DIRECTORY
from everfind_core.model import IndexReport, SearchMode, SearchRequest
from everfind_searcher.store.snapshot import LanceSnapshot
from tests.support.real_index import RealIndex, write_notes

NOTES = 40
SLACK = 1.05
"""Bytes may differ by this: they hold names and times."""


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("counted")
    write_notes(base / "corpus", NOTES)
    return base


@pytest.fixture(scope="module")
def index(base: Path) -> RealIndex:
    return RealIndex(base, base / "corpus")


@pytest.fixture(scope="module")
def first(index: RealIndex) -> IndexReport:
    return index.index()


@dataclass
class Scans:
    """Scans of the store, and the rows that they gave."""

    count: int = 0
    rows: int = 0


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> Scans:
    seen = Scans()
    scan = LanceSnapshot._scan

    def counted(self: LanceSnapshot, **options: Any) -> pa.Table:
        found = scan(self, **options)
        seen.count += 1
        seen.rows += found.num_rows
        return found

    monkeypatch.setattr(LanceSnapshot, "_scan", counted)
    return seen


def commits(index: RealIndex) -> int:
    versions = current_index(index.directory).directory / TABLE_DIRECTORY / "_versions"
    return len(list(versions.glob("*.manifest")))


def size(index: RealIndex) -> int:
    return sum((index.directory / file).stat().st_size for file in index.files)


def test_a_first_run(index: RealIndex, first: IndexReport) -> None:
    assert (first.chunks_written, first.chunks_embedded, first.tokens) == (40, 40, 6_560)
    assert index.embedder.calls == 2  # the first texts, at once, and the rest
    assert commits(index) <= 19
    assert size(index) <= 283_000 * SLACK


def test_a_run_over_what_did_not_change(index: RealIndex, first: IndexReport) -> None:
    before = commits(index), size(index), index.embedder.calls
    again = index.index()
    assert (again.unchanged, again.chunks_written, again.tokens) == (NOTES, 0, 0)
    assert (commits(index), index.embedder.calls) == (before[0], before[2])
    assert size(index) <= before[1] * SLACK


@pytest.mark.parametrize(
    ("mode", "most"),
    [
        (SearchMode.SEMANTIC, (6, 216)),
        (SearchMode.LEXICAL, (4, 144)),
        (SearchMode.HYBRID, (10, 360)),
    ],
)
def test_a_search(index: RealIndex, first: IndexReport, scans: Scans, mode: SearchMode, most: tuple[int, int]) -> None:
    """Nothing is in memory yet: a scan finds rows of an arm, another reads what stands in them.

    Each arm is asked again for what was not replaced, and then for what replaced the rest.
    """
    with index.searcher() as searcher:
        searcher.search(SearchRequest("a note about sessions", 5, mode))
    assert scans.count <= most[0]
    assert scans.rows <= most[1]


def test_one_edited_file(index: RealIndex, first: IndexReport) -> None:
    before = commits(index), size(index), index.embedder.calls
    path = index.corpus / "note03.md"
    path.write_text(f"{path.read_text()}\nOne more line.\n")
    report = index.index()
    assert (report.indexed, report.chunks_written, report.chunks_embedded, report.tokens) == (1, 1, 1, 168)
    assert index.embedder.calls == before[2] + 1
    assert commits(index) <= before[0] + 5
    assert size(index) <= before[1] + 140_200 * SLACK
