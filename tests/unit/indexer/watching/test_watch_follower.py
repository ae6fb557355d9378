"""The follower over real directories and the real listening library, with a store in memory and a quick pace."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from everfind_core.cancellation import Cancellation
from everfind_core.errors import CancelledError, EverfindError, StorageError
from everfind_core.index.watch_state import following, read_watch_state
from everfind_core.model import Folder, FolderStarted, IndexReport, IndexRequest, RunEvent
from everfind_core.ports import EventSink
from everfind_indexer.engine import IndexEngine
from everfind_indexer.watching import Follower, Pace, listening, places
from everfind_indexer.watching.pending import WHOLE_FOLDER_PATHS
from tests.support.indexing import Workspace

QUICK = Pace(quiet=0.2, pause=0.1, many=50, longest=2.0, rescan=600.0, poll=0.5, first_retry=0.1)
PATIENCE = 120.0


class Following:
    """A workspace, a follower of it, and what the follower did."""

    def __init__(self, base: Path) -> None:
        self.workspace = Workspace(base)
        self.root = self.workspace.root
        self.requests: list[IndexRequest] = []
        self.reports: list[IndexReport | EverfindError] = []
        self.fail: list[Exception] = []
        self.may_run = threading.Event()
        self.may_run.set()
        self._engine = self.workspace.engine()
        self._followers: list[Follower] = []

    def start(self, *, pace: Pace = QUICK, create: bool = True) -> Follower:
        follower = Follower(
            self,
            self.workspace.settings,
            on_report=lambda _folder, outcome: self.reports.append(outcome),
            pace=pace,
            create=create,
        )
        self._followers.append(follower)
        follower.start()
        return follower

    def index(self, request: IndexRequest, on_event: EventSink, **options: object) -> IndexReport:
        self.requests.append(request)
        assert self.may_run.wait(PATIENCE)
        if self.fail:
            raise self.fail.pop(0)
        return self._engine.index(request, on_event, **options)  # type: ignore[arg-type]  # passed on

    def ignored_directories(self, folder: str) -> frozenset[str]:
        return self._engine.ignored_directories(folder)

    def write(self, name: str, text: str = "text\n") -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def paths(self) -> list[str]:
        return sorted(self.workspace.content())

    def until(self, condition: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, (self.paths(), self.requests, self.reports)
            time.sleep(0.02)

    def until_current(self) -> None:
        """Until the follower has taken in whatever it heard of."""
        time.sleep(0.6)  # as long as a change may take to be heard
        self.until(self._is_current)

    def waiting(self) -> int:
        """How many changes the follower has heard of and not taken in."""
        state = read_watch_state(self.workspace.settings.index_directory)
        return sum(state.pending.values()) if state else 0

    def _is_current(self) -> bool:
        state = read_watch_state(self.workspace.settings.index_directory)
        return state is not None and not state.pending and not state.behind

    def close(self) -> None:
        for follower in self._followers:
            follower.close()


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Following]:
    made = Following(tmp_path / "w")
    yield made
    made.close()


def git(directory: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=directory, check=True, capture_output=True)


def fresh(root: Path, base: Path) -> dict[str, list[tuple[int, int, str, str]]]:
    """What an index made now of the same files holds."""
    other = Workspace(base)
    other.root.rmdir()
    shutil.copytree(root, other.root, symlinks=True)
    other.index()
    return other.content()


def test_it_catches_up_and_follows_single_files(watched: Following) -> None:
    watched.write("old.txt")
    watched.start()
    watched.until(lambda: watched.paths() == ["old.txt"])
    watched.until_current()
    assert [(r.folders, r.paths) for r in watched.requests] == [(("f",), ())]
    watched.write("sub/new.txt")
    watched.until(lambda: watched.paths() == ["old.txt", "sub/new.txt"])
    watched.write("old.txt", "other words\n")
    watched.until(lambda: watched.workspace.content()["old.txt"][0][2].strip() == "other words")
    (watched.root / "old.txt").rename(watched.root / "moved.txt")
    watched.until(lambda: watched.paths() == ["moved.txt", "sub/new.txt"])
    shutil.rmtree(watched.root / "sub")
    watched.until(lambda: watched.paths() == ["moved.txt"])
    assert all(request.paths for request in watched.requests[1:])


@pytest.mark.parametrize("count", [WHOLE_FOLDER_PATHS // 2, WHOLE_FOLDER_PATHS + 200])
def test_a_burst_is_one_run(watched: Following, count: int) -> None:
    """What is written while a run is under way waits for the next, which takes in all of it."""
    names = [f"{n}.txt" for n in range(count)]
    watched.may_run.clear()
    watched.start()
    watched.until(lambda: len(watched.requests) == 1)
    for name in names:
        watched.write(name, f"text {name}\n")
    watched.until(lambda: watched.waiting() >= min(count, WHOLE_FOLDER_PATHS + 1))
    watched.may_run.set()
    watched.until(lambda: len(watched.requests) > 1)
    assert set(watched.requests[1].paths) == (set(names) if count <= WHOLE_FOLDER_PATHS else set())
    watched.until(lambda: watched.paths() == sorted(names))


def test_rules_are_read_again_when_they_change(watched: Following, tmp_path: Path) -> None:
    for name in ("a/one.txt", "a/two.log", "b/three.log"):
        watched.write(name)
    watched.start()
    watched.until(lambda: watched.paths() == ["a/one.txt", "a/two.log", "b/three.log"])
    watched.write("a/.indexignore", "*.log\n")
    watched.until(lambda: "a/two.log" not in watched.paths())
    assert "b/three.log" in watched.paths()
    watched.write("a/.indexignore", "one.txt\n")
    watched.until(lambda: "a/two.log" in watched.paths() and "a/one.txt" not in watched.paths())
    watched.until_current()
    assert watched.workspace.content() == fresh(watched.root, tmp_path / "fresh")


def test_rules_outside_the_folder_count(watched: Following, tmp_path: Path) -> None:
    user_ignore = tmp_path / "user.indexignore"
    watched.workspace.settings = type(watched.workspace.settings)(
        watched.workspace.settings.index_directory, watched.workspace.settings.folders, user_ignore=user_ignore
    )
    watched._engine = watched.workspace.engine()
    watched.write("a.txt")
    watched.write("b.log")
    watched.start()
    watched.until(lambda: watched.paths() == ["a.txt", "b.log"])
    time.sleep(1.2)
    user_ignore.write_text("*.log\n")
    watched.until(lambda: watched.paths() == ["a.txt"])


def test_a_work_tree_with_ignored_noise(watched: Following) -> None:
    git(watched.root, "init", "-q")
    watched.write(".gitignore", "build/\n")
    watched.write("src/a.py")
    watched.write("build/x.txt")
    git(watched.root, "add", ".")
    git(watched.root, "commit", "-qm", "1")
    watched.start()
    watched.until(lambda: watched.paths() == [".gitignore", "src/a.py"])
    watched.until_current()
    runs = len(watched.requests)
    for n in range(5):
        watched.write("build/x.txt", str(n))
        time.sleep(0.1)
    git(watched.root, "status")
    (watched.root / ".git/index").write_bytes((watched.root / ".git/index").read_bytes())
    watched.until_current()
    assert len(watched.requests) == runs
    git(watched.root, "add", "-f", "build/x.txt")
    watched.write("build/AGENTS.md", "guide\n")
    watched.until(lambda: watched.paths() == [".gitignore", "build/AGENTS.md", "build/x.txt", "src/a.py"])


def test_git_at_work_is_waited_out(watched: Following) -> None:
    git(watched.root, "init", "-q")
    watched.start()
    watched.until_current()
    (watched.root / ".git/index.lock").write_text("")
    watched.write("half.txt")
    time.sleep(1.0)
    assert watched.paths() == []
    watched.write("whole.txt")
    (watched.root / ".git/index.lock").unlink()
    watched.until(lambda: watched.paths() == ["half.txt", "whole.txt"])
    os.utime(watched.root / "whole.txt")
    (watched.root / ".git/index.lock").write_text("")
    long_ago = time.time() - places.LOCK_SECONDS - 1
    os.utime(watched.root / ".git/index.lock", (long_ago, long_ago))
    watched.write("later.txt")
    watched.until(lambda: "later.txt" in watched.paths())


def test_a_failed_run_keeps_its_changes(watched: Following) -> None:
    watched.start()
    watched.until_current()
    watched.fail = [StorageError("no"), KeyError("a fault of ours")]
    watched.write("a.txt")
    watched.until(lambda: watched.paths() == ["a.txt"])
    errors = [report for report in watched.reports if isinstance(report, EverfindError)]
    assert [error.message for error in errors] == ["no", "the indexer failed at this run"]
    assert [request.paths for request in watched.requests[1:]] == [("a.txt",)] * 3


def test_lost_events_are_found_by_a_look_at_all(watched: Following, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening.Listener, "_below", lambda _self, _path: "")
    watched.start(pace=Pace(quiet=0.1, pause=0.1, rescan=0.5, patience=1.0))
    watched.until(lambda: len(watched.requests) > 0)
    watched.write("unheard.txt")
    watched.until(lambda: watched.paths() == ["unheard.txt"])
    assert all(not request.paths for request in watched.requests)


def test_where_the_system_refuses_to_tell_it_looks_now_and_then(
    watched: Following, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_self: listening.Listener) -> Iterator[set[str]]:
        raise OSError("OS file watch limit reached")

    monkeypatch.setattr(listening.Listener, "_changes", refuse)
    watched.start(pace=Pace(quiet=0.1, pause=0.1, poll=0.3, patience=1.0))
    watched.write("a.txt")
    watched.until(lambda: watched.paths() == ["a.txt"])
    watched.write("b.txt")
    watched.until(lambda: watched.paths() == ["a.txt", "b.txt"])


def test_a_folder_that_comes_back_is_followed_again(watched: Following, tmp_path: Path) -> None:
    watched.write("a.txt")
    watched.start()
    watched.until(lambda: watched.paths() == ["a.txt"])
    watched.root.rename(tmp_path / "away")
    watched.write("other.txt")
    watched.until(lambda: watched.paths() == ["other.txt"])
    watched.write("more.txt")
    watched.until(lambda: watched.paths() == ["more.txt", "other.txt"])


def test_a_second_follower_takes_over(watched: Following) -> None:
    first = watched.start()
    watched.until_current()
    second = watched.start()
    watched.write("a.txt")
    watched.until(lambda: watched.paths() == ["a.txt"])
    watched.until_current()
    runs = len(watched.requests)
    first.close()
    watched.write("b.txt")
    watched.until(lambda: watched.paths() == ["a.txt", "b.txt"])
    assert not watched.requests[runs].paths
    second.close()
    assert read_watch_state(watched.workspace.settings.index_directory) is None


def test_it_does_not_make_an_index_unless_it_may(watched: Following) -> None:
    watched.write("a.txt")
    watched.start(create=False)
    time.sleep(1.5)
    assert watched.requests == []
    assert not watched.workspace.settings.index_directory.exists()
    watched.workspace.index()
    watched.write("b.txt")
    watched.until(lambda: watched.paths() == ["a.txt", "b.txt"])


def test_a_first_run_that_was_cancelled_stays_cancelled(watched: Following) -> None:
    watched.write("a.txt")
    cancel = Cancellation()
    engine = watched.workspace.engine()

    def give_up(event: RunEvent) -> None:
        if isinstance(event, FolderStarted):
            cancel.cancel()

    with pytest.raises(CancelledError):
        engine.index(IndexRequest(), give_up, cancel=cancel)
    watched.start(create=False)
    time.sleep(1.5)
    assert watched.requests == []
    watched.workspace.index()
    watched.until(lambda: bool(watched.requests))


def test_an_index_inside_the_folder_does_not_keep_it_busy(watched: Following) -> None:
    watched.workspace.settings = type(watched.workspace.settings)(
        watched.root / ".everfind" / "index", (Folder("f", str(watched.root)),)
    )
    watched._engine = watched.workspace.engine()
    watched.write("a.txt")
    watched.start()
    watched.until(lambda: watched.paths() == ["a.txt"])
    watched.until_current()
    time.sleep(1.0)
    assert len(watched.requests) <= 2


def test_one_process_holds_the_followers_lock(tmp_path: Path) -> None:
    with following(tmp_path) as first, following(tmp_path) as second:
        assert (first, second) == (True, False)
    with following(tmp_path) as third:
        assert third


def test_the_engine_is_what_is_followed_for(watched: Following) -> None:
    engine = IndexEngine.ignored_directories
    watched.write("node_modules/x.txt")
    watched.write("a.txt")
    watched.workspace.index()
    assert engine(watched.workspace.engine(), "f") == {"node_modules/"}
    status = watched.workspace.engine().status()
    assert [(f.watched, f.coverage.pending) for f in status.folders] == [(False, 0)]
    watched.start()
    watched.until(lambda: watched.workspace.engine().status().folders[0].watched)
