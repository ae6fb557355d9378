"""The editor's hook: which edits count, one worker an index, no edit missed, one warning a session."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from everfind_core.errors import StorageFullError
from everfind_gateway.cli import main
from everfind_gateway.config.settings import load_settings
from everfind_gateway.scaffold import reindex
from everfind_gateway.scaffold.reindex import INTERVAL_SECONDS, QUIET_SECONDS, Edit, Notes, edited_file, work


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    return Notes(tmp_path / "notes")


class Clock:
    """Time that passes only in ``sleep``; ``at`` runs something when it is reached."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.offset = 0.0
        self.slept: list[float] = []
        real = time.time
        monkeypatch.setattr("everfind_gateway.scaffold.reindex.time.time", lambda: real() + self.offset)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.offset += seconds


@pytest.mark.parametrize(
    ("event", "edit"),
    [
        ({"session_id": "s", "tool_input": {"file_path": "/a/b"}}, Edit("/a/b", "s")),
        ({"session_id": "s", "tool_input": {"notebook_path": "/a/n.ipynb"}}, Edit("/a/n.ipynb", "s")),
        ({"conversation_id": "c", "file_path": "/a"}, Edit("/a", "c")),
        ({"tool_input": {"file_path": 3}, "session_id": []}, Edit()),
        ({"tool_input": {"file_path": "/a\0b"}}, Edit()),
        ([], Edit()),
    ],
)
def test_events_of_editors(event: object, edit: Edit) -> None:
    assert edited_file(json.dumps(event).encode()) == edit


@pytest.mark.parametrize("event", [b"", b"{", b"\xff", b"[" * 100_000])
def test_no_event_breaks_it(event: bytes) -> None:
    assert edited_file(event) == Edit()


def test_notes_are_taken_once(notes: Notes) -> None:
    assert notes.take() == []
    for folder in ("a", "new\nline", "a"):
        notes.leave(folder)
    assert notes.age(time.time()) is not None
    assert notes.take() == ["a", "new\nline"]
    assert notes.age(time.time()) is None


def test_edits_are_gathered_and_runs_kept_apart(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    runs: list[list[str]] = []

    def index(folders: Iterable[str]) -> None:
        runs.append(list(folders))
        if len(runs) == 1:
            notes.leave("late")

    notes.leave("a")
    notes.leave("b")
    work(notes, index, clock.sleep)
    assert runs == [["a", "b"], ["late"]]
    assert clock.slept[0] == pytest.approx(QUIET_SECONDS, abs=0.5)
    assert clock.slept[1] == pytest.approx(INTERVAL_SECONDS, abs=0.5)


def test_one_worker_an_index(notes: Notes) -> None:
    notes.leave("a")
    with notes.held() as mine:
        assert mine
        work(notes, lambda _folders: pytest.fail("another one indexes"))
        assert notes.take() == ["a"]
    with notes.held() as free:
        assert free


def test_an_edit_as_the_worker_ends_is_not_missed(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    runs: list[list[str]] = []
    held = Notes.held
    late = ["late"]

    @contextmanager
    def leaving(notes: Notes) -> Iterator[bool]:
        with held(notes) as mine:
            yield mine
            if late:  # between the worker's last look and its release
                notes.leave(late.pop())

    monkeypatch.setattr(Notes, "held", leaving)
    notes.leave("a")
    work(notes, lambda folders: runs.append(list(folders)), clock.sleep)
    assert runs == [["a"], ["late"]]


def test_a_failure_keeps_the_notes_and_warns_once_a_session(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)

    def full(_folders: Iterable[str]) -> None:
        raise StorageFullError("no space left", hint="Free some.")

    notes.leave("a")
    work(notes, full, clock.sleep)
    assert [notes.warning("s"), notes.warning("s"), notes.warning("t\nu")] == [
        "no space left. Free some.",
        "",
        "no space left. Free some.",
    ]
    runs: list[list[str]] = []
    work(notes, lambda folders: runs.append(list(folders)), clock.sleep)
    assert runs == [["a"]]
    assert notes.warning("v") == ""


def test_a_fault_keeps_the_notes(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)

    def broken(_folders: Iterable[str]) -> None:
        raise MemoryError

    notes.leave("a")
    with pytest.raises(MemoryError):
        work(notes, broken, clock.sleep)
    assert notes.take() == ["a"]


def test_only_edits_in_a_folder_start_a_worker(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del home
    started: list[tuple[str, ...]] = []
    monkeypatch.setattr(reindex, "_start", lambda _notes, worker: started.append(tuple(worker)))
    inside = tmp_path / "in"
    inside.mkdir()
    assert main(["add", str(inside)]) == 0
    settings = load_settings()
    for path, count in ((tmp_path / "in2/x", 0), (tmp_path / "in/x.md", 1), (tmp_path / "in/../y", 1)):
        event = json.dumps({"tool_input": {"file_path": os.fspath(path)}}).encode()
        assert reindex.after_edit(settings, event, ["hook", "--work"]) == ""
        assert len(started) == count
    assert Notes.of(settings.index_dir).take() == ["in"]
    remote = load_settings(flags={"server": "far:1"})
    assert reindex.after_edit(remote, json.dumps({"file_path": str(inside / "x")}).encode(), []) == ""
    assert len(started) == 1
