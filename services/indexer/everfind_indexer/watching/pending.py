"""The changes that wait for a run, and when it is time for it. Pure: the clock is the caller's."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from everfind_core.index.watch_state import WatchState
from everfind_indexer.running.planning import outermost

WHOLE_FOLDER_PATHS = 1_000
"""From so many changed paths on, looking at the whole folder costs less, and finds what was not heard in a burst."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How long changes are gathered, in seconds.

    A run begins ``quiet`` after the last change; after ``pause`` when ``many`` changes wait; ``longest`` after the
    first in any case. ``rescan`` is how often a followed folder is looked through whatever was heard of it, ``poll``
    likewise for one that cannot be listened to; both at least ``patience`` times as long as the last look took.
    """

    quiet: float = 2.0
    pause: float = 0.3
    many: int = 50
    longest: float = 10.0
    rescan: float = 600.0
    poll: float = 10.0
    patience: float = 10.0
    first_retry: float = 1.0
    longest_retry: float = 60.0


@dataclass(slots=True)
class Changes:
    """What changed in one folder: ``paths``, or ``everything`` may have. ``heard`` counts changes beyond the paths."""

    paths: set[str] = field(default_factory=set)
    everything: bool = False
    heard: int = 0

    def add(self, paths: Iterable[str]) -> None:
        """Take in changed paths; empty stands for the folder itself."""
        self.paths.update(paths)
        if self.everything:
            self.all()
        if "" in self.paths or len(self.paths) > WHOLE_FOLDER_PATHS:
            self.all()

    def all(self) -> None:
        """Take in that anything may have changed."""
        self.everything = True
        self.heard += len(self.paths)
        self.paths.clear()

    @property
    def count(self) -> int:
        """How many changes are known."""
        return self.heard + len(self.paths)


class Pending:
    """Changes by folder, and when they are due. One thread at a time."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._changes: dict[str, Changes] = {}
        self._under_way: dict[str, Changes] = {}
        self._first = self._last = 0.0
        self._not_before = 0.0
        self._failures = 0

    def add(self, folder: str, paths: Iterable[str], now: float) -> None:
        """Paths changed at ``now``."""
        self._touch(now)
        self._changes.setdefault(folder, Changes()).add(paths)

    def add_everything(self, folder: str, now: float) -> None:
        """Anything in the folder may have changed."""
        self._touch(now)
        self._changes.setdefault(folder, Changes()).all()

    def due_at(self) -> float:
        """When it is time for a run if nothing more changes; infinite while nothing waits."""
        if not self._changes:
            return math.inf
        quiet = min(self._pace.pause, self._pace.quiet) if self._are_many() else self._pace.quiet
        return max(self._not_before, min(self._last + quiet, self._first + self._pace.longest))

    def due(self, now: float) -> bool:
        """Whether it is time for a run."""
        return now >= self.due_at()

    def take(self) -> Mapping[str, tuple[str, ...] | None]:
        """All changes by folder: the outermost paths, or None for everything. Under way until they succeed or fail."""
        taken, self._changes = self._changes, {}
        self._under_way.update(taken)
        return {name: None if one.everything else outermost(one.paths) for name, one in taken.items()}

    def failed(self, folder: str, paths: tuple[str, ...] | None, now: float) -> float:
        """Take changes back that a run could not take in; gives the seconds until they are due again."""
        self._under_way.pop(folder, None)
        wait = min(self._pace.first_retry * 2.0 ** min(self._failures, 16), self._pace.longest_retry)
        self._failures += 1
        if paths is None:
            self.add_everything(folder, now)
        else:
            self.add(folder, paths, now)
        self._not_before = now + wait
        return wait

    def succeeded(self, folder: str) -> None:
        """A run took a folder's changes in: the next failure is a first one again."""
        self._under_way.pop(folder, None)
        self._failures = 0

    def state(self) -> WatchState:
        """What waits or is under way."""
        every = [*self._changes.items(), *self._under_way.items()]
        pending: dict[str, int] = {}
        for name, changes in every:
            if changes.count:
                pending[name] = pending.get(name, 0) + changes.count
        return WatchState(pending, frozenset(name for name, changes in every if changes.everything))

    def _are_many(self) -> bool:
        every = self._changes.values()
        return any(one.everything for one in every) or sum(len(one.paths) for one in every) >= self._pace.many

    def _touch(self, now: float) -> None:
        if not self._changes:
            self._first = now
        self._last = now
