"""The reader: opens the table, follows its versions, and gives snapshots of them."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Final, NamedTuple

import lance
from lance.dataset import Session  # type: ignore[attr-defined]  # public, but lance imports it under this name

from everfind_core.errors import EverfindError, IndexDamagedError, IndexIncompatibleError
from everfind_core.index.manifest import REBUILD_HINT
from everfind_core.index.store_errors import LIBRARY_ERRORS, panics_are_damage
from everfind_core.index.store_schema import NUMBER_COLUMNS, STRING_COLUMNS, TABLE_DIRECTORY, VECTOR
from everfind_core.index.written_files import check_written
from everfind_searcher.store.errors import translate
from everfind_searcher.store.lance_version import LanceVersion
from everfind_searcher.store.missing import missing
from everfind_searcher.store.questions import SnapshotReader
from everfind_searcher.store.remote import remote_table
from everfind_searcher.store.resident import ResidentRows
from everfind_searcher.store.snapshot import LanceSnapshot

_INDEX_CACHE_BYTES: Final = 512 << 20
_METADATA_CACHE_BYTES: Final = 64 << 20


class _Opened(NamedTuple):
    """A version of the table, and how many numbers its vectors have."""

    dataset: lance.LanceDataset
    dimensions: int


class LanceChunkReader(SnapshotReader):
    """A :class:`~everfind_core.ports.ChunkReader` on a LanceDB table. Thread-safe; calls run in parallel."""

    def __init__(self, directory: Path, resident_bytes: int) -> None:
        self._directory = directory.absolute()
        self._guard = threading.Lock()
        self._resident_bytes = resident_bytes
        check_written(self._directory, self._directory / TABLE_DIRECTORY)
        self._forget()
        self._opened = self._open()

    def generation(self) -> int:
        """The table's newest version."""
        return self._newest().dataset.version

    def snapshot(self) -> LanceSnapshot:
        """The table's newest version."""
        return self._of(self._newest())

    def reopened(self) -> LanceSnapshot:
        """The table's newest version, opened anew."""
        return self._of(self._reopen())

    def _of(self, opened: _Opened) -> LanceSnapshot:
        self._resident.follow(LanceVersion(opened.dataset, self._directory))
        return LanceSnapshot(opened.dataset, self._resident, self._directory, dimensions=opened.dimensions)

    def _newest(self) -> _Opened:
        opened = self._opened
        dataset = opened.dataset
        try:
            with panics_are_damage(self._directory):
                remote = remote_table(self._directory)
                current = (remote.version if remote else dataset.latest_version) == dataset.version
        except (*LIBRARY_ERRORS, IndexDamagedError):
            current = False
        return opened if current else self._reopen()

    def _reopen(self) -> _Opened:
        with self._guard:
            before, self._opened = self._opened, self._open()
            if self._opened.dataset.version < before.dataset.version:  # the table was put back from a copy
                self._forget()
                self._opened = self._open()
            return self._opened

    def _forget(self) -> None:
        """Have nothing in memory: names of files and numbers of fragments tell what they hold in one history only."""
        self._session = Session(
            index_cache_size_bytes=_INDEX_CACHE_BYTES, metadata_cache_size_bytes=_METADATA_CACHE_BYTES
        )
        self._resident = ResidentRows(self._resident_bytes)

    def _open(self) -> _Opened:
        table = self._directory / TABLE_DIRECTORY
        try:
            with panics_are_damage(self._directory):
                dataset = self._dataset_of(table)
        except LIBRARY_ERRORS as error:
            raise self._unopened(error, table) from error
        schema = dataset.schema
        absent = {*STRING_COLUMNS, *NUMBER_COLUMNS, VECTOR} - set(schema.names)
        if absent:
            raise IndexIncompatibleError(
                f"the table in {self._directory} lacks the column {min(absent)}", hint=REBUILD_HINT
            )
        return _Opened(dataset, schema.field(VECTOR).type.list_size)

    def _dataset_of(self, table: Path) -> lance.LanceDataset:
        remote = remote_table(self._directory)
        if remote is None:
            return lance.dataset(str(table), session=self._session)
        options = remote.storage_options()
        return lance.dataset(remote.uri, version=remote.version, storage_options=options, session=self._session)

    def _unopened(self, error: Exception, table: Path) -> EverfindError:
        translated = translate(error, self._directory, opening=True)
        written = remote_table(self._directory) or (table / "data").is_dir() or (table / "_versions").is_dir()
        if isinstance(translated, IndexDamagedError) and not written:
            return missing(self._directory)
        return translated
