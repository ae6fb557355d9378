"""Connections to the SQLite store's file for threads that read at once, each for the time of one question."""

from __future__ import annotations

import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from everfind_core.files.whole import FileStamp, file_stamp
from everfind_core.index.sqlite_files import begin_reading, connect, sqlite_errors
from everfind_core.index.sqlite_schema import DATABASE
from everfind_core.index.store_errors import damaged


class Connections:
    """Opened as they are needed, and kept for the next question. Thread-safe.

    They are to one file, by its inode: one that takes its place is no part of the store that a question began with.
    """

    def __init__(self, directory: Path, inode: int) -> None:
        self.directory = directory
        self._inode = inode
        self._guard = threading.Lock()
        self.age = 0
        """Grows when the file may have become another one in place."""
        self._idle: list[sqlite3.Connection] = []
        weakref.finalize(self, _close_all, self._idle)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection in a transaction: what is read through it is of one moment. Raises errors of the tree only."""
        with sqlite_errors(self.directory, write=False):
            age = self.age
            db = self._taken()
            try:
                begin_reading(db, self.directory)
                yield db
            except BaseException:
                db.close()
                raise
            db.execute("COMMIT")
            with self._guard:
                kept = age == self.age
                if kept:
                    self._idle.append(db)
            if not kept:
                db.close()

    def renew(self) -> None:
        """Use no connection again that was opened before: SQLite takes a file of as many commits for the same one."""
        with self._guard:
            self.age += 1
            idle = self._idle.copy()
            self._idle.clear()
        _close_all(idle)

    def _taken(self) -> sqlite3.Connection:
        with self._guard, suppress(IndexError):
            return self._idle.pop()
        db = connect(self.directory, write=False)
        now = file_stamp(self.directory / DATABASE)
        if now is None or inode_of(now) != self._inode:
            db.close()
            raise damaged(self.directory)
        return db


def inode_of(stamp: FileStamp) -> int:
    """Which file it is, whenever it was changed."""
    return stamp[1]


def _close_all(connections: list[sqlite3.Connection]) -> None:
    for db in connections:
        db.close()
