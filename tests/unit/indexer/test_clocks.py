"""Clocks that jump, times that go backwards, and changes that leave no trace in the times."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.support.indexing import Workspace

DAY_NS = 86_400 * 10**9


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def texts(workspace: Workspace) -> dict[str, str]:
    return {path: "".join(text for _, _, text, _ in rows) for path, rows in workspace.content().items()}


def turn_clock(monkeypatch: pytest.MonkeyPatch, ns: int) -> None:
    """Let the clock that says when a file was looked at be wrong by so much."""
    right = time.time_ns
    monkeypatch.setattr("everfind_indexer.running.looking.time.time_ns", lambda: right() + ns)


@pytest.mark.parametrize("ns", [DAY_NS, -DAY_NS, 400 * DAY_NS, -400 * DAY_NS])
def test_a_clock_that_was_wrong_hides_no_change(workspace: Workspace, monkeypatch: pytest.MonkeyPatch, ns: int) -> None:
    file = workspace.root / "a.txt"
    file.write_text("first words\n")
    with monkeypatch.context() as wrong:
        turn_clock(wrong, ns)
        workspace.index()
    file.write_text("other words\n")
    assert workspace.index().indexed == 1
    assert texts(workspace) == {"a.txt": "other words"}
    with monkeypatch.context() as wrong:
        turn_clock(wrong, ns)
        report = workspace.index()
    assert (report.indexed, report.unchanged) == (0, 1)


def test_an_edit_of_the_same_size_and_time_is_seen(workspace: Workspace) -> None:
    file = workspace.root / "a.txt"
    for turn in range(5):
        file.write_text(f"words of turn {turn}\n")
        os.utime(file, (1_000_000, 1_000_000))
        workspace.index()
        assert texts(workspace) == {"a.txt": f"words of turn {turn}"}


def test_an_older_file_in_the_place_of_a_newer_is_seen(workspace: Workspace) -> None:
    file, older = workspace.root / "a.txt", workspace.root.parent / "older.txt"
    older.write_text("older words\n")
    os.utime(older, (1_000, 1_000))
    file.write_text("newer words\n")
    workspace.index()
    older.rename(file)
    workspace.index()
    assert texts(workspace) == {"a.txt": "older words"}
    os.utime(file, (500, 500))
    report = workspace.index()
    assert (report.indexed, report.unchanged) == (0, 1)
