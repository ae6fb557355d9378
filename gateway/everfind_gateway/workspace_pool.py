"""Workspaces that are open in one process: at most so many, each opened once, none closed while it is used."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from everfind_core.cancellation import Cancellation
from everfind_core.errors import OverloadedError, UnavailableError

WAIT_SECONDS = 10.0
"""How long a call waits at most for another workspace's calls to end, where all places are taken."""

_LOOK_SECONDS = 0.2


class Pooled(Protocol):
    """What is kept open."""

    @property
    def busy(self) -> bool:
        """Whether something is under way in it that outlives its calls."""
        ...

    def close(self) -> bool:
        """Close it; false if calls go on that cannot be stopped."""
        ...


T = TypeVar("T", bound=Pooled)


@dataclass(slots=True, eq=False)
class Slot(Generic[T]):
    """A workspace by its key: None while it is being opened. ``users`` are calls under way in it."""

    key: str
    value: T | None = None
    users: int = 0
    last_used: float = field(default_factory=time.time)
    closing: bool = False

    @property
    def idle(self) -> bool:
        """Whether it may be closed now."""
        return self.value is not None and not self.users and not self.closing and not self.value.busy

    @property
    def changing(self) -> bool:
        """Whether it is being opened or closed by some call."""
        return self.value is None or self.closing


class WorkspacePool(Generic[T]):
    """Opens workspaces by key, and closes the idle one that was used longest ago for another. Thread-safe.

    One is opened outside the lock, so that others go on being used meanwhile; who wants the same one waits for it.
    """

    def __init__(self, limit: int, patience: float = WAIT_SECONDS) -> None:
        """At most ``limit`` are open at a time; a call waits at most ``patience`` seconds for a place."""
        self._limit = limit
        self._patience = patience
        self._changed = threading.Condition()
        self._slots: dict[str, Slot[T]] = {}
        self._leaving: list[Slot[T]] = []
        """Those that no call gets any more: they count until they are closed."""
        self._stopped = False

    @contextmanager
    def hold(
        self,
        key: str,
        open_one: Callable[[], T],
        fits: Callable[[T], bool] = lambda _value: True,
        cancel: Cancellation | None = None,
    ) -> Iterator[T]:
        """The workspace of ``key``, kept open within the block; one that does not fit is left to its calls.

        Raises:
            OverloadedError: as many as may be open are in use.
            UnavailableError: the server is stopping.
            CancelledError, DeadlineExceededError: the call has ended meanwhile.
        """
        slot, value = self._taken(key, open_one, fits, cancel)
        try:
            yield value
        finally:
            with self._changed:
                slot.users -= 1
                slot.last_used = time.time()
                self._changed.notify_all()

    def opened(self) -> list[tuple[str, T, float]]:
        """Those that calls get now: key, workspace and when it was used last; the latest first."""
        with self._changed:
            slots = sorted(self._slots.values(), key=lambda slot: -slot.last_used)
            return [(slot.key, slot.value, slot.last_used) for slot in slots if slot.value is not None]

    def review(self, key: str, fits: Callable[[T], bool]) -> None:
        """Let the workspace of ``key`` leave, if it does not fit."""
        with self._changed:
            self._fitting(key, fits)

    def close_leavers(self) -> None:
        """Close those that have left and are idle."""
        while (leaver := self._leaver()) is not None:
            self._close(leaver)

    def stop(self) -> list[T]:
        """Open no more; gives all that are open."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
            return [slot.value for slot in self._all() if slot.value is not None]

    def close(self) -> bool:
        """Close all, also those in which calls are under way; false if some of these cannot be stopped."""
        self.stop()
        with self._changed:
            while any(slot.changing for slot in self._all()):
                self._changed.wait()  # who does it ends it
            slots = self._all()
            self._slots.clear()
            self._leaving.clear()
        closed = [slot.value.close() for slot in slots if slot.value is not None]
        return all(closed)

    def _all(self) -> list[Slot[T]]:
        return [*self._slots.values(), *self._leaving]

    def _taken(
        self, key: str, open_one: Callable[[], T], fits: Callable[[T], bool], cancel: Cancellation | None
    ) -> tuple[Slot[T], T]:
        """An open workspace that fits, counted as in use."""
        give_up = time.monotonic() + self._patience
        while True:
            if cancel is not None:
                cancel.check()
            with self._changed:
                self._check_open()
                slot = self._fitting(key, fits)
                if slot is not None and slot.value is not None:
                    slot.users += 1
                    return slot, slot.value
                if slot is not None:  # another call opens it
                    self._changed.wait(_LOOK_SECONDS)
                    continue
                closing = self._in_the_way()
                if closing is None and self._has_room():
                    slot = self._slots[key] = Slot(key)
                elif closing is None:
                    self._wait(give_up)
            if closing is not None:
                self._close(closing)
            elif slot is not None:
                return slot, self._open(slot, open_one)

    def _check_open(self) -> None:
        if self._stopped:
            raise UnavailableError("the server is stopping", hint="Try again when it is up.")

    def _has_room(self) -> bool:
        return len(self._all()) < self._limit

    def _in_the_way(self) -> Slot[T] | None:
        """One that has left, or without room the idle one that was used longest ago; the caller closes it."""
        if (leaver := self._leaver()) is not None or self._has_room():
            return leaver
        idle = min((slot for slot in self._slots.values() if slot.idle), key=lambda slot: slot.last_used, default=None)
        if idle is None:
            return None
        self._leaving.append(self._slots.pop(idle.key))
        return self._leaver()

    def _fitting(self, key: str, fits: Callable[[T], bool]) -> Slot[T] | None:
        """The slot of ``key``, if what is open there fits or is still to come."""
        slot = self._slots.get(key)
        if slot is None or slot.value is None or fits(slot.value):
            return slot
        self._leaving.append(self._slots.pop(key))
        return None

    def _open(self, slot: Slot[T], open_one: Callable[[], T]) -> T:
        try:
            value = open_one()
        except BaseException:  # an interruption, too, must free the slot
            self._opened(slot, None)
            raise
        if not self._opened(slot, value):
            value.close()
            self._check_open()
        return value

    def _opened(self, slot: Slot[T], value: T | None) -> bool:
        """Take in what came of opening a workspace; false if it is not wanted any more."""
        with self._changed:
            wanted = value is not None and not self._stopped
            if wanted:
                slot.value = value
                slot.users += 1
            else:
                del self._slots[slot.key]
            self._changed.notify_all()
            return wanted

    def _leaver(self) -> Slot[T] | None:
        """One that leaves, is idle, and that nobody closes yet: its caller does."""
        with self._changed:
            for slot in self._leaving:
                if slot.idle:
                    slot.closing = True
                    return slot
        return None

    def _close(self, slot: Slot[T]) -> None:
        try:
            assert slot.value is not None
            slot.value.close()
        finally:
            with self._changed:
                self._leaving.remove(slot)
                self._changed.notify_all()

    def _wait(self, give_up: float) -> None:
        """Wait for a place to become free.

        Raises:
            OverloadedError: that takes too long, or only runs are under way, which may take hours.
        """
        soon = any(slot.users or slot.changing for slot in self._all())
        if time.monotonic() > give_up or not soon:
            raise OverloadedError(
                f"the server has {self._limit} workspaces in use, its limit",
                hint="Try again later; `max_workspaces` is how many may be open.",
            )
        self._changed.wait(_LOOK_SECONDS)
