"""A pool of open workspaces: each is opened once, a slow one delays nobody else, none is closed while it is used."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from everfind_core.errors import OverloadedError, UnavailableError
from everfind_gateway.workspace_pool import WorkspacePool

SECONDS = 30.0


class Thing:
    """Something that is kept open; ``gate`` is what its closing waits for."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.busy = False
        self.users = 0
        self.closed_with: int | None = None
        self.gate: threading.Event | None = None
        self.closing = threading.Event()

    def close(self) -> bool:
        self.closing.set()
        if self.gate is not None:
            self.gate.wait(SECONDS)
        assert self.closed_with is None, "closed twice"
        self.closed_with = self.users
        return True


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as threads:
        yield threads


class Slow:
    """Opens things one of which is waited for."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.gate = threading.Event()
        self.made: list[Thing] = []

    def open(self) -> Thing:
        self.begun.set()
        assert self.gate.wait(SECONDS)
        self.made.append(Thing("slow"))
        return self.made[-1]


def held(pool: WorkspacePool[Thing], key: str, slow: Slow | None = None) -> Thing:
    with pool.hold(key, (lambda: Thing(key)) if slow is None else slow.open) as thing:
        assert thing.closed_with is None
        return thing


def test_a_slow_opening_delays_only_who_wants_the_same(threads: ThreadPoolExecutor) -> None:
    pool: WorkspacePool[Thing] = WorkspacePool(2)
    slow = Slow()
    waiting = [threads.submit(held, pool, "slow", slow) for _ in range(3)]
    slow.begun.wait(SECONDS)
    assert held(pool, "other").name == "other"
    assert held(pool, "third").name == "third", "the other one was closed for it"
    assert [key for key, _, _ in pool.opened()] == ["third"]
    assert not any(one.done() for one in waiting)
    slow.gate.set()
    assert {id(one.result(SECONDS)) for one in waiting} == {id(slow.made[0])}
    assert len(slow.made) == 1


def test_what_is_being_opened_has_a_place_already(threads: ThreadPoolExecutor) -> None:
    pool: WorkspacePool[Thing] = WorkspacePool(1, patience=0.0)
    slow = Slow()
    waiting = threads.submit(held, pool, "slow", slow)
    slow.begun.wait(SECONDS)
    with pytest.raises(OverloadedError, match="has 1 workspaces in use"):
        held(pool, "other")
    slow.gate.set()
    assert waiting.result(SECONDS) is slow.made[0]
    assert held(pool, "other").name == "other"
    assert slow.made[0].closed_with == 0


def test_one_that_cannot_be_opened_leaves_its_place(threads: ThreadPoolExecutor) -> None:
    pool: WorkspacePool[Thing] = WorkspacePool(1)

    def fail() -> Thing:
        raise OSError("not now")

    for _ in range(2):
        with pytest.raises(OSError, match="not now"), pool.hold("a", fail):
            pass
    assert held(pool, "a").name == "a"


def test_one_that_does_not_fit_stays_with_its_calls() -> None:
    pool: WorkspacePool[Thing] = WorkspacePool(2)
    with pool.hold("a", lambda: Thing("before")) as before:
        with pool.hold("a", lambda: Thing("now"), lambda thing: thing.name == "now") as now:
            assert (before.closed_with, now.name) == (None, "now")
        assert held(pool, "a") is now
    assert before.closed_with is None
    pool.close_leavers()
    assert before.closed_with == 0
    pool.review("a", lambda _thing: False)
    pool.close_leavers()
    assert now.closed_with == 0
    assert pool.opened() == []


def test_closing_waits_for_what_is_opened_and_closed_by_others(threads: ThreadPoolExecutor) -> None:
    pool: WorkspacePool[Thing] = WorkspacePool(2)
    slow, leaver = Slow(), held(pool, "leaver")
    leaver.gate = threading.Event()
    opening = threads.submit(held, pool, "slow", slow)
    slow.begun.wait(SECONDS)
    closing: Future[object] = threads.submit(held, pool, "third")  # closes the leaver for its place
    assert leaver.closing.wait(SECONDS)
    assert pool.stop() == [leaver]
    ended = threads.submit(pool.close)
    slow.gate.set()
    leaver.gate.set()
    assert ended.result(SECONDS)
    for call in (opening, closing):
        with pytest.raises(UnavailableError, match="stopping"):
            call.result(SECONDS)
    assert (leaver.closed_with, slow.made[0].closed_with) == (0, 0)


@pytest.mark.parametrize("limit", [1, 2])
def test_many_that_ask_at_once_never_see_one_closed(threads: ThreadPoolExecutor, limit: int) -> None:
    pool: WorkspacePool[Thing] = WorkspacePool(limit, patience=SECONDS)
    guard = threading.Lock()
    made: list[Thing] = []
    most = [0]

    def opening(key: str) -> Thing:
        with guard:
            made.append(Thing(key))
            most[0] = max(most[0], sum(thing.closed_with is None for thing in made))
            return made[-1]

    def use(seed: int) -> None:
        key = random.Random(seed).choice("abcd")
        with pool.hold(key, lambda: opening(key)) as thing:
            with guard:
                thing.users += 1
            assert (thing.name, thing.closed_with) == (key, None)
            with guard:
                thing.users -= 1

    for call in [threads.submit(use, seed) for seed in range(300)]:
        call.result(SECONDS)
    assert pool.close()
    assert [thing.closed_with for thing in made] == [0] * len(made)
    assert most[0] <= limit
