"""Publishing: the index that answers now, copied to an object store as a whole generation, for searchers to read there.

What is there already is not sent again, for the store's library never changes a file.
"""

from __future__ import annotations

import logging
import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from everfind_core.cancellation import Cancellation
from everfind_core.errors import IndexDamagedError, IndexMissingError, StorageError
from everfind_core.files.parsed_json import OTHER_SHAPE, parse_json
from everfind_core.index.directory import IndexLocation, current_index
from everfind_core.index.json_files import REPAIR_HINT, storage_error, write_json
from everfind_core.index.names import INDEXES, PUBLISHER
from everfind_core.index.object_place import ObjectPlace
from everfind_core.index.published import KEPT_SECONDS, PUBLISHED, SIDECARS, Published, decoded
from everfind_core.index.store_backends import StoreBackend
from everfind_core.index.store_schema import TABLE_DIRECTORY
from everfind_rpc.objects import Objects, Stored

_OURS: Final = re.compile(rf"{INDEXES}/[0-9a-z]+-\d+/{re.escape(TABLE_DIRECTORY)}/.+")
"""What may be removed: a bucket may hold other things below the same prefix."""

_MANIFEST: Final = ".manifest"
"""Of a file that has a version's number for a name, which an index that was put back from a copy gives once more."""

_log = logging.getLogger("everfind.publishing")


class Publisher:
    """Publishes one index directory at one place. Whoever calls holds the writer's lock.

    All calls raise ConfigError or UnavailableError where the object store cannot be used or does not answer.
    """

    def __init__(self, index_directory: Path, place: ObjectPlace) -> None:
        self._directory = index_directory
        self._objects = Objects(place)
        self._name = _publisher(index_directory)

    def before(self) -> tuple[Published | None, Stored | None]:
        """What is published now, and as which object; nothing before the first time.

        Raises:
            StorageError: it is another index.
        """
        stored = self._objects.read(PUBLISHED)
        found = decoded(stored.content, str(self._objects.place)) if stored else None
        if found and found.publisher != self._name:
            raise StorageError(
                f"another index is published at {self._objects.place}",
                hint=f"Name another place, or remove {PUBLISHED} there to let this one take its place.",
            )
        return found, stored

    def publish(self, cancel: Cancellation | None = None, *, kept_seconds: float = KEPT_SECONDS) -> None:
        """Publish the current index, if there is one. What it does without stays ``kept_seconds``.

        Raises:
            StorageError: it cannot be read, is none that can be published, or another is published there.
            CancelledError, DeadlineExceededError: what was published before stays.
        """
        location = self._location()
        if location is None:
            return
        before, stored = self.before()
        version, files = _newest(location)
        told = Published(self._name, location.directory.name, version, _sidecars(location))
        if before and before.shows(told) and not before.unused:
            return
        present = self._objects.sizes(f"{INDEXES}/")
        self._send(told, location.directory / TABLE_DIRECTORY, files, present, cancel or Cancellation())
        unused = _unused(present, {f"{told.table}/{name}" for name in files}, before)
        self._switch(told, stored, unused, kept_seconds)

    def _location(self) -> IndexLocation | None:
        """The index that answers now, if there is one."""
        try:
            location = current_index(self._directory)
        except IndexMissingError:
            return None
        if location.manifest.store is not StoreBackend.LANCEDB:
            raise StorageError(
                f"the index in {self._directory} is kept in SQLite, and only one in LanceDB can be published",
                hint="Set `store_backend` to lancedb, and run `everfind index --rebuild`.",
            )
        return location

    def _send(
        self, told: Published, table: Path, files: frozenset[str], present: Mapping[str, int], cancel: Cancellation
    ) -> None:
        for name in sorted(files):
            cancel.check()
            target = f"{told.table}/{name}"
            try:
                if not self._is_there(target, table / name, present):
                    self._objects.upload(target, table / name)
            except OSError as error:
                raise storage_error(error, table) from error

    def _is_there(self, target: str, file: Path, present: Mapping[str, int]) -> bool:
        same_size = present.get(target) == file.stat().st_size
        if not same_size or not target.endswith(_MANIFEST):
            return same_size
        stored = self._objects.read(target)
        return stored is not None and stored.content == file.read_bytes()

    def _switch(self, told: Published, stored: Stored | None, unused: Mapping[str, float], kept_seconds: float) -> None:
        """Let readers see it, then remove what no reader can still be at."""
        now = time.time()
        due = [name for name, since in unused.items() if now - since >= kept_seconds]
        left = {name: since for name, since in unused.items() if name not in due}
        content = replace(told, at=now, unused=left).encoded()
        if not self._objects.write(PUBLISHED, content, replaces=stored):
            raise StorageError(
                f"another process publishes at {self._objects.place} at the same time",
                hint="Let one index directory be published there.",
            )
        self._objects.remove(due)
        _log.info("published", extra={"place": str(self._objects.place), "version": told.version})


def _unused(present: Mapping[str, int], used: set[str], before: Published | None) -> dict[str, float]:
    """The objects that a new generation does without, each with when that came to be."""
    known = before.unused if before else {}
    now = time.time()
    return {name: known.get(name, now) for name in present if name not in used and _OURS.fullmatch(name)}


def _sidecars(location: IndexLocation) -> dict[str, Any]:
    paths = {name: location.directory / name for name in SIDECARS}
    try:
        return {name: parse_json(path.read_text(encoding="utf-8")) for name, path in paths.items() if path.exists()}
    except OSError as error:
        raise storage_error(error, location.directory) from error
    except ValueError as error:
        raise IndexDamagedError(
            f"the index is damaged: a small file in {location.directory} cannot be read", hint=REPAIR_HINT
        ) from error


def _newest(location: IndexLocation) -> tuple[int, frozenset[str]]:
    from everfind_indexer.store.integrity import newest_files  # loads the store's library

    return newest_files(location.directory)


def _publisher(index_directory: Path) -> str:
    """Names this index directory, the same for ever."""
    path = index_directory / PUBLISHER
    try:
        return str(parse_json(path.read_text(encoding="utf-8"))["publisher"])
    except FileNotFoundError:
        made = secrets.token_hex(8)
        write_json(path, {"publisher": made})
        return made
    except OSError as error:
        raise storage_error(error, index_directory) from error
    except OTHER_SHAPE as error:
        raise StorageError(
            f"{path} cannot be read", hint="Remove it; the index then needs another place to be published at."
        ) from error
