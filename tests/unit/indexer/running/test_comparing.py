"""What differs between a folder and the index of it: by size and time alone, and never by what is not indexed."""

from __future__ import annotations

from dataclasses import replace

from everfind_core.model import FileRef, FileState, SkipReason
from everfind_indexer.files.found import FoundFile
from everfind_indexer.running.comparing import Difference, compared

MOMENT = 1_700_000_000_123_456_789
LATER = MOMENT + 60_000_000_000


def found(path: str, size: int = 5, mtime_ns: int = MOMENT) -> FoundFile:
    return FoundFile(path, size, mtime_ns, mtime_ns, 1)


def state(path: str, skip: SkipReason | None = None) -> FileState:
    return FileState(FileRef("notes", path), 5, MOMENT, MOMENT, 1, LATER, "h", 1, 2, 0, skip, "")


def test_each_difference_is_counted_once() -> None:
    now = [found("a"), found("b", size=6), found("c", mtime_ns=LATER), found("e")]
    assert compared(now, [state(name) for name in "abcd"]) == Difference(indexed=4, changed=2, gone=1, new=1)


def test_what_is_left_out_is_neither_changed_nor_gone() -> None:
    known = [state("a", SkipReason.BINARY), state("b", SkipReason.UNREADABLE)]
    assert compared([found("a", size=9)], known) == Difference()


def test_a_file_that_was_young_when_it_was_read_is_not_called_changed() -> None:
    young = replace(state("a"), checked_ns=MOMENT + 1)
    assert compared([found("a")], [young]) == Difference(indexed=1)


def test_an_imported_file_without_a_time_is_not_called_changed() -> None:
    assert compared([found("a")], [replace(state("a"), size=-1, mtime_ns=0)]) == Difference(indexed=1)
