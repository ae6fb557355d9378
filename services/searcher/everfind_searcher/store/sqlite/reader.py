"""The reader of the SQLite store: opens the file, follows its generations, and gives snapshots of them."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from everfind_core.errors import IndexIncompatibleError
from everfind_core.files.whole import FileStamp, file_stamp
from everfind_core.index.directory import missing
from everfind_core.index.manifest import REBUILD_HINT
from everfind_core.index.sqlite_schema import DATABASE, FORMAT, GENERATION, codec_of, right_schema, schema_of
from everfind_searcher.store.questions import SnapshotReader
from everfind_searcher.store.resident import ResidentRows
from everfind_searcher.store.sqlite.connections import Connections, inode_of
from everfind_searcher.store.sqlite.snapshot import SqliteSnapshot
from everfind_searcher.store.sqlite.version import Part, SqliteVersion, read_parts

_FACT: Final = "SELECT value FROM facts WHERE name = ?"


class SqliteChunkReader(SnapshotReader):
    """A :class:`~everfind_core.ports.ChunkReader` on one SQLite file. Thread-safe; calls run in parallel."""

    def __init__(self, directory: Path, resident_bytes: int) -> None:
        place = directory.absolute()
        self._file = place / DATABASE
        self._stamp = self._look()
        self._guard = threading.Lock()
        self._connections = Connections(place, inode_of(self._stamp))
        self._check_format()
        self._version = self._read_version({})
        self._resident = ResidentRows(resident_bytes)

    def generation(self) -> int:
        """The store's newest generation."""
        return self._newest().number

    def snapshot(self) -> SqliteSnapshot:
        """The store's newest generation."""
        version = self._newest()
        self._resident.follow(version)
        return SqliteSnapshot(version, self._resident)

    def _newest(self) -> SqliteVersion:
        """The file's stamp tells of one that was put back from a copy, and the generation of commits."""
        with self._guard:
            stamp = self._look()
            if stamp != self._stamp:
                self._connections.renew()
                if inode_of(stamp) != inode_of(self._stamp):
                    self._connections = Connections(self._file.parent, inode_of(stamp))
            if stamp != self._stamp or self._generation() != self._version.number:
                self._version = self._read_version(self._version.parts)
                self._stamp = stamp
            return self._version

    def _look(self) -> FileStamp:
        stamp = file_stamp(self._file)
        if stamp is None:
            raise missing(self._file.parent)
        return stamp

    def _generation(self) -> int:
        with self._connections.reading() as db:
            return _generation(db)

    def _read_version(self, known: Mapping[int, Part]) -> SqliteVersion:
        with self._connections.reading() as db:
            return SqliteVersion(self._connections, _generation(db), read_parts(db, known), codec_of(db))

    def _check_format(self) -> None:
        with self._connections.reading() as db:
            (found,) = db.execute(_FACT, ("format",)).fetchone()
            right = found == FORMAT and schema_of(db) == right_schema()
        if not right:
            raise IndexIncompatibleError(
                f"the table in {self._connections.directory} is of another format", hint=REBUILD_HINT
            )


def _generation(db: sqlite3.Connection) -> int:
    (generation,) = db.execute(_FACT, (GENERATION,)).fetchone()
    return int(generation)
