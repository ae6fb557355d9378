"""The reader: opens the table, follows its versions, and gives snapshots of them."""

from __future__ import annotations

import os
import threading
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import lance
import numpy.ma  # noqa: F401 - Arrow's first array needs it; numpy's own late import of it can recurse for ever in two threads
from lance.dataset import Session  # type: ignore[attr-defined]  # public, but lance imports it under this name

from everfind_core.errors import EverfindError, IndexDamagedError, IndexIncompatibleError
from everfind_core.files.disk_use import bytes_below
from everfind_core.index.directory import missing
from everfind_core.index.manifest import REBUILD_HINT
from everfind_core.index.store_errors import LIBRARY_ERRORS, panics_are_damage
from everfind_core.index.store_schema import (
    NUMBER_COLUMNS,
    STRING_COLUMNS,
    TABLE_DIRECTORY,
    VECTOR,
    VERSIONS,
    manifest_version,
)
from everfind_core.index.vector_codec import VectorCodec
from everfind_core.index.written_files import check_written
from everfind_searcher.store.errors import translate
from everfind_searcher.store.lance_version import LanceVersion
from everfind_searcher.store.newest import Listing, VersionFile
from everfind_searcher.store.questions import SnapshotReader
from everfind_searcher.store.remote import REMOTE, remote_table
from everfind_searcher.store.resident import ResidentRows
from everfind_searcher.store.rows import codec_of
from everfind_searcher.store.snapshot import LanceSnapshot
from everfind_searcher.unchanged import WhileUnchanged

_INDEX_CACHE_BYTES: Final = 512 << 20
_METADATA_CACHE_BYTES: Final = 64 << 20
_STALE_BYTES: Final = 16 << 20
"""Caches larger than this and the table's files together are, in part, of versions that are gone."""


class _Opened(NamedTuple):
    """A version of the table, and what stored its vectors."""

    version: LanceVersion
    codec: VectorCodec
    file: VersionFile | None
    """The file that is this version, looked at before it was read; None where it is in an object store."""

    @property
    def number(self) -> int:
        """The version's."""
        return self.version.dataset.version

    def is_put_back(self, seen: _Opened) -> bool:
        """Whether the table was put back from a copy since ``seen``: a number that was given then is given anew."""
        return self.number < seen.number or (self.number == seen.number and self.file != seen.file)


class LanceChunkReader(SnapshotReader):
    """A :class:`~everfind_core.ports.ChunkReader` on a LanceDB table. Thread-safe; calls run in parallel."""

    def __init__(self, directory: Path, resident_bytes: int) -> None:
        self._directory = directory.absolute()
        self._table = self._directory / TABLE_DIRECTORY
        self._guard = threading.Lock()
        self._resident = ResidentRows(resident_bytes)
        check_written(self._directory, self._table)
        self._remote = WhileUnchanged(self._directory / REMOTE, partial(remote_table, self._directory))
        self._session = _session()
        self._accounted = _STALE_BYTES
        self._listing: Listing | None = None
        self._opened = self._open()

    def generation(self) -> int:
        """The table's newest version."""
        return self._newest().number

    def snapshot(self) -> LanceSnapshot:
        """The table's newest version."""
        return self._of(self._newest())

    def reopened(self) -> LanceSnapshot:
        """The table's newest version, opened anew."""
        return self._of(self._reopen(self._opened))

    def _of(self, opened: _Opened) -> LanceSnapshot:
        self._resident.follow(opened.version)
        return LanceSnapshot(opened.version, self._resident, codec=opened.codec)

    def _newest(self) -> _Opened:
        opened = self._opened
        remote = self._remote.get()
        current = remote.version == opened.number if remote else self._is_newest(opened)
        return opened if current else self._reopen(opened)

    def _is_newest(self, opened: _Opened) -> bool:
        """Whether no other came; the library lists all only where their directory changed since it did that."""
        if opened.file is None:
            return False
        try:
            if self._listing is not None and self._listing.is_current():
                return opened.file.is_last()
            listing = Listing.of(self._table)
            with panics_are_damage(self._directory):
                newest = opened.version.dataset.latest_version == opened.number and opened.file.is_there()
        except (*LIBRARY_ERRORS, IndexDamagedError):
            return False
        self._listing = listing if newest else None
        return newest

    def _reopen(self, seen: _Opened) -> _Opened:
        """The newest version, opened anew unless that was done since ``seen`` was."""
        with self._guard:
            if self._opened is seen:
                if self._holds_gone_versions():
                    self._session = _session()
                self._opened = self._open()
                if self._opened.is_put_back(seen):
                    self._session = _session()  # what it keeps of a version goes by the number
                    self._opened = self._open()
            return self._opened

    def _holds_gone_versions(self) -> bool:
        """Whether caches hold more than the table can account for: what each commit replaces stays there unasked.

        What it can account for is looked up once they hold more than they might before: there are thousands of files.
        """
        held = self._session.size_bytes()
        if held <= self._accounted or remote_table(self._directory):
            return False
        self._accounted = _STALE_BYTES + bytes_below(self._table)
        return held > self._accounted

    def _newest_file(self) -> tuple[int, VersionFile | None]:
        """The newest version by the files' names, and that file; -1 where there is none."""
        versions = self._table / VERSIONS
        found = map(manifest_version, os.listdir(versions) if versions.is_dir() else ())  # noqa: PTH208 - thousands of names
        newest = max((version for version in found if version is not None), default=-1)
        return newest, VersionFile.of(self._table, newest) if newest >= 0 else None

    def _open(self) -> _Opened:
        try:
            with panics_are_damage(self._directory):
                newest, file = self._newest_file()
                dataset = self._dataset_of(self._table)
        except LIBRARY_ERRORS as error:
            raise self._unopened(error) from error
        schema = dataset.schema
        absent = {*STRING_COLUMNS, *NUMBER_COLUMNS, VECTOR} - set(schema.names)
        if absent:
            raise IndexIncompatibleError(
                f"the table in {self._directory} lacks the column {min(absent)}", hint=REBUILD_HINT
            )
        codec = codec_of(schema)
        if codec is None:
            raise IndexIncompatibleError(f"the table in {self._directory} has other vectors", hint=REBUILD_HINT)
        seen = file if dataset.version == newest else None  # of one that came meanwhile nothing is known
        return _Opened(LanceVersion(dataset, self._directory), codec, seen)

    def _dataset_of(self, table: Path) -> lance.LanceDataset:
        remote = remote_table(self._directory)
        if remote is None:
            return lance.dataset(str(table), session=self._session)
        options = remote.storage_options()
        return lance.dataset(remote.uri, version=remote.version, storage_options=options, session=self._session)

    def _unopened(self, error: Exception) -> EverfindError:
        translated = translate(error, self._directory, opening=True)
        written = remote_table(self._directory) or any((self._table / part).is_dir() for part in ("data", VERSIONS))
        if isinstance(translated, IndexDamagedError) and not written:
            return missing(self._directory)
        return translated


def _session() -> Session:
    return Session(index_cache_size_bytes=_INDEX_CACHE_BYTES, metadata_cache_size_bytes=_METADATA_CACHE_BYTES)
