"""The index that answers now: opened once, exchanged when a rebuild takes its place."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from everfind_core.index.directory import IndexCoverage, IndexLocation, of_current
from everfind_core.index.names import CALIBRATION, COVERAGE, POINTER
from everfind_core.index.sqlite_schema import DATABASE
from everfind_core.index.store_schema import TABLE_DIRECTORY
from everfind_core.model import Calibration
from everfind_core.ports import ChunkReader, ChunkSnapshot
from everfind_searcher.settings import SearcherSettings
from everfind_searcher.unchanged import WhileUnchanged

ReaderOpener = Callable[[Path], ChunkReader]


class OpenIndex:
    """An index and its store's reader. Thread-safe."""

    def __init__(self, location: IndexLocation, reader: ChunkReader) -> None:
        self.location = location
        self.reader = reader
        self._coverage = WhileUnchanged(location.directory / COVERAGE, location.read_coverage)
        self._calibration = WhileUnchanged(location.directory / CALIBRATION, location.read_calibration)

    def generation(self, snapshot: ChunkSnapshot) -> int:
        """The generation that ``snapshot`` shows, counted over rebuilds."""
        return self.location.generation_base + snapshot.generation()

    def coverage(self) -> IndexCoverage:
        """What the index covers now."""
        return self._coverage.get()

    def calibration(self) -> Calibration | None:
        """The model's noise on it; None if it was never measured."""
        return self._calibration.get()


class CurrentIndex:
    """Gives the current index of an index directory. Thread-safe."""

    def __init__(self, settings: SearcherSettings, open_reader: ReaderOpener) -> None:
        self._directory = settings.index_directory
        self._published = settings.published
        self._open_reader = open_reader
        self._guard = threading.Lock()
        self._seen: tuple[int, ...] = ()
        self._index: OpenIndex | None = None

    def get(self) -> OpenIndex:
        """The current index, opened anew only if the pointer was replaced, or files were put in the place of others.

        Raises:
            IndexMissingError, IndexDamagedError, IndexIncompatibleError: there is none that can be read.
            ConfigError, UnavailableError, StorageError: the object store where it is cannot be used.
        """
        if self._published:
            self._published.check()
        with self._guard:
            if self._index is None or self._look(self._index.location) != self._seen:
                self._index = of_current(self._directory, self._opened)
            return self._index

    def _opened(self, location: IndexLocation) -> OpenIndex:
        self._seen = self._look(location)
        return OpenIndex(location, self._open_reader(location.directory))

    def again(self) -> OpenIndex:
        """The current index after one could not be read: what is published is looked at anew. Raises as :meth:`get`."""
        if self._published:
            self._published.refresh()
        return self.get()

    def _look(self, location: IndexLocation) -> tuple[int, ...]:
        """What tells the pointer and the table of an index from others under the same names."""
        seen: list[int] = []
        for path in (self._directory / POINTER, location.directory / TABLE_DIRECTORY, location.directory / DATABASE):
            with suppress(OSError):
                stat = path.stat()
                seen += [stat.st_ino, stat.st_mtime_ns if path.name == POINTER else 0]
        return tuple(seen)
