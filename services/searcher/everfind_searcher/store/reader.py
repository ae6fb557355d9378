"""The reader: opens the table, follows its versions, and gives snapshots of them."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Final

import lance
from lance.dataset import Session  # type: ignore[attr-defined]  # public, but lance imports it under this name

from everfind_core.errors import EverfindError, IndexDamagedError, IndexIncompatibleError
from everfind_core.manifest import REBUILD_HINT
from everfind_core.store_errors import LIBRARY_ERRORS, panics_are_damage
from everfind_core.store_schema import NUMBER_COLUMNS, STRING_COLUMNS, TABLE_DIRECTORY, VECTOR
from everfind_core.written_files import check_written
from everfind_searcher.store.errors import translate
from everfind_searcher.store.lance_version import LanceVersion
from everfind_searcher.store.missing import missing
from everfind_searcher.store.questions import SnapshotReader
from everfind_searcher.store.remote import remote_table
from everfind_searcher.store.resident import ResidentRows
from everfind_searcher.store.snapshot import LanceSnapshot

_INDEX_CACHE_BYTES: Final = 512 << 20
_METADATA_CACHE_BYTES: Final = 64 << 20


class LanceChunkReader(SnapshotReader):
    """A :class:`~everfind_core.ports.ChunkReader` on a LanceDB table. Thread-safe; calls run in parallel."""

    def __init__(self, directory: Path, resident_bytes: int) -> None:
        self._directory = directory.absolute()
        self._guard = threading.Lock()
        self._session = Session(
            index_cache_size_bytes=_INDEX_CACHE_BYTES, metadata_cache_size_bytes=_METADATA_CACHE_BYTES
        )
        check_written(self._directory, self._directory / TABLE_DIRECTORY)
        self._dataset = self._open()
        self._resident = ResidentRows(resident_bytes)

    def generation(self) -> int:
        """The table's newest version."""
        return self._newest().version

    def snapshot(self) -> LanceSnapshot:
        """The table's newest version."""
        return self._of(self._newest())

    def reopened(self) -> LanceSnapshot:
        """The table's newest version, opened anew."""
        return self._of(self._reopen())

    def _of(self, dataset: lance.LanceDataset) -> LanceSnapshot:
        self._resident.follow(LanceVersion(dataset, self._directory))
        return LanceSnapshot(dataset, self._resident, self._directory)

    def _newest(self) -> lance.LanceDataset:
        dataset = self._dataset
        try:
            with panics_are_damage(self._directory):
                remote = remote_table(self._directory)
                current = (remote.version if remote else dataset.latest_version) == dataset.version
        except (*LIBRARY_ERRORS, IndexDamagedError):
            current = False
        return dataset if current else self._reopen()

    def _reopen(self) -> lance.LanceDataset:
        with self._guard:
            self._dataset = self._open()
            return self._dataset

    def _open(self) -> lance.LanceDataset:
        table = self._directory / TABLE_DIRECTORY
        try:
            with panics_are_damage(self._directory):
                dataset = self._dataset_of(table)
        except LIBRARY_ERRORS as error:
            raise self._unopened(error, table) from error
        absent = {*STRING_COLUMNS, *NUMBER_COLUMNS, VECTOR} - set(dataset.schema.names)
        if absent:
            raise IndexIncompatibleError(
                f"the table in {self._directory} lacks the column {min(absent)}", hint=REBUILD_HINT
            )
        return dataset

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
