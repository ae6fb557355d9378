from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from everfind_core.cancellation import Cancellation
from everfind_core.errors import CancelledError, DeadlineExceededError
from everfind_embedder.pool import JobPool


@pytest.fixture
def pool() -> Iterator[JobPool]:
    jobs = JobPool(1)
    yield jobs
    jobs.close()


class Recorder:
    """Jobs that note their name; the first of all waits until it is released."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.started = threading.Event()
        self.release = threading.Event()

    def job(self, name: str) -> None:
        self.started.set()
        self.release.wait(5)
        self.names.append(name)


def call(pool: JobPool, recorder: Recorder, name: str, count: int, *, urgent: bool = False) -> threading.Thread:
    def run() -> None:
        pool.run([lambda: recorder.job(name)] * count, urgent=urgent)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def wait_for_calls(pool: JobPool, urgent: int, patient: int) -> None:
    for _ in range(500):
        if (len(pool._urgent), len(pool._patient)) == (urgent, patient):
            return
        time.sleep(0.002)
    raise AssertionError("the calls never arrived")


def test_an_urgent_call_waits_for_one_job_only(pool: JobPool) -> None:
    recorder = Recorder()
    threads = [call(pool, recorder, "bulk", 20)]
    recorder.started.wait(5)
    threads.append(call(pool, recorder, "query", 1, urgent=True))
    wait_for_calls(pool, urgent=1, patient=1)
    recorder.release.set()
    for thread in threads:
        thread.join(5)
    assert recorder.names == ["bulk", "query"] + ["bulk"] * 19


def test_patient_calls_take_turns(pool: JobPool) -> None:
    recorder = Recorder()
    threads = [call(pool, recorder, "a", 4)]
    recorder.started.wait(5)
    wait_for_calls(pool, urgent=0, patient=1)
    threads.append(call(pool, recorder, "b", 3))
    wait_for_calls(pool, urgent=0, patient=2)
    recorder.release.set()
    for thread in threads:
        thread.join(5)
    assert recorder.names == ["a", "a", "b", "a", "b", "a", "b"]


def test_no_jobs(pool: JobPool) -> None:
    pool.run([])


def test_the_first_error_ends_the_call_and_no_other(pool: JobPool) -> None:
    ran: list[int] = []

    def fail() -> None:
        raise KeyError("broken")

    with pytest.raises(KeyError, match="broken"):
        pool.run([lambda: ran.append(1), fail, *[lambda: ran.append(2)] * 50])
    assert ran == [1]
    pool.run([lambda: ran.append(3)])
    assert ran == [1, 3]


def test_cancelling_stops_between_jobs(pool: JobPool) -> None:
    cancel = Cancellation()
    ran: list[int] = []

    def job() -> None:
        ran.append(1)
        if len(ran) == 3:
            cancel.cancel()

    with pytest.raises(CancelledError):
        pool.run([job] * 100, cancel=cancel)
    assert len(ran) == 3


def test_a_deadline_ends_the_wait_for_a_long_job(pool: JobPool) -> None:
    release = threading.Event()

    def long() -> None:
        release.wait(5)

    with pytest.raises(DeadlineExceededError):
        pool.run([long], cancel=Cancellation(time.monotonic() + 0.05))
    release.set()


def test_a_cancelled_call_runs_nothing(pool: JobPool) -> None:
    cancel = Cancellation()
    cancel.cancel()
    with pytest.raises(CancelledError):
        pool.run([lambda: pytest.fail("ran")], cancel=cancel)


def test_as_many_jobs_at_once_as_threads() -> None:
    pool = JobPool(3)
    barrier = threading.Barrier(3, timeout=5)

    def meet() -> None:
        barrier.wait()

    pool.run([meet] * 3)
    pool.close()
