"""The threads that all calls share: turn by turn, and in one go what can be computed together."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeAlias, TypeVar

from everfind_core.cancellation import Cancellation
from everfind_core.errors import CancelledError, EverfindError, OverloadedError

Job: TypeAlias = Callable[[], None]
ItemT = TypeVar("ItemT")

CHECK_SECONDS = 0.05
"""How often a waiting caller looks whether it should give up."""


class _Call(Generic[ItemT]):
    """The items of one call that nobody has begun, by size, and how far the call is."""

    def __init__(self, items: Sequence[ItemT], size: Callable[[ItemT], int], cancel: Cancellation | None) -> None:
        self.waiting: dict[int, deque[ItemT]] = {}
        for item in items:
            self.waiting.setdefault(size(item), deque()).append(item)
        self.unfinished = len(items)
        self.cancel = cancel
        self.error: BaseException | None = None
        self.done = threading.Event()

    def weight(self) -> int:
        """The sizes of all waiting items together."""
        return sum(size * len(items) for size, items in self.waiting.items())

    def take(self, size: int, most: int) -> list[ItemT]:
        """At most ``most`` waiting items of ``size``."""
        items = self.waiting.get(size, deque())
        taken = [items.popleft() for _ in range(min(most, len(items)))]
        if not items:
            self.waiting.pop(size, None)
        return taken


Share: TypeAlias = tuple[_Call[ItemT], list[ItemT]]
"""What a turn takes of one call."""


class BatchPool(Generic[ItemT]):
    """Works off the items of all calls on a fixed number of threads.

    Calls take turns, so that all advance. A turn takes items of one size: of the call whose turn it is, then of others
    that wait, up to what ``together`` says of the first. It takes what is there and never waits for company: a run
    costs about what waiting for a second one would, and under load company waits already.
    """

    def __init__(
        self,
        threads: int,
        work: Callable[[Sequence[ItemT]], None],
        *,
        size: Callable[[ItemT], int],
        together: Callable[[ItemT], int],
        limit: int | None = None,
        nice: int = 0,
    ) -> None:
        """Prepare; calls that come while items of more than ``limit`` in size wait are refused (None: never).

        The threads run ``nice`` steps below the process's priority, where the system has priorities of threads.
        """
        self._threads = threads
        self._work = work
        self._size = size
        self._together = together
        self._limit = limit
        self._executor = ThreadPoolExecutor(
            threads, thread_name_prefix="embed", initializer=_lower_priority, initargs=(nice,)
        )
        self._guard = threading.Lock()
        self._calls: deque[_Call[ItemT]] = deque()
        self._waiting = 0
        self.on_run: Callable[[int, int, float], object] = lambda _items, _size, _seconds: None
        """Told of each run: how many items, their sizes together, and how long it took."""

    @property
    def waiting(self) -> int:
        """The sizes of all items that nobody has begun, together."""
        return self._waiting

    def run(self, items: Sequence[ItemT], *, cancel: Cancellation | None = None) -> None:
        """Work off all ``items`` and return when they are done; those that come first go first.

        The first error of an item ends its call and is raised here, as is the cancellation.

        Raises:
            OverloadedError: too much waits already.
        """
        if cancel is not None:
            cancel.check()
        if not items:
            return
        call = _Call(items, self._size, cancel)
        self._enter(call)
        try:
            self._send_threads(min(self._threads, len(items)))
            self._wait(call)
        finally:
            with self._guard:
                self._drop(call)
        if call.error is not None:
            raise call.error

    def close(self) -> None:
        """End the threads after the runs under way; calls that wait are cancelled."""
        with self._guard:
            for call in tuple(self._calls):
                call.error = CancelledError("the embedder was closed")
                self._drop(call)
                call.done.set()
        self._executor.shutdown(wait=True, cancel_futures=True)

    def _enter(self, call: _Call[ItemT]) -> None:
        with self._guard:
            if self._limit is not None and self._waiting >= self._limit:
                raise OverloadedError(
                    f"the embedder has {self._waiting:,} tokens waiting, more than its limit of {self._limit:,}",
                    hint="Try again in a second.",
                )
            self._calls.append(call)
            self._waiting += call.weight()

    def _send_threads(self, count: int) -> None:
        try:
            for _ in range(count):
                self._executor.submit(self._work_off)
        except RuntimeError:  # the pool was closed after the call had entered
            raise CancelledError("the embedder was closed") from None

    def _wait(self, call: _Call[ItemT]) -> None:
        while not call.done.wait(CHECK_SECONDS if call.cancel is not None else None):
            if call.cancel is not None:
                call.cancel.check()

    def _work_off(self) -> None:
        """A thread's part: turn after turn until nothing waits. Whoever adds a call sends threads after it."""
        while shares := self._take():
            self._run(shares)

    def _take(self) -> list[Share[ItemT]]:
        with self._guard:
            if not self._calls:
                return []
            first = self._calls[0]
            size, items = next(iter(first.waiting.items()))
            room = max(1, self._together(items[0]))
            shares: list[Share[ItemT]] = []
            for call in self._calls:
                if taken := call.take(size, room):
                    shares.append((call, taken))
                    room -= len(taken)
                if not room:
                    break
            self._waiting -= size * sum(len(taken) for _, taken in shares)
            self._calls.rotate(-1)
            for call, _ in shares:
                if not call.waiting:
                    self._calls.remove(call)
            return shares

    def _run(self, shares: Sequence[Share[ItemT]]) -> None:
        wanted = [(call, taken) for call, taken in shares if self._is_wanted(call)]
        items = [item for _, taken in wanted for item in taken]
        if not items:
            return
        started = time.perf_counter()
        try:
            self._work(items)
        except BaseException as error:  # raised in the threads of those who wait
            if len(wanted) > 1:  # what one call brought fails no other
                for share in wanted:
                    self._run([share])
                return
            self._finish(wanted, error)
        else:
            self.on_run(len(items), sum(map(self._size, items)), time.perf_counter() - started)
            self._finish(wanted, None)

    def _is_wanted(self, call: _Call[ItemT]) -> bool:
        """Whether the caller still waits; if not, its call ends here."""
        try:
            if call.cancel is not None:
                call.cancel.check()
        except EverfindError as error:
            self._finish([(call, [])], error)
            return False
        return call.error is None

    def _finish(self, shares: Sequence[Share[ItemT]], error: BaseException | None) -> None:
        with self._guard:
            for call, taken in shares:
                call.unfinished -= len(taken)
                if error is not None:
                    call.error = call.error or error
                    self._drop(call)
                if call.error is not None or not call.unfinished:
                    call.done.set()

    def _drop(self, call: _Call[ItemT]) -> None:
        """Forget the items of ``call`` that nobody has begun. The guard is held."""
        self._waiting -= call.weight()
        call.waiting.clear()
        if call in self._calls:
            self._calls.remove(call)


def _lower_priority(steps: int) -> None:
    """Lower the calling thread's priority. On Linux alone a priority belongs to a thread."""
    if steps and sys.platform == "linux":
        thread = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + steps)


class JobPool(BatchPool[Job]):
    """Runs small jobs, each alone."""

    def __init__(self, threads: int) -> None:
        super().__init__(threads, _run_job, size=lambda _job: 1, together=lambda _job: 1)


def _run_job(jobs: Sequence[Job]) -> None:
    for job in jobs:
        job()
