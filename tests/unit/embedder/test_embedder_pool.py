from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everfind_core.cancellation import Cancellation
from everfind_core.errors import CancelledError, DeadlineExceededError, EverfindError, OverloadedError
from everfind_embedder.pool import BatchPool, JobPool
from tests.support.waiting import wait_until

RUN = 12
"""What a run takes in size."""


class Runs:
    """Notes what each run worked at. The first waits until it is released, so that others queue behind it."""

    def __init__(self, *, held: bool = True) -> None:
        self.all: list[list[str]] = []
        self.started = threading.Event()
        self.release = threading.Event()
        if not held:
            self.release.set()

    def __call__(self, items: Sequence[str]) -> None:
        self.started.set()
        assert self.release.wait(60)
        self.all.append(list(items))
        if any("bad" in item for item in items):
            raise KeyError("broken")


@pytest.fixture
def runs() -> Runs:
    return Runs()


@pytest.fixture
def pool(runs: Runs) -> Iterator[BatchPool[str]]:
    """One thread that works at words, as many of a length as fit into a run; six wait at most."""
    with_words = words(runs)
    yield with_words
    runs.release.set()
    with_words.close()


def words(runs: Runs, threads: int = 1) -> BatchPool[str]:
    return BatchPool(threads, runs, size=len, together=lambda word: RUN // len(word), limit=6 * RUN)


class Caller(threading.Thread):
    """A call, and what it ended with."""

    def __init__(self, pool: BatchPool[str], items: Sequence[str], cancel: Cancellation | None = None) -> None:
        super().__init__()
        self._call: Callable[[], None] = lambda: pool.run(items, cancel=cancel)
        self.error: BaseException | None = None
        before = pool.waiting
        self.start()
        wait_until(lambda: pool.waiting != before or not self.is_alive())

    def run(self) -> None:
        try:
            self._call()
        except (EverfindError, KeyError) as error:
            self.error = error


def hold(pool: BatchPool[str], runs: Runs) -> threading.Thread:
    """Keep the only thread busy."""
    first = threading.Thread(target=pool.run, args=(["first"],))
    first.start()
    assert runs.started.wait(60)
    return first


def finish(runs: Runs, *callers: threading.Thread) -> None:
    runs.release.set()
    for caller in callers:
        caller.join(60)
        assert not caller.is_alive()


def test_equal_sizes_of_several_calls_go_together(pool: BatchPool[str], runs: Runs) -> None:
    first = hold(pool, runs)
    callers = [Caller(pool, items) for items in (["aaaa", "aa"], ["bbbb"], ["c"], ["dddd", "dddd"], ["ee"])]
    finish(runs, first, *callers)
    assert runs.all == [["first"], ["aaaa", "bbbb", "dddd"], ["c"], ["dddd"], ["ee", "aa"]]


def test_calls_take_turns(pool: BatchPool[str], runs: Runs) -> None:
    first = hold(pool, runs)
    callers = [Caller(pool, ["a" * 9] * 3), Caller(pool, ["b" * 10] * 2)]
    finish(runs, first, *callers)
    assert [run[0][0] for run in runs.all] == ["f", "a", "b", "a", "b", "a"]


def test_no_items(pool: BatchPool[str]) -> None:
    pool.run([])


def test_an_error_ends_its_call_and_no_other(pool: BatchPool[str], runs: Runs) -> None:
    first = hold(pool, runs)
    callers = [Caller(pool, items) for items in (["good"], ["bad.", "more", "rest", "last"], ["fine"])]
    finish(runs, first, *callers)
    assert [type(caller.error) for caller in callers] == [type(None), KeyError, type(None)]
    assert runs.all[1:] == [["good", "bad.", "more"], ["good"], ["bad.", "more"], ["fine"]]
    assert pool.waiting == 0
    pool.run(["next"])


@pytest.mark.parametrize(
    ("cancel", "error"),
    [(Cancellation(), CancelledError), (Cancellation(time.monotonic() + 0.3), DeadlineExceededError)],
)
def test_who_gave_up_is_not_worked_for(
    pool: BatchPool[str], runs: Runs, cancel: Cancellation, error: type[EverfindError]
) -> None:
    first = hold(pool, runs)
    gone, stays = Caller(pool, ["gone"] * 5, cancel), Caller(pool, ["stay"])
    if error is CancelledError:
        cancel.cancel()
    gone.join(60)
    assert isinstance(gone.error, error)
    assert pool.waiting == len("stay")
    finish(runs, first, stays)
    assert runs.all == [["first"], ["stay"]]


def test_a_cancelled_call_runs_nothing(pool: BatchPool[str], runs: Runs) -> None:
    cancel = Cancellation()
    cancel.cancel()
    with pytest.raises(CancelledError):
        pool.run(["word"], cancel=cancel)
    assert not runs.started.is_set()


def test_a_full_queue_refuses_and_takes_again_when_it_is_shorter(pool: BatchPool[str], runs: Runs) -> None:
    first = hold(pool, runs)
    large = Caller(pool, ["x" * 9] * 100)  # larger than the limit: taken, for nothing waited
    with pytest.raises(OverloadedError, match="900 tokens waiting, more than its limit of 72"):
        pool.run(["word"])
    assert pool.waiting == 900
    finish(runs, first, large)
    pool.run(["word"])


def test_closing_ends_calls_that_wait(pool: BatchPool[str], runs: Runs) -> None:
    first = hold(pool, runs)
    waiting = Caller(pool, ["word"])
    closing = threading.Thread(target=pool.close)
    closing.start()
    waiting.join(60)
    assert isinstance(waiting.error, CancelledError)
    finish(runs, first, closing)


def test_a_call_that_enters_while_the_pool_closes_is_cancelled(pool: BatchPool[str], runs: Runs) -> None:
    runs.release.set()
    pool.close()
    with pytest.raises(CancelledError, match="was closed"):
        pool.run(["word"])
    assert pool.waiting == 0


def test_each_run_is_told(pool: BatchPool[str], runs: Runs) -> None:
    told: list[tuple[int, int]] = []
    pool.on_run = lambda items, size, _seconds: told.append((items, size))
    runs.release.set()
    pool.run(["abc", "def", "g"])
    assert told == [(2, 6), (1, 1)]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.integers(1, 20), max_size=12), max_size=6), st.integers(1, 3))
def test_every_item_is_worked_at_once_in_runs_of_one_size(calls: list[list[int]], threads: int) -> None:
    runs = Runs(held=False)
    pool = words(runs, threads)
    pool._limit = None
    items = [[chr(ord("a") + caller) * size for size in sizes] for caller, sizes in enumerate(calls)]
    callers = [Caller(pool, own) for own in items]
    finish(runs, *callers)
    pool.close()
    assert sorted(word for run in runs.all for word in run) == sorted(word for own in items for word in own)
    for run in runs.all:
        assert len({len(word) for word in run}) == 1
        assert len(run) == 1 or len(run) * len(run[0]) <= RUN


def test_as_many_runs_at_once_as_threads() -> None:
    pool = JobPool(3)
    barrier = threading.Barrier(3, timeout=60)

    def meet() -> None:
        barrier.wait()

    pool.run([meet] * 3)
    pool.close()


@pytest.mark.skipif(sys.platform != "linux", reason="priorities of threads are Linux's")
def test_its_threads_run_at_a_lower_priority_and_no_other() -> None:
    seen: list[int] = []

    def priority() -> int:
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    before = priority()
    pool: BatchPool[str] = BatchPool(
        1, lambda _items: seen.append(priority()), size=len, together=lambda _word: 1, nice=3
    )
    pool.run(["word"])
    pool.close()
    assert (seen, priority()) == ([min(19, before + 3)], before)
