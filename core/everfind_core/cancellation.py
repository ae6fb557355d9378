"""Cooperative cancellation: one token a call, checked between steps, with the call's deadline."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable

from everfind_core.errors import CancelledError, DeadlineExceededError


class Cancellation:
    """Tells running work that its caller is gone.

    Thread-safe. ``deadline`` is in seconds of ``time.monotonic()``; None means no limit.
    """

    def __init__(self, deadline: float | None = None) -> None:
        self.deadline = deadline
        self._event = threading.Event()
        self._callbacks: list[Callable[[], object]] = []
        self._guard = threading.RLock()  # a signal's handler may cancel while the same thread registers

    def cancel(self) -> None:
        """Give up: every later check raises, and each registered callback runs once."""
        with self._guard:
            if self._event.is_set():
                return
            self._event.set()
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def on_cancel(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Run ``callback`` when cancelled; at once if that already happened. Gives what makes it forgotten again."""
        with self._guard:
            if not self._event.is_set():
                self._callbacks.append(callback)
                return lambda: self._forget(callback)
        callback()
        return lambda: None

    def _forget(self, callback: Callable[[], object]) -> None:
        with self._guard, contextlib.suppress(ValueError):
            self._callbacks.remove(callback)

    @property
    def cancelled(self) -> bool:
        """Whether :meth:`cancel` was called."""
        return self._event.is_set()

    def remaining(self) -> float | None:
        """Seconds until the deadline, never negative; None without one."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def check(self) -> None:
        """Raise if the work should stop.

        Raises:
            CancelledError: the caller gave up.
            DeadlineExceededError: the deadline has passed.
        """
        if self._event.is_set():
            raise CancelledError("the call was cancelled")
        if self.deadline is not None and time.monotonic() >= self.deadline:
            raise DeadlineExceededError("the call's deadline has passed")

    def wait(self, seconds: float) -> None:
        """Sleep at most ``seconds``, and raise as :meth:`check` does as soon as the work should stop."""
        remaining = self.remaining()
        self._event.wait(seconds if remaining is None else min(seconds, remaining))
        self.check()
