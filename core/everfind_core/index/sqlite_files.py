"""The SQLite store's file: opened by either side, and its faults in everfind's words.

It has a rollback journal and no write-ahead log: with that, even a reader writes beside the file, which a volume that
is mounted read-only or over a network does not allow. A commit keeps readers waiting while it is written.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from everfind_core.errors import EverfindError, IndexLockedError, StorageError
from everfind_core.index.directory import missing
from everfind_core.index.json_files import storage_error
from everfind_core.index.sqlite_schema import DATABASE
from everfind_core.index.store_errors import damaged

_BUSY_SECONDS: Final = 120.0
_READER_PAGES: Final = -16_384
"""A reader's cache, in KiB below zero."""

_DAMAGE: Final = frozenset(
    {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_FORMAT}
    | {sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_OK}
)
"""Codes of errors that say that the file is damaged; Python gives none to text that is no text."""

_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL})
_ROOM: Final = 64 * 1024
_ANYTHING: Final = "SELECT 1 FROM sqlite_master"

UNREADABLE: Final = (ValueError, LookupError, TypeError, OverflowError)
"""What decoding raises where a value of the file is none that was written."""


def connect(directory: Path, *, write: bool) -> sqlite3.Connection:
    """Open the file in ``directory``, which is there. Any thread may use the connection, one at a time.

    Raises:
        sqlite3.Error: it cannot be opened.
    """
    place = (directory / DATABASE).absolute().as_uri()
    db = sqlite3.connect(
        f"{place}?mode={'rw' if write else 'ro'}",
        uri=True,
        isolation_level=None,
        timeout=_BUSY_SECONDS,
        check_same_thread=False,
    )
    try:
        db.execute("PRAGMA trusted_schema = OFF")
        if write:
            db.execute("PRAGMA journal_mode = TRUNCATE")
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute("PRAGMA cache_spill = OFF")  # readers wait for the end of a commit, and not for all of it
        else:
            _first(db, directory, f"PRAGMA cache_size = {_READER_PAGES}")
    except sqlite3.Error:
        db.close()
        raise
    return db


def begin_reading(db: sqlite3.Connection, directory: Path) -> None:
    """Begin a transaction: what is read until its end is of one moment.

    Raises:
        sqlite3.Error: the file cannot be read.
    """
    db.execute("BEGIN")
    _first(db, directory, _ANYTHING)


def _first(db: sqlite3.Connection, directory: Path, statement: str) -> None:
    """Execute what reads the file first.

    Where a process died in the middle of a commit, that is undone before, which a reader cannot do by itself.
    """
    try:
        db.execute(statement).fetchone()
    except sqlite3.Error as error:
        if not _is_interrupted(error):
            raise
        with contextlib.suppress(sqlite3.Error), contextlib.closing(connect(directory, write=True)) as writing:
            writing.execute(_ANYTHING).fetchone()
        db.execute(statement).fetchone()


@contextlib.contextmanager
def opened_for_reading(directory: Path) -> Iterator[sqlite3.Connection]:
    """The file in ``directory`` as it is at one moment. Raises errors of the tree only."""
    with sqlite_errors(directory, write=False), contextlib.closing(connect(directory, write=False)) as db:
        begin_reading(db, directory)
        yield db


@contextlib.contextmanager
def sqlite_errors(directory: Path, *, write: bool) -> Iterator[None]:
    """Let the block raise errors of the tree only."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translated(error, directory, write=write) from error
    except UNREADABLE as error:
        raise damaged(directory) from error


def _translated(error: sqlite3.Error, directory: Path, *, write: bool) -> EverfindError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and write and _is_full(directory)):
        return storage_error(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), directory)
    if code in _BUSY:
        return IndexLockedError(
            f"another process keeps the index in {directory} for itself", hint="Let it end, then try again."
        )
    if code in _DAMAGE:
        return damaged(directory)
    if _is_interrupted(error) and not write:
        return StorageError(
            f"cannot read the index in {directory}: a process died while it wrote there",
            hint="Run `everfind index`, or start the indexer again; nothing that was committed is lost.",
        )
    if code == sqlite3.SQLITE_CANTOPEN and not (directory / DATABASE).exists():
        return missing(directory)
    verb = "write" if write else "read"
    return StorageError(
        f"cannot {verb} the index in {directory}: {error}", hint="Check its owner and mode, and the disk."
    )


def _is_interrupted(error: sqlite3.Error) -> bool:
    """Whether a reader was refused because a process died in the middle of a commit."""
    code = getattr(error, "sqlite_errorcode", 0)
    return code in (sqlite3.SQLITE_READONLY_ROLLBACK, sqlite3.SQLITE_READONLY)


def _is_full(directory: Path) -> bool:
    """Whether a disk has no room, which SQLite at times calls an I/O error."""
    try:
        return shutil.disk_usage(directory).free < _ROOM
    except OSError:
        return False
