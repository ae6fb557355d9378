"""The reader: opens the table, follows its versions, and gives snapshots of them."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Final, NamedTuple

import lance
from lance.dataset import Session  # type: ignore[attr-defined]  # public, but lance imports it under this name

from everfind_core.errors import EverfindError, IndexDamagedError, IndexIncompatibleError
from everfind_core.files.whole import FileStamp, file_stamp
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

_VERSION_NAMES: Final = (1 << 64) - 1
"""A version's file is named by how far its number is below this."""


class _Opened(NamedTuple):
    """A version of the table, and how many numbers its vectors have."""

    dataset: lance.LanceDataset
    dimensions: int
    stamp: FileStamp | None
    """Of the file that is this version; None where it is in an object store."""


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
                latest = remote.version if remote else dataset.latest_version
                current = latest == dataset.version and not self._is_replaced(opened)
        except (*LIBRARY_ERRORS, IndexDamagedError):
            current = False
        return opened if current else self._reopen()

    def _reopen(self) -> _Opened:
        with self._guard:
            before, self._opened = self._opened, self._open()
            if self._opened.dataset.version < before.dataset.version or self._is_replaced(before):
                self._forget()  # the table was put back from a copy
                self._opened = self._open()
            return self._opened

    def _is_replaced(self, opened: _Opened) -> bool:
        """Whether other commits have given its number anew; one that upkeep has dropped is in nobody's place."""
        now = self._stamp(opened.dataset.version)
        return now is not None and opened.stamp is not None and now != opened.stamp

    def _stamp(self, version: int) -> FileStamp | None:
        name = f"{_VERSION_NAMES - version}.manifest"
        return file_stamp(self._directory / TABLE_DIRECTORY / "_versions" / name)

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
                stamp = self._stamp(dataset.version)
        except LIBRARY_ERRORS as error:
            raise self._unopened(error, table) from error
        schema = dataset.schema
        absent = {*STRING_COLUMNS, *NUMBER_COLUMNS, VECTOR} - set(schema.names)
        if absent:
            raise IndexIncompatibleError(
                f"the table in {self._directory} lacks the column {min(absent)}", hint=REBUILD_HINT
            )
        return _Opened(dataset, schema.field(VECTOR).type.list_size, stamp)

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
