"""The catalog's SQLite file: opened, read, written a transaction at a time, and its faults in everfind's words."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

from everfind_core.errors import IndexDamagedError, StorageError, StorageFullError
from everfind_core.files.parsed_json import OTHER_SHAPE
from everfind_core.index.json_files import REPAIR_HINT

T = TypeVar("T")

Statement = tuple[str, Sequence[Sequence[object]]]
"""SQL, and the values of each of its executions."""

_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_OK})
"""Codes of errors that say that the file is damaged; Python gives none to text that is no text."""

_ROOM = 64 * 1024
"""Bytes of a disk below which an I/O error is one of space: SQLite grows its shared memory by 32 KiB."""


class CatalogDatabase:
    """One SQLite file. Not thread-safe.

    All calls raise StorageError, StorageFullError or IndexDamagedError for what SQLite raises.
    """

    def __init__(self, path: Path, *, read_only: bool) -> None:
        self._path = path
        try:
            if read_only:
                # Even a reader needs to write beside the file, unless it takes it for one that nobody changes.
                frozen = "" if os.access(path.parent, os.W_OK) else "&immutable=1"
                uri = f"{path.absolute().as_uri()}?mode=ro{frozen}"
                self._db = sqlite3.connect(uri, uri=True, isolation_level=None)
            else:
                self._db = sqlite3.connect(path, isolation_level=None)
                self._db.execute("PRAGMA journal_mode=WAL")
                self._db.execute("PRAGMA synchronous=NORMAL")
        except sqlite3.Error as error:
            raise self._error(error) from error

    def has_table(self, name: str) -> bool:
        """Whether a table is there."""
        return bool(self.all("SELECT 1 FROM sqlite_master WHERE name = ?", [name]))

    def has_column(self, table: str, name: str) -> bool:
        """Whether a table has a column."""
        return bool(self.all("SELECT 1 FROM pragma_table_info(?) WHERE name = ?", [table, name]))

    def script(self, statements: str) -> None:
        """Execute SQL without values."""
        try:
            self._db.executescript(statements)
        except sqlite3.Error as error:
            raise self._error(error) from error

    def each(self, statement: str, values: Sequence[str] = ()) -> Iterator[Any]:
        """The rows that a query finds, as they are asked for."""
        try:
            yield from self._db.execute(statement, values)
        except sqlite3.Error as error:
            raise self._error(error) from error

    def all(self, statement: str, values: Sequence[str] = ()) -> list[Any]:
        """The rows that a query finds."""
        return list(self.each(statement, values))

    def write(self, *statements: Statement) -> None:
        """Execute statements in one transaction: all of them, or none."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            for statement, rows in statements:
                self._db.executemany(statement, rows)
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise self._error(error) from error

    def read(self, decode: Callable[[Any], T], value: Any) -> T:
        """What a stored value says; one that says nothing was damaged."""
        try:
            return decode(value)
        except OTHER_SHAPE as error:
            raise self._damaged() from error

    def is_sound(self) -> bool:
        """Whether the file passes SQLite's own check, which reads all of it."""
        try:
            return bool(self._db.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok")
        except sqlite3.Error:
            return False

    def copy_to(self, path: Path) -> None:
        """Write a copy of one moment, whoever writes meanwhile."""
        try:
            with closing(sqlite3.connect(path)) as copy:
                self._db.backup(copy)
        except sqlite3.Error as error:
            raise self._error(error) from error

    def close(self) -> None:
        """Release the file."""
        self._db.close()

    def _damaged(self) -> IndexDamagedError:
        return IndexDamagedError(f"the index is damaged: {self._path} cannot be read", hint=REPAIR_HINT)

    def _error(self, error: sqlite3.Error) -> StorageError | IndexDamagedError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _is_full(self._path.parent)):
            return StorageFullError(
                f"no space left in {self._path.parent}", hint="Free some space, then run `everfind index` again."
            )
        if code in _DAMAGE:
            return self._damaged()
        return StorageError(
            f"cannot use {self._path}: {error}", hint="Check owner, mode and disk of the index directory."
        )


def _is_full(directory: Path) -> bool:
    """Whether a disk has no room for what SQLite adds to its shared memory: it calls that an I/O error."""
    try:
        return shutil.disk_usage(directory).free < _ROOM
    except OSError:
        return False
