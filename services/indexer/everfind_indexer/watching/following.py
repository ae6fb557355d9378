"""Follows the folders that there are: when the list of them changes, a new follower takes the place of the old one."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from everfind_core.errors import EverfindError
from everfind_core.model import Folder, IndexReport
from everfind_indexer.settings import IndexerSettings
from everfind_indexer.watching import follower
from everfind_indexer.watching.follower import Follower
from everfind_indexer.watching.pending import Pace

LOOK_SECONDS = 0.5

_log = logging.getLogger("everfind.watch")


class Engine(follower.Engine, Protocol):
    """What is followed for, and which folders it has."""

    def folders(self) -> Sequence[Folder]:
        """The folders as they are now."""
        ...


class Following:
    """Follows an engine's folders in the background, from :meth:`start` to :meth:`close`.

    The arguments are those of :class:`everfind_indexer.watching.Follower`.
    """

    def __init__(
        self,
        engine: Engine,
        settings: IndexerSettings,
        *,
        on_report: Callable[[Folder, IndexReport | EverfindError], object] = lambda *_: None,
        create: bool = True,
        pace: Pace | None = None,
    ) -> None:
        self._engine = engine
        self._settings = settings
        self._on_report = on_report
        self._create = create
        self._pace = pace
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="following", daemon=True)

    def start(self) -> None:
        """Begin to follow."""
        self._thread.start()

    def close(self) -> None:
        """Stop; a run under way ends at its next clean point."""
        self._stopped.set()
        self._thread.join(follower.END_SECONDS)

    def _run(self) -> None:
        followed: tuple[Folder, ...] = ()
        current: Follower | None = None
        while not self._stopped.is_set():
            now = self._folders(followed)
            if now != followed:
                if current is not None:
                    current.close()  # ends its run: a folder that is being removed waits for that
                followed, current = now, self._follower(now) if now else None
            self._stopped.wait(LOOK_SECONDS)
        if current is not None:
            current.close()

    def _folders(self, otherwise: tuple[Folder, ...]) -> tuple[Folder, ...]:
        """The folders as they are now; ``otherwise`` while nobody can tell."""
        try:
            return tuple(self._engine.folders())
        except EverfindError as error:
            _log.warning("the folders cannot be listed: %s", error.message)
            return otherwise

    def _follower(self, folders: tuple[Folder, ...]) -> Follower:
        settings = replace(self._settings, folders=folders)
        made = Follower(self._engine, settings, on_report=self._on_report, create=self._create, pace=self._pace)
        made.start()
        return made
