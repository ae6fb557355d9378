"""Following whichever folders there are, with a store in memory and a quick pace."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from everfind_core.errors import ConfigError
from everfind_core.model import Folder, IndexReport, IndexRequest, RemoveFolderRequest
from everfind_core.ports import EventSink
from everfind_indexer.engine import IndexEngine
from everfind_indexer.folder_file import FolderFile
from everfind_indexer.watching import Following, Pace
from tests.support.indexing import Workspace
from tests.support.waiting import PATIENCE_SECONDS, wait_until

QUICK = Pace(quiet=0.2, pause=0.1, many=50, longest=2.0, poll=0.5, first_retry=0.1)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    workspace = Workspace(tmp_path / "w")
    (workspace.root / "f.txt").write_text("f\n")
    (tmp_path / "g").mkdir()
    (tmp_path / "g" / "g.txt").write_text("g\n")
    return workspace


@pytest.fixture
def engine(workspace: Workspace) -> Iterator[IndexEngine]:
    engine = workspace.engine()
    following = Following(engine, workspace.settings, pace=QUICK)
    following.start()
    yield engine
    following.close()


def test_folders_that_come_and_go_are_followed_or_not_any_more(
    workspace: Workspace, engine: IndexEngine, tmp_path: Path
) -> None:
    wait_until(lambda: sorted(workspace.content()) == ["f.txt"])
    FolderFile(tmp_path / "w" / "index", workspace.settings.folders).add(str(tmp_path / "g"), "", ())
    wait_until(lambda: sorted(workspace.content()) == ["f.txt", "g.txt"])
    (tmp_path / "g" / "later.txt").write_text("later\n")
    wait_until(lambda: "later.txt" in workspace.content())
    engine.remove_folder(RemoveFolderRequest("g"))
    assert sorted(workspace.content()) == ["f.txt"]
    (tmp_path / "g" / "unheard.txt").write_text("unheard\n")
    (workspace.root / "heard.txt").write_text("heard\n")
    wait_until(lambda: "heard.txt" in workspace.content())
    assert sorted(workspace.content()) == ["f.txt", "heard.txt"]


class Stuck:
    """An engine whose runs end when they are cancelled only, and whose folders a test sets."""

    def __init__(self, *folders: Folder) -> None:
        self.list: tuple[Folder, ...] = folders
        self.broken = False
        self.runs: list[tuple[str, ...]] = []
        self.ended = threading.Event()

    def folders(self) -> tuple[Folder, ...]:
        if self.broken:
            raise ConfigError("unreadable")
        return self.list

    def index(self, request: IndexRequest, on_event: EventSink, *, cancel: object = None) -> IndexReport:
        self.runs.append(request.folders)
        try:
            while True:
                cancel.wait(0.05)  # type: ignore[attr-defined]  # it is a Cancellation
        finally:
            self.ended.set()

    def ignored_directories(self, folder: str) -> frozenset[str]:
        return frozenset()


def test_a_change_of_the_list_ends_the_run_under_way_and_a_list_that_breaks_does_not(
    workspace: Workspace, tmp_path: Path
) -> None:
    f, g = Folder("f", str(workspace.root)), Folder("g", str(tmp_path / "g"))
    stuck = Stuck(f)
    following = Following(stuck, workspace.settings, pace=QUICK)
    following.start()
    try:
        wait_until(lambda: stuck.runs == [("f",)])
        stuck.broken = True
        time.sleep(1.2)  # two looks at the list
        assert not stuck.ended.is_set()
        stuck.list, stuck.broken = (g,), False
        assert stuck.ended.wait(PATIENCE_SECONDS)
        wait_until(lambda: stuck.runs[-1] == ("g",))
    finally:
        following.close()
