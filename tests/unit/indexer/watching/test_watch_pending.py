from __future__ import annotations

import pytest

from everfind_core.index.watch_state import WatchState
from everfind_indexer.watching.pending import WHOLE_FOLDER_PATHS, Pace, Pending

PACE = Pace(quiet=2.0, pause=0.3, many=50, longest=10.0, first_retry=1.0, longest_retry=60.0)


def due_at(pending: Pending, start: float, end: float) -> float:
    """The first tenth of a second from ``start`` on at which changes are due."""
    for tenth in range(round((end - start) * 10)):
        if pending.due(start + tenth / 10):
            return start + tenth / 10
    raise AssertionError("never due")


def test_nothing_is_never_due() -> None:
    assert not Pending(PACE).due(1e9)


def test_a_change_is_due_after_a_quiet_time() -> None:
    pending = Pending(PACE)
    pending.add("f", ["a"], 100.0)
    pending.add("f", ["b"], 101.5)
    assert due_at(pending, 100.0, 120.0) == pytest.approx(103.5)
    assert pending.take() == {"f": ("a", "b")}
    assert not pending.due(1e9)


def test_many_changes_are_due_as_soon_as_they_pause() -> None:
    pending = Pending(PACE)
    for n in range(5_000):
        pending.add("f", [f"{n}"], 100.0 + n / 5_000)
        assert not pending.due(100.0 + n / 5_000)
    assert due_at(pending, 101.0, 105.0) <= 101.4
    assert pending.take() == {"f": None}


def test_changes_without_end_are_due_at_last() -> None:
    pending = Pending(PACE)
    for n in range(120):
        pending.add("f", ["log.txt"], 100.0 + n / 10)
        assert pending.due(100.0 + n / 10) == (n >= 100)


def test_so_many_paths_are_everything() -> None:
    pending = Pending(PACE)
    pending.add("f", [f"{n}" for n in range(WHOLE_FOLDER_PATHS + 1)], 1.0)
    pending.add("f", ["another"], 1.0)
    pending.add("g", [""], 1.0)
    pending.add_everything("h", 1.0)
    assert pending.state() == WatchState({"f": WHOLE_FOLDER_PATHS + 2, "g": 1}, frozenset({"f", "g", "h"}))
    assert pending.take() == {"f": None, "g": None, "h": None}


def test_changes_wait_until_their_run_has_succeeded() -> None:
    pending = Pending(PACE)
    pending.add("f", ["a", "b"], 1.0)
    pending.add_everything("g", 1.0)
    taken = pending.take()
    pending.add("f", ["c"], 2.0)
    assert pending.state() == WatchState({"f": 3}, frozenset({"g"}))
    pending.succeeded("f")
    assert pending.state() == WatchState({"f": 1}, frozenset({"g"}))
    assert pending.failed("g", taken["g"], 2.0) == 1.0
    assert pending.state() == WatchState({"f": 1}, frozenset({"g"}))


def test_failed_changes_are_tried_again_later_and_later() -> None:
    pending = Pending(PACE)
    pending.add("f", ["a"], 0.0)
    now, waits = 10.0, []
    for _ in range(30):
        taken = pending.take()
        assert taken == {"f": ("a",)}
        waits.append(pending.failed("f", taken["f"], now))
        assert not pending.due(now + waits[-1] - 0.01)
        now += max(waits[-1], PACE.quiet)
        assert pending.due(now)
    assert waits[:7] == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0]
    assert set(waits[7:]) == {60.0}
    pending.take()
    pending.succeeded("f")
    pending.add("f", ["a"], now)
    assert pending.failed("f", pending.take()["f"], now) == 1.0
