"""Where an indexer's folders come from: those of its settings, and those that clients add, which a file keeps."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from everfind_core.errors import ConfigError, InvalidRequestError
from everfind_core.files.parsed_json import OTHER_SHAPE, convert, parse_json
from everfind_core.files.paths import encode_os_path
from everfind_core.files.whole import FileStamp, file_stamp
from everfind_core.folder_rules import new_name
from everfind_core.index.directory import indexed_folders
from everfind_core.index.json_files import write_json
from everfind_core.index.names import FOLDERS
from everfind_core.model import Folder

FORMAT = 1
_UNREAD: FileStamp = (-1, -1)

_log = logging.getLogger("everfind.folders")


class FolderSource(Protocol):
    """The list of folders. Thread-safe."""

    def folders(self) -> tuple[Folder, ...]:
        """The folders as they are now."""
        ...

    def add(self, root: str, name: str, include: tuple[str, ...]) -> Folder:
        """Add a resolved directory (a path of the operating system) that can be one; an empty name is chosen.

        Raises:
            FolderExistsError: directory or name are taken.
        """
        ...

    def check_removable(self, folder: Folder) -> None:
        """Refuse a folder that cannot be removed.

        Raises:
            InvalidRequestError: it cannot.
        """
        ...

    def remove(self, folder: Folder) -> None:
        """Take a folder off the list."""
        ...


class FolderFile:
    """The folders of a process's settings, and those in a file beside the index, read again whenever it changes."""

    def __init__(self, index_directory: Path, settled: Sequence[Folder] = ()) -> None:
        self._directory = index_directory
        self._path = index_directory / FOLDERS
        self._settled = tuple(settled)
        self._guard = threading.Lock()
        self._seen: FileStamp | None = None
        self._listed: tuple[Folder, ...] = ()
        self._added: tuple[Folder, ...] = ()

    def folders(self) -> tuple[Folder, ...]:
        """See :meth:`FolderSource.folders`.

        Raises:
            ConfigError: the file cannot be read.
        """
        with self._guard:
            return self._now()

    def add(self, root: str, name: str, include: tuple[str, ...]) -> Folder:
        """See :meth:`FolderSource.add`."""
        with self._guard:
            known = self._now()
            folder = Folder(
                new_name(root, known, indexed_folders(self._directory), name), encode_os_path(root), include
            )
            self._write((*self._listed, folder))
            return folder

    def check_removable(self, folder: Folder) -> None:
        """See :meth:`FolderSource.check_removable`."""
        if folder in self._settled:
            raise InvalidRequestError.of(
                "folder",
                f"{folder.name!r} is set where the server runs, and not added by a client",
                hint="Its operator takes it out of EVERFIND_FOLDERS.",
            )

    def remove(self, folder: Folder) -> None:
        """See :meth:`FolderSource.remove`."""
        with self._guard:
            self._now()
            self._write(tuple(one for one in self._listed if one.name != folder.name))

    def _now(self) -> tuple[Folder, ...]:
        seen = self._stamp()
        if seen != self._seen:
            self._take(() if seen is None else _read(self._path))
            self._seen = seen
        return (*self._settled, *self._added)

    def _take(self, listed: tuple[Folder, ...]) -> None:
        self._listed, self._added = listed, self._without_clashes(listed)

    def _write(self, listed: tuple[Folder, ...]) -> None:
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_json(self._path, {"format": FORMAT, "folders": [asdict(folder) for folder in listed]})
        self._seen = _UNREAD  # and not the stamp of now: somebody else may have written since

    def _stamp(self) -> FileStamp | None:
        try:
            return file_stamp(self._path)
        except OSError as error:
            raise _unusable(self._path) from error

    def _without_clashes(self, added: Sequence[Folder]) -> tuple[Folder, ...]:
        """Those that the settings have not come to claim the name or the directory of."""
        names = {folder.name for folder in self._settled}
        roots = {folder.root for folder in self._settled}
        kept = tuple(folder for folder in added if folder.name not in names and folder.root not in roots)
        for folder in added:
            if folder not in kept:
                _log.warning("folder %s is left out: the settings have its name or place", folder.name)
        return kept


def _read(path: Path) -> tuple[Folder, ...]:
    try:
        found: dict[str, Any] = parse_json(path.read_text(encoding="utf-8"))
        known = found["format"] == FORMAT
        folders = convert(found["folders"], tuple[Folder, ...])
    except (OSError, *OTHER_SHAPE) as error:
        raise _unusable(path) from error
    if not known:
        raise _unusable(path)
    return folders


def _unusable(path: Path) -> ConfigError:
    return ConfigError(
        f"the list of added folders in {path} cannot be read, or not by this version of everfind",
        hint="Restore it, or remove it and add them again.",
    )
