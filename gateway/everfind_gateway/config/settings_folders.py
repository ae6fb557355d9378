"""The folders of a settings file, followed while the process lives."""

from __future__ import annotations

import threading
from pathlib import Path

from everfind_core.errors import EverfindError
from everfind_core.files.whole import FileStamp, file_stamp
from everfind_core.model import Folder
from everfind_gateway.config.files import SettingsFile, read_project_file, read_user_file
from everfind_gateway.config.folders import add_folders, parse_folders, remove_folder


class SettingsFolders:
    """The folders that ``file`` lists, read again whenever it changes. One that breaks changes nothing. Thread-safe."""

    def __init__(self, file: SettingsFile, folders: tuple[Folder, ...], index_dir: Path) -> None:
        self._file = file
        self._index_dir = index_dir
        self._guard = threading.Lock()
        self._folders = folders
        self._text = file.text
        self._seen: FileStamp | None = None

    def folders(self) -> tuple[Folder, ...]:
        """The folders as they are now."""
        with self._guard:
            seen = self._stamp()
            if seen != self._seen:
                try:
                    file = self._read()
                    if file.text != self._text:
                        self._folders, self._text = parse_folders(file), file.text
                except EverfindError:
                    return self._folders  # its author is told of it by the next command
                self._seen = seen
            return self._folders

    def add(self, root: str, name: str, include: tuple[str, ...]) -> Folder:
        """Write a directory into the file; raises as :func:`everfind_gateway.config.folders.add_folders`."""
        (added,) = add_folders(self._file, [root], name=name, include=include, index_dir=self._index_dir)
        return added

    def check_removable(self, folder: Folder) -> None:
        """Every folder of the file can be removed."""

    def remove(self, folder: Folder) -> None:
        """Take a folder out of the file."""
        remove_folder(self._file, folder)

    def _read(self) -> SettingsFile:
        return read_project_file(self._file.path) if self._file.project else read_user_file(self._file.path)

    def _stamp(self) -> FileStamp | None:
        try:
            return file_stamp(self._file.path)
        except OSError:
            return None
