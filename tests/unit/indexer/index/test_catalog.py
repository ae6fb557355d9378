from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everfind_core.errors import IndexDamagedError, StorageError, StorageFullError
from everfind_core.model import Coverage, FileRef, FileState, SkippedFile, SkipReason
from everfind_indexer.index.catalog import Catalog
from everfind_indexer.index.catalog_database import CatalogDatabase

NUMBER = st.integers(0, 2**63 - 1)
STATES = st.builds(
    FileState,
    ref=st.builds(FileRef, st.just("f"), st.text(min_size=1, max_size=20)),
    size=NUMBER,
    mtime_ns=st.integers(-(2**62), 2**62),
    ctime_ns=NUMBER,
    inode=st.integers(0, 2**64 - 1),
    checked_ns=NUMBER,
    content_hash=st.text(max_size=5),
    chunks=st.integers(0, 2**31),
    tokens=st.integers(0, 2**31),
    redactions=st.integers(0, 100),
    skip=st.none() | st.sampled_from(SkipReason),
    message=st.text(max_size=10),
)


def state(path: str, chunks: int = 1, skip: SkipReason | None = None) -> FileState:
    return FileState(FileRef("f", path), 1, 2, 3, 4, 5, "h", chunks, skip=skip)


def known(catalog: Catalog, below: Sequence[str] = ()) -> list[str]:
    return [state.ref.path for state in catalog.states("f", below)]


@given(st.lists(STATES, max_size=5, unique_by=lambda s: s.ref))
def test_states_come_back_as_they_were(states: list[FileState]) -> None:
    catalog = Catalog(Path(":memory:"))
    catalog.record(states)
    assert list(catalog.states("f")) == sorted(states, key=lambda s: s.ref)
    for one in states:
        assert catalog.state("f", one.ref.path) == one
    catalog.close()


def test_below_takes_a_path_and_what_is_under_it_only(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path / "c")
    catalog.record([state(p) for p in ("a", "a/b", "a/b/c", "a.txt", "a0", "ab", "a/", "A/b")])
    assert known(catalog, ["a"]) == ["a", "a/", "a/b", "a/b/c"]
    assert known(catalog, ["a.txt", "ab", "a/b", "none"]) == ["a.txt", "a/b", "a/b/c", "ab"]
    catalog.close()


def test_forgetting_and_generations_go_together(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path / "c")
    assert catalog.generation() == 0
    catalog.record([state("a"), state("b")], generation=7)
    catalog.record([], [FileRef("f", "a")], generation=8)
    catalog.record([state("c")])
    assert known(catalog) == ["b", "c"]
    assert catalog.generation() == 8
    catalog.close()


def test_coverage_counts_files_and_what_was_left_out(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path / "c")
    catalog.record(
        [state("a", 3), state("b", 4), state("x.bin", 0, SkipReason.BINARY), replace(state("s"), redactions=2)]
    )
    ignored = SkippedFile(FileRef("f", "node_modules/"), SkipReason.IGNORED)
    binary = SkippedFile(FileRef("f", "y.png"), SkipReason.BINARY, "by extension")
    catalog.record_left_out("f", [ignored, binary])
    assert catalog.coverage("f") == (Coverage(3, 8, {"binary": 2, "ignored": 1}), 2)
    assert [(s.ref.path, s.reason) for s in catalog.skipped_files("f")] == [
        ("node_modules/", SkipReason.IGNORED),
        ("x.bin", SkipReason.BINARY),
        ("y.png", SkipReason.BINARY),
    ]
    catalog.record_left_out("f", [binary], below=["y.png"])
    catalog.record_left_out("f", [], below=["src"])
    assert catalog.coverage("f")[0].skipped == {"binary": 2, "ignored": 1}
    assert catalog.skipped("f") == {"binary": 2, "ignored": 1}
    assert catalog.skipped("f", ["node_modules", "y.png"]) == {"binary": 1, "ignored": 1}
    assert catalog.skipped("f", ["a"]) == {}
    catalog.record_left_out("f", [])
    assert catalog.coverage("f")[0].skipped == {"binary": 1}
    assert catalog.forget_folder("f") == 3
    assert catalog.folders() == []
    catalog.close()


def test_a_file_that_is_no_catalog_is_damage(tmp_path: Path) -> None:
    (tmp_path / "c").write_bytes(b"not a database, but long enough to be read as one" * 100)
    with pytest.raises(IndexDamagedError, match=str(tmp_path / "c")):
        Catalog(tmp_path / "c")


def test_a_place_without_a_directory_is_a_storage_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="absent"):
        Catalog(tmp_path / "absent" / "c")


def test_one_of_before_vectors_were_counted_can_be_read(tmp_path: Path) -> None:
    with closing(Catalog(tmp_path / "c")) as catalog:
        catalog.record([state("a"), state("b", skip=SkipReason.BINARY)])
    with closing(sqlite3.connect(tmp_path / "c")) as database:
        database.executescript("DROP INDEX waiting; ALTER TABLE files DROP COLUMN unembedded;")
    with closing(Catalog(tmp_path / "c", read_only=True)) as read:
        assert [file.ref.path for file in read.indexed_files("f")] == ["a"]
        assert read.state("f", "a") == state("a")
        assert known(read) == ["a", "b"]


def test_it_can_be_read_where_nothing_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = Catalog(tmp_path / "c")
    catalog.record([state("a")], generation=3)
    catalog.close()
    before = sorted(p.name for p in tmp_path.iterdir())
    monkeypatch.setattr(os, "access", lambda *_arguments: False)
    read = Catalog(tmp_path / "c", read_only=True)
    assert (read.generation(), known(read)) == (3, ["a"])
    assert sorted(p.name for p in tmp_path.iterdir()) == before
    read.close()


NAMES = st.sampled_from(["a", "b", "c", "d/"])
RECORDS = st.builds(state, NAMES, st.integers(1, 9), st.none() | st.sampled_from([SkipReason.EMPTY, SkipReason.BINARY]))
LEFT_OUT = st.builds(
    SkippedFile, st.builds(FileRef, st.just("f"), NAMES), st.sampled_from([SkipReason.IGNORED, SkipReason.BINARY])
)
STEPS: st.SearchStrategy[tuple[str, list[Any]]] = st.one_of(
    st.tuples(st.just("record"), st.lists(RECORDS, max_size=3)),
    st.tuples(st.just("forget"), st.lists(NAMES, max_size=2)),
    st.tuples(st.just("left out"), st.lists(LEFT_OUT, max_size=3, unique_by=lambda s: s.ref)),
    st.tuples(st.just("reopen"), st.just([])),
)


@given(st.lists(STEPS, max_size=12))
@settings(max_examples=40, deadline=None)
def test_counts_follow_every_change(steps: list[tuple[str, list[Any]]]) -> None:
    with tempfile.TemporaryDirectory() as place:
        catalog = Catalog(Path(place) / "c")
        for step, values in steps:
            if step == "record":
                catalog.record(values)
            elif step == "forget":
                catalog.record([], [FileRef("f", name) for name in values])
            elif step == "left out":
                catalog.record_left_out("f", values)
            else:
                catalog.close()
                catalog = Catalog(Path(place) / "c")
        with closing(catalog):
            states = list(catalog.states("f"))
            indexed = [one for one in states if one.skip is None]
            skipped = Counter(one.reason.value for one in catalog.skipped_files("f"))
            expected = Coverage(len(indexed), sum(one.chunks for one in indexed), dict(sorted(skipped.items())))
            assert catalog.coverage("f") == (expected, 0)
            assert catalog.folders() == (["f"] if states or skipped else [])


@pytest.mark.parametrize(
    ("code", "free", "expected"),
    [
        (sqlite3.SQLITE_FULL, 1 << 30, StorageFullError),
        (sqlite3.SQLITE_IOERR, 4096, StorageFullError),
        (sqlite3.SQLITE_IOERR, 1 << 30, StorageError),
    ],
)
def test_an_io_error_on_a_full_disk_is_one_of_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, free: int, expected: type[StorageError]
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=free)
    monkeypatch.setattr(shutil, "disk_usage", lambda _place: usage)
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = code
    with closing(CatalogDatabase(tmp_path / "c", read_only=False)) as database:
        assert type(database._error(error)) is expected
