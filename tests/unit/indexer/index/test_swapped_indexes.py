"""A rebuild ends while somebody reads: at whatever step, the reader turns to the new index, and the old one goes."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lance
import pytest

from everfind_core.errors import IndexDamagedError, IndexMissingError, InternalError, StorageError
from everfind_core.index.directory import IndexLocation, current_index, make_current, of_current
from everfind_core.index.names import CATALOG
from everfind_core.index.store_backends import StoreChoice
from everfind_core.model import Filters, SearchMode, SearchRequest
from everfind_indexer.index.catalog import Catalog
from everfind_indexer.index.target import REPLACED, remove_others
from everfind_searcher.settings import SearcherSettings
from everfind_searcher.status import index_status
from everfind_searcher.store import open_reader
from tests.support.real_index import RealIndex, write_notes

NOTES = 3


@pytest.fixture(scope="module", params=[StoreChoice.LANCEDB, StoreChoice.SQLITE])
def index(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> RealIndex:
    base = tmp_path_factory.mktemp("swapped")
    write_notes(base / "corpus", NOTES)
    index = RealIndex(base, base / "corpus", store=request.param)
    index.index()
    return index


def swap(index_directory: Path) -> IndexLocation:
    """What the end of a rebuild does: a new index, of the same files, answers, and the old one is removed."""
    old = current_index(index_directory)
    directory = old.directory.with_name(f"{int(old.directory.name) + 1:06d}")
    shutil.copytree(old.directory, directory)
    new = IndexLocation(directory, old.manifest)
    make_current(index_directory, new)
    remove_others(index_directory, new)
    return new


class Steps:
    """Counts how often files of an index are looked at, and swaps it before one of these steps."""

    def __init__(self, index_directory: Path, at: int) -> None:
        self.count = 0
        self._directory = index_directory
        self._at = at

    def before(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def stepped(*arguments: Any, **options: Any) -> Any:
            self.count += 1
            if self.count == self._at:
                swap(self._directory)
            return call(*arguments, **options)

        return stepped


def status(index: RealIndex) -> object:
    found = index.engine().status(verify=True)
    return found.coverage, [(one.check, one.message) for one in found.findings]


def seen_by_a_searcher(index: RealIndex) -> object:
    return index_status(SearcherSettings(index.directory), open_reader).coverage


def files(index: RealIndex) -> object:
    return [file.ref for file in index.engine().indexed_files()]


def ignored(index: RealIndex) -> object:
    return index.engine().ignored_directories("notes")


def search(index: RealIndex) -> object:
    request = SearchRequest("token", 100, SearchMode.LEXICAL, Filters(all_statuses=True))
    with index.searcher() as searcher:
        answer = searcher.search(request)
    return answer.coverage, [(hit.path, hit.start_line) for hit in answer.hits]


def export(index: RealIndex) -> object:
    header = index.engine().export(index.base / "index.tar")
    return header.folders, len(header.members)


@pytest.mark.parametrize("read", [status, seen_by_a_searcher, files, ignored, search, export])
def test_a_reader_turns_to_the_index_that_takes_over_at_any_step(
    index: RealIndex, read: Callable[[RealIndex], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    undisturbed = read(index)
    at, reached = 0, True
    while reached:
        at += 1
        steps = Steps(index.directory, at)
        with monkeypatch.context() as patch:
            for owner, name in ((Path, "read_text"), (sqlite3, "connect"), (os, "scandir"), (lance, "dataset")):
                patch.setattr(owner, name, steps.before(getattr(owner, name)))
            assert read(index) == undisturbed, at
        reached = steps.count >= at
    assert at > 2
    assert len(list((index.directory / "indexes").iterdir())) == 1


def test_nobody_opens_what_is_being_removed(index: RealIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite would put its log into the directory after that was listed, and so it would stay."""
    old = current_index(index.directory).directory
    unlink = os.unlink
    tried: list[object] = []

    def open_and_unlink(*arguments: Any, **options: Any) -> None:
        if not tried:
            with pytest.raises(StorageError, match="unable to open"):
                tried.append(Catalog(old / CATALOG, read_only=True))
            tried.append(None)
        unlink(*arguments, **options)

    monkeypatch.setattr(os, "unlink", open_and_unlink)
    new = swap(index.directory)
    assert tried == [None]
    assert list((index.directory / "indexes").iterdir()) == [new.directory]


def test_what_a_killed_run_was_removing_goes_with_the_next(index: RealIndex) -> None:
    current = current_index(index.directory)
    shutil.copytree(current.directory, current.directory.with_name(f"{REPLACED}000000"))
    remove_others(index.directory, current)
    assert list((index.directory / "indexes").iterdir()) == [current.directory]


def test_an_error_of_an_index_that_still_answers_is_raised(index: RealIndex) -> None:
    asked: list[Path] = []

    def read(location: IndexLocation) -> None:
        asked.append(location.directory)
        raise InternalError("broken")

    with pytest.raises(InternalError, match="broken"):
        of_current(index.directory, read)
    assert asked == [current_index(index.directory).directory]


def test_an_index_that_is_gone_has_no_coverage(index: RealIndex, tmp_path: Path) -> None:
    current = current_index(index.directory)
    gone = IndexLocation(tmp_path / "000009", current.manifest)
    with pytest.raises(IndexMissingError, match="there is no index in"):
        gone.read_coverage()


def test_a_pointer_to_what_is_not_there_is_damage(tmp_path: Path, index: RealIndex) -> None:
    make_current(tmp_path, IndexLocation(tmp_path / "indexes" / "000009", current_index(index.directory).manifest))
    with pytest.raises(IndexDamagedError, match=r"000009/manifest\.json cannot be read"):
        current_index(tmp_path)
