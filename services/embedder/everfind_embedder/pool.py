"""The worker threads that all embedding calls share, turn by turn."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from everfind_core.cancellation import Cancellation

Job = Callable[[], None]

CHECK_SECONDS = 0.05
"""How often a waiting caller looks whether it should give up."""


class _Call:
    """The jobs of one call, and how far they are."""

    def __init__(self, jobs: Sequence[Job], cancel: Cancellation | None) -> None:
        self.waiting = deque(jobs)
        self.unfinished = len(jobs)
        self.cancel = cancel
        self.error: BaseException | None = None
        self.done = threading.Event()


class JobPool:
    """Runs small jobs on a fixed number of threads.

    Calls under way take turns, one job each, so that all advance; jobs of urgent calls go first. A call therefore
    waits for at most one running job of others, never for a whole batch.
    """

    def __init__(self, threads: int) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="embed")
        self._guard = threading.Lock()
        self._urgent: deque[_Call] = deque()
        self._patient: deque[_Call] = deque()

    def run(self, jobs: Sequence[Job], *, urgent: bool = False, cancel: Cancellation | None = None) -> None:
        """Run all ``jobs`` and return when they are done.

        The first error of a job ends the call and is raised here, as is the cancellation.
        """
        if cancel is not None:
            cancel.check()
        if not jobs:
            return
        call = _Call(jobs, cancel)
        with self._guard:
            (self._urgent if urgent else self._patient).append(call)
        try:
            for _ in jobs:
                self._executor.submit(self._run_next)
            self._wait(call)
        finally:
            with self._guard:
                self._drop(call)
        if call.error is not None:
            raise call.error

    def close(self) -> None:
        """End the threads after the jobs that they are running."""
        self._executor.shutdown(wait=True, cancel_futures=True)

    def _wait(self, call: _Call) -> None:
        while not call.done.wait(CHECK_SECONDS if call.cancel is not None else None):
            if call.cancel is not None:
                call.cancel.check()

    def _run_next(self) -> None:
        """One turn of a worker. There is one turn a job; the turns of dropped jobs find nothing to do."""
        turn = self._take()
        if turn is None:
            return
        call, job = turn
        try:
            if call.cancel is not None:
                call.cancel.check()
            job()
        except BaseException as error:
            self._finish(call, error)
        else:
            self._finish(call, None)

    def _take(self) -> tuple[_Call, Job] | None:
        with self._guard:
            calls = self._urgent or self._patient
            if not calls:
                return None
            call = calls.popleft()
            job = call.waiting.popleft()
            if call.waiting:
                calls.append(call)
            return call, job

    def _finish(self, call: _Call, error: BaseException | None) -> None:
        with self._guard:
            call.unfinished -= 1
            if error is not None:
                call.error = call.error or error
                self._drop(call)
            if call.error is not None or not call.unfinished:
                call.done.set()

    def _drop(self, call: _Call) -> None:
        """Forget the jobs of ``call`` that nobody has begun. The guard is held."""
        call.waiting.clear()
        for calls in (self._urgent, self._patient):
            if call in calls:
                calls.remove(call)
