"""Alarms for a table that has grown beyond what its upkeep leaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from everfind_core.index.table_size import TableSize, table_size
from everfind_indexer.index.findings import table_findings
from tests.support.real_index import RealIndex, write_notes


@pytest.mark.parametrize(
    ("table", "chunks", "message"),
    [
        (TableSize(9, 900_000_000, 4, 100_000_000, 20), 1_000, "takes 900,000,000 bytes on the disk, of which"),
        (TableSize(400, 1_000, 300, 900, 20), 1_000_000, "lies in 300 fragments"),
        (TableSize(9, 1_000, 4, 900, 101), 1_000, "lie in 101 segments"),
    ],
)
def test_what_has_grown_is_told(table: TableSize, chunks: int, message: str) -> None:
    (finding,) = table_findings(table, chunks)
    assert message in finding.message
    assert "everfind index" in finding.hint


def test_a_table_as_its_upkeep_leaves_it(tmp_path: Path) -> None:
    write_notes(tmp_path / "corpus", 3)
    index = RealIndex(tmp_path, tmp_path / "corpus")
    assert table_size(str(index.directory)) == TableSize()
    index.index()
    found = table_size(str(index.directory))
    assert found.fragments == 1
    assert 10 <= found.segments <= 20  # one each, and an empty one of the empty table
    assert found.files >= found.fragments
    assert 0 < found.live <= found.size
    assert index.engine().status().findings == ()
    assert table_findings(TableSize(2_000, 3_000_000_000, 150, 2_000_000_000, 80), 1_000_000) == ()
