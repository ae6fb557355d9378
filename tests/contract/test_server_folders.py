"""Folders that clients add to a server and remove from it, on every way to reach one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from everfind_core.errors import (
    ConfigError,
    EverfindError,
    FolderExistsError,
    FolderNotFoundError,
    FolderUnusableError,
    IndexLockedError,
    InvalidRequestError,
    PermissionDeniedError,
)
from everfind_core.index.names import FOLDERS
from everfind_core.model import (
    AddFolderRequest,
    Folder,
    GrepRequest,
    IndexRequest,
    ReadFileRequest,
    RemovedFolder,
    RemoveFolderRequest,
    SearchRequest,
)
from everfind_indexer.folder_file import FolderFile
from everfind_indexer.index.lock import writer_lock
from tests.support.notes import Notes, Reach


@pytest.fixture
def opened(notes: Reach) -> Notes:
    opened = notes()
    opened.write("own.md", "# Own\n\nA wombat digs.\n")
    more = opened.base / "roots" / "more"
    more.mkdir(parents=True)
    (more / "a.md").write_text("# More\n\nA pangolin curls up.\n")
    return opened


def found(notes: Notes, query: str = "pangolin") -> set[str]:
    """The folders that have the word."""
    answer = notes.searcher.search(SearchRequest(query, limit=50, min_score=-1.0))
    return {hit.folder for hit in answer.hits if query in hit.text}


def test_a_folder_is_added_indexed_and_removed(opened: Notes) -> None:
    opened.run()
    root = str(opened.base / "roots" / "more")
    added = opened.indexer.add_folder(AddFolderRequest(root, include=("*.md",)))
    assert added == Folder("more", root, ("*.md",))
    assert added in opened.indexer.folders()
    assert found(opened) == set()
    assert opened.run().indexed == 1
    assert found(opened) == {"more"}
    assert FolderFile(opened.base / "index").folders() == (added,)
    assert opened.indexer.remove_folder(RemoveFolderRequest("more")) == RemovedFolder(added, 1)
    assert [folder.name for folder in opened.indexer.folders()] == ["notes"]
    assert (found(opened), found(opened, "wombat")) == (set(), {"notes"})
    status = opened.indexer.status()
    assert [one.folder.name for one in status.folders] == ["notes"]
    assert status.coverage.files == 1
    assert FolderFile(opened.base / "index").folders() == ()


def test_a_folder_can_be_added_before_there_is_an_index_and_removed_by_its_root(opened: Notes) -> None:
    root = str(opened.base / "roots" / "more")
    added = opened.indexer.add_folder(AddFolderRequest(f"{root}/", name="wanted"))
    assert added == Folder("wanted", root)
    assert opened.indexer.remove_folder(RemoveFolderRequest(root)) == RemovedFolder(added, 0)
    assert [folder.name for folder in opened.indexer.folders()] == ["notes"]


def test_a_nested_folder_takes_its_files_and_gives_them_back(opened: Notes) -> None:
    outer = str(opened.base / "roots")
    opened.indexer.add_folder(AddFolderRequest(outer))
    opened.run()
    assert found(opened) == {"roots"}
    opened.indexer.add_folder(AddFolderRequest(f"{outer}/more"))
    opened.run()
    assert found(opened) == {"more"}
    opened.indexer.remove_folder(RemoveFolderRequest("more"))
    opened.run()
    assert found(opened) == {"roots"}


def test_what_is_kept_stays_searchable_until_the_folder_comes_back(opened: Notes) -> None:
    root = str(opened.base / "roots" / "more")
    opened.indexer.add_folder(AddFolderRequest(root))
    opened.run()
    assert opened.indexer.remove_folder(RemoveFolderRequest("more", keep_index=True)).files_forgotten == 0
    assert found(opened) == {"more"}
    assert [one.added for one in opened.indexer.status().folders if one.folder.name == "more"] == [False]
    assert opened.indexer.add_folder(AddFolderRequest(root)).name == "more"
    assert opened.run().indexed == 0


@pytest.mark.parametrize("place", ["roots/more", "roots"])
def test_a_folder_that_becomes_a_link_shows_nothing_of_where_it_leads(opened: Notes, place: str) -> None:
    opened.indexer.add_folder(AddFolderRequest(str(opened.base / "roots" / "more")))
    opened.run()
    outside = opened.base / "outside"
    for secret in (outside / "a.md", outside / "more" / "a.md"):
        secret.parent.mkdir(exist_ok=True)
        secret.write_text("# Keys\n\nA walrus keeps them.\n")
    (opened.base / place).rename(opened.base / "kept")
    (opened.base / place).symlink_to(outside)
    opened.run()
    assert found(opened, "walrus") == set()
    assert opened.indexer.grep(GrepRequest("walrus")).matches == ()
    with pytest.raises(FolderUnusableError, match="cannot be opened"):
        opened.indexer.read_file(ReadFileRequest("more", "a.md"))
    assert [one.usable for one in opened.indexer.status().folders] == [False, True]
    (opened.base / place).unlink()
    (opened.base / "kept").rename(opened.base / place)
    opened.run()
    assert found(opened) == {"more"}


ADDED = "{roots}/more"
REFUSED: dict[str, tuple[AddFolderRequest, type[EverfindError], str]] = {
    "elsewhere": (AddFolderRequest("{base}/notes"), PermissionDeniedError, "below {base}/roots only"),
    "elsewhere and absent": (AddFolderRequest("{base}/absent"), PermissionDeniedError, "below {base}/roots only"),
    "above": (AddFolderRequest("{roots}/more/../../notes"), PermissionDeniedError, "only"),
    "beside, by prefix": (AddFolderRequest("{base}/roots-2"), PermissionDeniedError, "only"),
    "through a link": (AddFolderRequest("{roots}/link"), PermissionDeniedError, "only"),
    "relative": (AddFolderRequest("more"), InvalidRequestError, "no absolute path"),
    "empty": (AddFolderRequest(""), InvalidRequestError, "no absolute path"),
    "NUL": (AddFolderRequest("{roots}/more\0"), InvalidRequestError, "no absolute path"),
    "absent": (AddFolderRequest("{roots}/absent"), FolderUnusableError, "does not exist"),
    "a file": (AddFolderRequest("{roots}/more/a.md"), FolderUnusableError, "not a directory"),
    "twice": (AddFolderRequest(ADDED), FolderExistsError, "already added as 'more'"),
    "twice by a link": (AddFolderRequest("{roots}/again"), FolderExistsError, "already added as 'more'"),
    "a taken name": (AddFolderRequest("{roots}/other", "notes"), FolderExistsError, "is taken"),
    "a name that is none": (AddFolderRequest("{roots}/other", "a/b"), InvalidRequestError, "looks like a path"),
    "a glob that is none": (AddFolderRequest("{roots}/other", include=("",)), InvalidRequestError, "include"),
    "another workspace": (AddFolderRequest("{roots}/other", workspace="x"), EverfindError, "no workspace"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_added_changes_nothing(opened: Notes, case: str) -> None:
    places = {"{base}": str(opened.base), "{roots}": str(opened.base / "roots")}
    roots = opened.base / "roots"
    (opened.base / "roots-2").mkdir()
    (roots / "other").mkdir()
    (roots / "link").symlink_to(opened.base / "notes")
    (roots / "again").symlink_to(roots / "more")
    opened.indexer.add_folder(AddFolderRequest(str(roots / "more")))
    before = opened.indexer.folders()
    request, cls, message = REFUSED[case]
    root = request.root
    for key, place in places.items():
        root, message = root.replace(key, place), message.replace(key, place)
    with pytest.raises(cls, match=message):
        opened.indexer.add_folder(AddFolderRequest(root, request.name, request.include, request.workspace))
    assert opened.indexer.folders() == before


@pytest.mark.parametrize(
    ("request_", "cls", "message"),
    [
        (RemoveFolderRequest("absent"), FolderNotFoundError, "'absent'; there are more, notes"),
        (RemoveFolderRequest(""), InvalidRequestError, "it is empty"),
        (RemoveFolderRequest("notes"), InvalidRequestError, "set where the server runs"),
        (RemoveFolderRequest("more", keep_index=True, purge=True), InvalidRequestError, "kept and purged"),
        (RemoveFolderRequest("more", workspace="x"), EverfindError, "no workspace"),
    ],
)
def test_what_cannot_be_removed_stays(
    opened: Notes, request_: RemoveFolderRequest, cls: type[EverfindError], message: str
) -> None:
    opened.indexer.add_folder(AddFolderRequest(str(opened.base / "roots" / "more")))
    opened.run()
    with pytest.raises(cls, match=message):
        opened.indexer.remove_folder(request_)
    assert sorted(folder.name for folder in opened.indexer.folders()) == ["more", "notes"]
    assert found(opened) == {"more"}


def test_a_removal_that_may_not_wait_is_refused_while_another_writes(opened: Notes) -> None:
    opened.indexer.add_folder(AddFolderRequest(str(opened.base / "roots" / "more")))
    opened.run()
    with (
        writer_lock(opened.base / "index", wait=False),
        pytest.raises(IndexLockedError, match=f"process {os.getpid()}"),
    ):
        opened.indexer.remove_folder(RemoveFolderRequest("more", wait=False))
    assert found(opened) == {"more"}
    assert opened.indexer.remove_folder(RemoveFolderRequest("more", wait=False)).files_forgotten == 1


def test_a_list_that_cannot_be_read_is_told_and_kept(opened: Notes) -> None:
    opened.run()
    place: Path = opened.base / "index" / FOLDERS
    place.write_text("{")
    with pytest.raises(ConfigError, match="cannot be read"):
        opened.indexer.index(IndexRequest(), lambda _event: None)
    assert place.read_text() == "{"
