"""Pages of indexed files: no more is asked for than a page takes, whatever the index holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfind_core.cancellation import Cancellation
from everfind_core.errors import CancelledError
from everfind_core.file_pages import file_page
from everfind_core.model import FileRef, IndexedFile
from everfind_core.ports import Indexer


class Listing:
    """The part of an indexer that lists files; how many it gave, and how often it was asked."""

    def __init__(self, files: Sequence[IndexedFile]) -> None:
        self.files = files
        self.given = self.asked = 0

    def indexed_files(
        self, *, folder: str = "", globs: Sequence[str] = (), after: FileRef | None = None, limit: int = 0
    ) -> Sequence[IndexedFile]:
        place = (after.folder, after.path) if after else ("", "")
        found = [f for f in self.files if (f.ref.folder, f.ref.path) > place][:limit]
        self.given += len(found)
        self.asked += 1
        return found


def listing(count: int) -> Listing:
    return Listing([IndexedFile(FileRef("ab"[n >= count // 2], f"{n:04}"), 1, 0.0, 1, 1) for n in range(count)])


@given(st.integers(0, 40), st.integers(1, 9), st.sampled_from(["a", "b", "ab", ""]))
def test_pages_are_the_wanted_files_in_order(count: int, most: int, folders: str) -> None:
    held = listing(count)
    indexer = cast("Indexer", held)
    found: list[IndexedFile] = []
    more = True
    while more:
        page, more = file_page(indexer, folders.__contains__, most, after=found[-1].ref if found else None)
        assert len(page) <= most
        found += page
    assert found == [file for file in held.files if file.ref.folder in folders]


def test_a_page_asks_for_no_more_than_it_takes() -> None:
    held = listing(10_000)
    file_page(cast("Indexer", held), "ab".__contains__, 10)
    assert held.given == 11


def test_many_files_that_are_not_wanted_take_few_looks() -> None:
    held = listing(4_000)
    page, more = file_page(cast("Indexer", held), "b".__contains__, 1)
    assert ([file.ref for file in page], more) == ([FileRef("b", "2000")], True)
    assert held.asked == 10  # 2, 4, 8 ... 1,024 files


def test_a_caller_that_is_gone_is_not_answered() -> None:
    held = listing(10)
    cancel = Cancellation()
    cancel.cancel()
    with pytest.raises(CancelledError):
        file_page(cast("Indexer", held), "ab".__contains__, 1, cancel=cancel)
    assert held.asked == 0
