"""An index that is read in place on an object store: what is small of it, in a directory of this machine.

The directory is laid out as an index directory, so that all else reads it as one; the table is opened where it is.
"""

from __future__ import annotations

import logging
import tempfile
import threading
from pathlib import Path
from typing import Final

from everfind_core.errors import EverfindError, IndexMissingError
from everfind_core.index.json_files import storage_error, write_json
from everfind_core.index.names import INDEXES, POINTER
from everfind_core.index.object_place import ObjectPlace
from everfind_core.index.published import PUBLISHED, Published, decoded
from everfind_rpc.objects import Objects
from everfind_searcher.store.remote import REMOTE, RemoteTable

REFRESH_SECONDS: Final = 5.0
"""How old what a searcher knows of the place may be, and so how long a new generation stays unseen."""

_log = logging.getLogger("everfind.published")


class PublishedIndex:
    """Follows what is published at a place. Thread-safe; use it as a context manager, or close it."""

    def __init__(self, place: ObjectPlace, refresh_seconds: float = REFRESH_SECONDS) -> None:
        """Prepare; the place is asked at the first :meth:`check`.

        Raises:
            ConfigError: the package for it is not installed.
        """
        self.place = place
        self._objects = Objects(place)
        self._interval = refresh_seconds
        self._scratch = tempfile.TemporaryDirectory(prefix="everfind-published-")
        self._guard = threading.Lock()
        self._etag = ""
        self._told: Published | None = None
        self._ended = threading.Event()
        self._follower: threading.Thread | None = None

    @property
    def directory(self) -> Path:
        """The index directory of this machine."""
        return Path(self._scratch.name)

    def check(self) -> None:
        """See that an index is there; from then on, new generations are seen by themselves.

        Raises:
            IndexMissingError: none is published yet.
            IndexDamagedError, IndexIncompatibleError: what is published cannot be read.
            ConfigError, UnavailableError, StorageError: the object store cannot be used, or does not answer.
        """
        if self._follower is not None:
            return
        with self._guard:
            if self._follower is None:
                self.refresh()
                self._follower = threading.Thread(target=self._follow, name="published-index", daemon=True)
                self._follower.start()

    def refresh(self) -> None:
        """Take in what is published now. Raises as :meth:`check`."""
        stored = self._objects.read(PUBLISHED)
        if stored is None:
            raise IndexMissingError(
                f"no index is published at {self.place}", hint="The indexer publishes with `publish_to` set to it."
            )
        if stored.etag != self._etag:
            told = decoded(stored.content, str(self.place))
            try:
                self._take(told)
            except OSError as error:
                raise storage_error(error, self.directory) from error
            self._etag = stored.etag

    def close(self) -> None:
        """Stop following, and remove the directory."""
        self._ended.set()
        if self._follower is not None:
            self._follower.join()
        self._scratch.cleanup()

    def _take(self, told: Published) -> None:
        """Write it as an index directory: last what makes the rest be read.

        That is the table's version, and for another index than before the pointer, with which a searcher opens it anew.
        """
        index = self.directory / INDEXES / told.index
        index.mkdir(parents=True, exist_ok=True)
        table = RemoteTable(f"{self.place}/{told.table}", told.version, dict(self._objects.address_options()))
        for name, content in told.sidecars.items():
            write_json(index / name, content)
        write_json(index / REMOTE, table.as_json())
        if self._told is None or not told.follows(self._told):
            write_json(self.directory / POINTER, {"index": told.index})
        self._told = told

    def _follow(self) -> None:
        while not self._ended.wait(self._interval):
            try:
                self.refresh()
            except EverfindError as error:  # what was seen before still answers
                _log.warning("what is published cannot be looked at: %s", error)
