"""Checking and repairing an index over every transport."""

from __future__ import annotations

from pathlib import Path

import pytest

from everfind_core.errors import IndexDamagedError, InvalidRequestError
from everfind_core.index.sqlite_schema import DATABASE
from everfind_core.model import IndexRequest, SearchRequest, Severity
from tests.support.notes import Notes, Reach


def check(notes: Notes) -> list[Severity]:
    return [f.severity for f in notes.indexer.status(verify=True).findings if f.check == "damage"]


def repair(notes: Notes) -> tuple[int, tuple[str, ...]]:
    report = notes.indexer.index(IndexRequest(repair=True), lambda _event: None)
    return report.indexed, report.warnings


def some_data(notes: Notes) -> Path:
    index = notes.base / "index"
    return next(p for pattern in ("chunks.lance/data/*.lance", DATABASE) for p in index.glob(f"indexes/*/{pattern}"))


def spoil(data: Path) -> None:
    """Change what it holds, and not its size."""
    content = data.read_bytes()
    changed = content.replace(b"Wombat", b"Wambat") if data.name == DATABASE else content[:-1] + b"?"
    assert changed != content
    data.write_bytes(changed)


def test_a_damaged_file_is_told_and_mended(notes: Reach) -> None:
    reached = notes()
    for number in range(5):
        reached.write(f"n{number}.md", f"# Number {number}\n\nWombat {number} digs.\n")
    reached.run()
    assert check(reached) == [Severity.OK]
    assert not [f for f in reached.indexer.status().findings if f.check == "damage"]
    data = some_data(reached)
    spoil(data)
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
    data = some_data(reached)
    data.write_bytes(b"")
    said = "is damaged" if data.name == DATABASE else "has 0 bytes instead of"
    with pytest.raises(IndexDamagedError, match=said) as caught:
        reached.run()
    assert "everfind doctor --repair" in caught.value.hint
    assert repair(reached)[0] == 1
    assert reached.run().unchanged == 1


def compared(notes: Notes) -> list[tuple[Severity, str]]:
    found = notes.indexer.status(compare=True).findings
    return [(f.severity, f.message) for f in found if f.check == "stale"]


def test_what_changed_is_gone_or_is_new_is_told(notes: Reach) -> None:
    reached = notes()
    assert compared(reached) == []
    for name in ("a.md", "b.md", "c.md"):
        reached.write(name, f"# {name}\n\nWombats dig.\n")
    reached.run()
    assert compared(reached) == [(Severity.OK, "3 files on disk as indexed, and no others")]
    reached.write("a.md", "# Another\n\nNumbats eat termites.\n")
    (reached.base / "notes" / "b.md").unlink()
    reached.write("d.md", "# New\n")
    assert compared(reached) == [(Severity.WARNING, "beside 3 files that are indexed: 1 changed, 1 gone, 1 new since")]
    assert not [f for f in reached.indexer.status().findings if f.check == "stale"]
    reached.run()
    assert compared(reached) == [(Severity.OK, "3 files on disk as indexed, and no others")]


@pytest.mark.parametrize(
    "request_", [IndexRequest(folders=("notes",), repair=True), IndexRequest(rebuild=True, repair=True)]
)
def test_a_repair_is_of_the_whole_index(notes: Reach, request_: IndexRequest) -> None:
    reached = notes()
    with pytest.raises(InvalidRequestError, match="repair: it is of the whole index"):
        reached.indexer.index(request_, lambda _event: None)
