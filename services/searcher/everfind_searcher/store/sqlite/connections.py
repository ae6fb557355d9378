"""Connections to the SQLite store's file for threads that read at once, each for the time of one question."""

from __future__ import annotations

import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from everfind_core.index.sqlite_files import begin_reading, connect, sqlite_errors


class Connections:
    """Opened as they are needed, and kept for the next question. Thread-safe."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._guard = threading.Lock()
        self._age = 0
        self._idle: list[sqlite3.Connection] = []
        weakref.finalize(self, _close_all, self._idle)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection in a transaction: what is read through it is of one moment. Raises errors of the tree only."""
        with sqlite_errors(self.directory, write=False):
            age = self._age
            db = self._taken()
            try:
                begin_reading(db, self.directory)
                yield db
            except BaseException:
                db.close()
                raise
            db.execute("COMMIT")
            with self._guard:
                kept = age == self._age
                if kept:
                    self._idle.append(db)
            if not kept:
                db.close()

    def renew(self) -> None:
        """Use no connection again that was opened before: SQLite takes a file of as many commits for the same one."""
        with self._guard:
            self._age += 1
            idle = self._idle.copy()
            self._idle.clear()
        _close_all(idle)

    def _taken(self) -> sqlite3.Connection:
        with self._guard, suppress(IndexError):
            return self._idle.pop()
        return connect(self.directory, write=False)


def _close_all(connections: list[sqlite3.Connection]) -> None:
    for db in connections:
        db.close()
