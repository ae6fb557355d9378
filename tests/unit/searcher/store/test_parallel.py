"""Parts of a piece of work: each is done once, by whoever is free, and errors are told."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from everfind_searcher.store import parallel
from everfind_searcher.store.parallel import in_parallel

PATIENCE = 60.0


@pytest.fixture
def helper(monkeypatch: pytest.MonkeyPatch) -> ThreadPoolExecutor:
    threads = ThreadPoolExecutor(1)
    monkeypatch.setattr(parallel, "helpers", lambda: threads)
    return threads


@pytest.mark.usefixtures("helper")
def test_a_free_thread_does_its_share() -> None:
    done: list[tuple[int, int]] = []
    both = threading.Barrier(2)

    def work(part: int) -> None:
        if part < 2:
            both.wait(PATIENCE)  # ends only if two threads have a part each
        done.append((part, threading.get_ident()))

    in_parallel(work, range(50))
    assert Counter(part for part, _ in done) == Counter(range(50))
    assert len({thread for _, thread in done}) == 2


def test_nobody_waits_for_one_who_is_busy(helper: ThreadPoolExecutor) -> None:
    free = threading.Event()
    busy = helper.submit(free.wait, PATIENCE)
    done: list[int] = []
    in_parallel(done.append, range(50))
    assert done == list(range(50))
    free.set()
    assert busy.result(PATIENCE)


@pytest.mark.parametrize("failing", [0, 1])
@pytest.mark.usefixtures("helper")
def test_an_error_in_either_thread_is_raised(failing: int) -> None:
    both = threading.Barrier(2)

    def work(part: int) -> None:
        if part < 2:
            both.wait(PATIENCE)
        if part == failing:
            raise ValueError("spoilt")

    with pytest.raises(ValueError, match="spoilt"):
        in_parallel(work, range(2))


def test_one_cpu_does_all_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "helpers", lambda: None)
    done: list[int] = []
    in_parallel(done.append, range(5))
    assert done == list(range(5))
