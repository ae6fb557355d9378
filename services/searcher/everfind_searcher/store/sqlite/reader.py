"""The reader of the SQLite store: opens the file, follows its generations, and gives snapshots of them."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Final

from everfind_core.errors import IndexIncompatibleError
from everfind_core.index.manifest import REBUILD_HINT
from everfind_core.index.sqlite_schema import DATABASE, FORMAT, GENERATION, right_schema, schema_of
from everfind_searcher.store.missing import missing
from everfind_searcher.store.questions import SnapshotReader
from everfind_searcher.store.resident import ResidentRows
from everfind_searcher.store.sqlite.connections import Connections
from everfind_searcher.store.sqlite.snapshot import SqliteSnapshot
from everfind_searcher.store.sqlite.version import SqliteVersion, read_parts

_FACT: Final = "SELECT value FROM facts WHERE name = ?"


class SqliteChunkReader(SnapshotReader):
    """A :class:`~everfind_core.ports.ChunkReader` on one SQLite file. Thread-safe; calls run in parallel."""

    def __init__(self, directory: Path, resident_bytes: int) -> None:
        place = directory.absolute()
        if not (place / DATABASE).exists():
            raise missing(directory)
        self._connections = Connections(place)
        self._guard = threading.Lock()
        self._check_format()
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
        version = self._version
        if self.generation() != version.number:
            with self._guard:
                version = self._version = self._read_version(self._version)
        return version

    def _read_version(self, before: SqliteVersion | None) -> SqliteVersion:
        with self._connections.reading() as db:
            (generation,) = db.execute(_FACT, (GENERATION,)).fetchone()
            if before is not None and before.number == generation:
                return before
            if before is not None and before.number > generation:  # the file was put back from a copy
                before, self._resident = None, ResidentRows(self._resident_bytes)
            parts = read_parts(db, before.parts if before else {})
        return SqliteVersion(self._connections, generation, parts)

    def _check_format(self) -> None:
        with self._connections.reading() as db:
            (found,) = db.execute(_FACT, ("format",)).fetchone()
            right = found == FORMAT and schema_of(db) == right_schema()
        if not right:
            raise IndexIncompatibleError(
                f"the table in {self._connections.directory} is of another format", hint=REBUILD_HINT
            )
