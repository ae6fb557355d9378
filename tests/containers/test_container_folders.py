"""Folders that the indexer follows: changes are searchable by themselves, and folders come and go without a restart."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from everfind_core.errors import IndexMissingError, InvalidRequestError, PermissionDeniedError
from everfind_core.model import AddFolderRequest, RemoveFolderRequest, SearchRequest
from tests.containers.conftest import FILES
from tests.support.serving import Remote
from tests.support.team import Team, team

pytestmark = [pytest.mark.containers, pytest.mark.timeout(900)]

PATIENCE = 180.0


@pytest.fixture(scope="module")
def following(own_base: Path) -> Iterator[Team]:
    settings = {
        "EVERFIND_FOLDERS": str(own_base / "modules"),
        "EVERFIND_FOLDER_ROOTS": str(own_base),
        "EVERFIND_WATCH": "true",
        "EVERFIND_WATCH_QUIET_SECONDS": "0.2",
    }
    with team(own_base, settings=settings) as running:
        yield running


def found(remote: Remote, word: str) -> set[str]:
    """Where the word is, as FOLDER/PATH."""
    try:
        hits = remote.searcher.search(SearchRequest(word, limit=50, min_score=-1.0)).hits
    except IndexMissingError:  # before the first run's first commit
        return set()
    return {f"{hit.folder}/{hit.path}" for hit in hits if word in hit.text}


def until_found(remote: Remote, word: str, places: set[str]) -> None:
    ends = time.monotonic() + PATIENCE
    while (now := found(remote, word)) != places:
        assert time.monotonic() < ends, now
        time.sleep(0.2)


def test_what_changes_is_searchable_by_itself(following: Team, own_base: Path) -> None:
    note = own_base / "modules" / "note.txt"
    with following.client() as remote:
        until_found(remote, "wombat", {"modules/ignored-but-tracked.txt"})
        note.write_text("an aardvark digs\n")
        until_found(remote, "aardvark", {"modules/note.txt"})
        note.write_text("a platypus swims\n")
        until_found(remote, "platypus", {"modules/note.txt"})
        assert found(remote, "aardvark") == set()
        note.rename(note.with_name("moved.txt"))
        until_found(remote, "platypus", {"modules/moved.txt"})
        note.with_name("moved.txt").unlink()
        until_found(remote, "platypus", set())
        ends = time.monotonic() + PATIENCE
        while (status := remote.indexer.status()).coverage.pending:
            assert time.monotonic() < ends
            time.sleep(0.2)
        assert status.coverage.files == FILES
        assert [one.watched for one in status.folders] == [True]


def test_a_folder_is_added_followed_and_removed_by_a_client(following: Team, own_base: Path) -> None:
    more = own_base / "more"
    more.mkdir()
    (more / "one.txt").write_text("a quokka smiles\n")
    with following.client() as remote:
        assert remote.indexer.add_folder(AddFolderRequest(str(more))).name == "more"
        until_found(remote, "quokka", {"more/one.txt"})
        following.run("restart", "indexer")
        following.up()
        (more / "two.txt").write_text("a quokka rests\n")
        until_found(remote, "quokka", {"more/one.txt", "more/two.txt"})
        assert remote.indexer.remove_folder(RemoveFolderRequest("more")).files_forgotten == 2
        until_found(remote, "quokka", set())
        assert [folder.name for folder in remote.indexer.folders()] == ["modules"]
        with pytest.raises(InvalidRequestError, match="set where the server runs"):
            remote.indexer.remove_folder(RemoveFolderRequest("modules"))
        with pytest.raises(PermissionDeniedError, match="below"):
            remote.indexer.add_folder(AddFolderRequest("/etc"))
