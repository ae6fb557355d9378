"""Checking and repairing an index over every transport."""

from __future__ import annotations

from pathlib import Path

import pytest

from everfind_core.errors import IndexDamagedError, InvalidRequestError
from everfind_core.model import IndexRequest, SearchRequest, Severity
from tests.support.notes import Notes, Reach


def check(notes: Notes) -> list[Severity]:
    return [f.severity for f in notes.indexer.status(verify=True).findings if f.check == "damage"]


def repair(notes: Notes) -> tuple[int, tuple[str, ...]]:
    report = notes.indexer.index(IndexRequest(repair=True), lambda _event: None)
    return report.indexed, report.warnings


def some_data(notes: Notes) -> Path:
    return next((notes.base / "index").glob("indexes/*/chunks.lance/data/*.lance"))


def test_a_damaged_file_is_told_and_mended(notes: Reach) -> None:
    reached = notes()
    for number in range(5):
        reached.write(f"n{number}.md", f"# Number {number}\n\nWombat {number} digs.\n")
    reached.run()
    assert check(reached) == [Severity.OK]
    assert not [f for f in reached.indexer.status().findings if f.check == "damage"]
    data = some_data(reached)
    content = data.read_bytes()
    data.write_bytes(content[:-1] + b"?")
    assert check(reached) == [Severity.ERROR]
    indexed, warnings = repair(reached)
    assert indexed == 5
    assert [data.name in warning for warning in warnings] == [True]
    assert check(reached) == [Severity.OK]
    assert len(reached.searcher.search(SearchRequest("wombat digs", min_score=-1.0)).hits) == 5
    assert repair(reached) == (0, ())


def test_a_file_cut_short_refuses_a_run_until_it_is_mended(notes: Reach) -> None:
    reached = notes()
    reached.write("n.md", "# Number\n\nWombats dig.\n")
    reached.run()
    some_data(reached).write_bytes(b"")
    with pytest.raises(IndexDamagedError, match="has 0 bytes instead of") as caught:
        reached.run()
    assert "everfind doctor --repair" in caught.value.hint
    assert repair(reached)[0] == 1
    assert reached.run().unchanged == 1


@pytest.mark.parametrize(
    "request_", [IndexRequest(folders=("notes",), repair=True), IndexRequest(rebuild=True, repair=True)]
)
def test_a_repair_is_of_the_whole_index(notes: Reach, request_: IndexRequest) -> None:
    reached = notes()
    with pytest.raises(InvalidRequestError, match="repair: it is of the whole index"):
        reached.indexer.index(request_, lambda _event: None)
