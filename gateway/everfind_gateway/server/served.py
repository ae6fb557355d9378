"""Which workspaces a server answers from besides its own, as its operator has listed them."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from everfind_core.errors import ConfigError, InvalidRequestError
from everfind_core.files.paths import decode_os_path, encode_os_path
from everfind_core.workspaces import is_directory, root_of
from everfind_gateway.config.files import project_of, user_file
from everfind_gateway.config.named_workspaces import named_workspace
from everfind_gateway.config.settings import Settings, load_settings

_Stamps = tuple[tuple[int, int, int] | None, ...]


@dataclass(frozen=True, slots=True)
class ServedWorkspace:
    """A workspace that is served. ``id`` is its name, or the root of its project (string form)."""

    id: str

    @property
    def root(self) -> str:
        """The root of its project; empty for a named one."""
        return self.id if self.id.startswith("/") else ""


class Served:
    """Named workspaces, and directories, of which each stands for the projects with folders of their own in it.

    Only what lies in one of the directories after resolving links is served. Thread-safe.
    """

    def __init__(self, entries: Sequence[str]) -> None:
        """Serve ``entries``; directories are absolute.

        Raises:
            WorkspaceNotFoundError: there is no workspace of a name.
            ConfigError: a directory is not there.
        """
        self._names = [entry for entry in entries if not is_directory(entry)]
        self._roots = [encode_os_path(os.path.realpath(entry)) for entry in entries if is_directory(entry)]
        self._guard = threading.Lock()
        self._known: dict[str, tuple[_Stamps, Settings]] = {}
        for name in self._names:
            named_workspace(name)
        for root in self._roots:
            if not Path(decode_os_path(root)).is_dir():
                raise ConfigError(f"workspaces: {root} is no directory", hint="Name directories that are there.")

    def __bool__(self) -> bool:
        return bool(self._names or self._roots)

    def find(self, asked: str) -> ServedWorkspace | None:
        """The workspace of a name, or of the project in which an absolute directory (string form) lies.

        Raises:
            ConfigError: the project's file cannot be read.
            UntrustedSettingError: it is a link that leads out of the project.
        """
        if not asked.startswith("/"):
            return ServedWorkspace(asked) if asked in self._names else None
        try:
            directory = os.path.realpath(decode_os_path(asked))
        except (InvalidRequestError, ValueError):
            return None  # no directory can be so
        allowed = root_of(encode_os_path(directory), self._roots)
        file = project_of(Path(directory)) if allowed else None
        if file is None or not file.instance:
            return None
        root = encode_os_path(file.root)
        return ServedWorkspace(root) if root_of(root, [allowed]) else None

    def listed(self) -> tuple[ServedWorkspace, ...]:
        """Those that were listed one by one: the named ones, and directories that are a project themselves."""
        projects = [place for root in self._roots if (place := self.find(root)) is not None and place.root == root]
        return (*map(ServedWorkspace, self._names), *projects)

    def load(self, place: ServedWorkspace) -> Settings:
        """The settings of a workspace as they are now, with its share of what may be kept in memory.

        All others that may be open keep together as much as the server's own.

        Raises:
            EverfindError: as :func:`everfind_gateway.config.settings.load_settings`.
        """
        stamps = self._stamps(place)
        with self._guard:
            known = self._known.get(place.id)
        if known is not None and known[0] == stamps:
            return known[1]
        settings = _load(place)
        with self._guard:
            self._known[place.id] = (stamps, settings)
        return settings

    def _stamps(self, place: ServedWorkspace) -> _Stamps:
        """What changes when a file of its settings does."""
        if place.root:
            own = Path(decode_os_path(place.root)) / ".everfind" / "config.toml"
        else:
            own = named_workspace(place.id).file.path
        return tuple(map(_stamp, (own, user_file())))


def _load(place: ServedWorkspace) -> Settings:
    settings = load_settings(workspace=decode_os_path(place.root) if place.root else place.id, flags={"server": ""})
    if place.root and settings.origins["index_dir"].source == "environment":
        raise ConfigError(
            "EVERFIND_INDEX_DIR would give all projects of the server one index",
            hint="Start the server without it, and set index_dir in a settings file.",
        )
    return settings.model_copy(update={"resident_bytes": settings.resident_bytes // settings.max_workspaces})


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size
