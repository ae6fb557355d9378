"""The reader of the SQLite store: opens the file, follows its generations, and gives snapshots of them."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path
from typing import Final

from everfind_core.errors import IndexIncompatibleError
from everfind_core.files.whole import FileStamp, file_stamp
from everfind_core.index.manifest import REBUILD_HINT
from everfind_core.index.sqlite_schema import DATABASE, FORMAT, GENERATION, right_schema, schema_of
from everfind_searcher.store.missing import missing
from everfind_searcher.store.questions import SnapshotReader
from everfind_searcher.store.resident import ResidentRows
from everfind_searcher.store.sqlite.connections import Connections
from everfind_searcher.store.sqlite.snapshot import SqliteSnapshot
from everfind_searcher.store.sqlite.version import SqliteVersion, read_parts

_FACT: Final = "SELECT value FROM facts WHERE name = ?"
_COMMITTED: Final = "SELECT committed FROM generations WHERE generation = ?"


class SqliteChunkReader(SnapshotReader):
    """A :class:`~everfind_core.ports.ChunkReader` on one SQLite file. Thread-safe; calls run in parallel."""

    def __init__(self, directory: Path, resident_bytes: int) -> None:
        place = directory.absolute()
        if not (place / DATABASE).exists():
            raise missing(directory)
        self._connections = Connections(place)
        self._guard = threading.Lock()
        self._check_format()
        self._committed: float | None = None
        self._file = place / DATABASE
        self._stamp: FileStamp | None = None
        self._version = self._read_version(None)
        self._resident_bytes = resident_bytes
        self._resident = ResidentRows(resident_bytes)

    def generation(self) -> int:
        """The store's newest generation."""
        with self._connections.reading() as db:
            (generation,) = db.execute(_FACT, (GENERATION,)).fetchone()
        return int(generation)

    def snapshot(self) -> SqliteSnapshot:
        """The store's newest generation."""
        version = self._newest()
        self._resident.follow(version)
        return SqliteSnapshot(version, self._resident)

    def _newest(self) -> SqliteVersion:
        with self._guard:
            stamp = file_stamp(self._file)
            if stamp != self._stamp:
                self._stamp = stamp
                self._connections.renew()
            version = self._version = self._read_version(self._version)
        return version

    def _read_version(self, before: SqliteVersion | None) -> SqliteVersion:
        with self._connections.reading() as db:
            (generation,) = db.execute(_FACT, (GENERATION,)).fetchone()
            if before is not None and not self._goes_on(db, before, generation):
                before, self._resident = None, ResidentRows(self._resident_bytes)
            if before is not None and before.number == generation:
                return before
            parts = read_parts(db, before.parts if before else {})
            self._committed = _committed(db, generation)
        return SqliteVersion(self._connections, generation, parts)

    def _goes_on(self, db: sqlite3.Connection, before: SqliteVersion, generation: int) -> bool:
        """Whether the file has gone on from ``before``; it has not where it was put back from a copy.

        Commits since then may have given the same numbers anew, but not at the same time.
        """
        committed = _committed(db, before.number)
        return before.number <= generation and committed in (None, self._committed)

    def _check_format(self) -> None:
        with self._connections.reading() as db:
            (found,) = db.execute(_FACT, ("format",)).fetchone()
            right = found == FORMAT and schema_of(db) == right_schema()
        if not right:
            raise IndexIncompatibleError(
                f"the table in {self._connections.directory} is of another format", hint=REBUILD_HINT
            )


def _committed(db: sqlite3.Connection, generation: int) -> float | None:
    """When a generation was committed; None of the first one, and of those of which rows may be dropped."""
    found = db.execute(_COMMITTED, (generation,)).fetchone()
    return None if found is None else float(found[0])
