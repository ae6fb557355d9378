"""Which workspaces a server answers from besides its own, as its operator has listed them."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from everfind_core.errors import ConfigError, EverfindError, InvalidRequestError
from everfind_core.files.paths import decode_os_path, encode_os_path
from everfind_core.model import HealthFinding, Severity
from everfind_core.workspaces import is_directory, root_of
from everfind_gateway.config.files import FILE_NAME, PROJECT_DIRECTORY, project_of, user_file
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
            with contextlib.suppress(ConfigError):  # one whose file cannot be read is there: who asks for it hears why
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
        projects = map(ServedWorkspace, filter(self._is_project, self._roots))
        return (*map(ServedWorkspace, self._names), *projects)

    def findings(self) -> tuple[tuple[str, HealthFinding], ...]:
        """What is wrong with the settings of those that were listed one by one, each with its id."""
        return tuple(
            (place.id, HealthFinding("workspace", Severity.ERROR, f"{place.id}: {error.message}", error.hint))
            for place in self.listed()
            if (error := self._refusal(place)) is not None
        )

    def _is_project(self, root: str) -> bool:
        """Whether a directory is a project itself; one whose file cannot be used is: who asks for it hears why."""
        try:
            found = self.find(root)
        except ConfigError:
            return _may_be_there(_settings_file(root))
        return found is not None and found.root == root

    def _refusal(self, place: ServedWorkspace) -> EverfindError | None:
        try:
            self.load(place)
        except EverfindError as error:
            return error
        return None

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
        own = _settings_file(place.root) if place.root else named_workspace(place.id).file.path
        return tuple(map(_stamp, (own, user_file())))


def _load(place: ServedWorkspace) -> Settings:
    settings = load_settings(workspace=decode_os_path(place.root) if place.root else place.id, flags={"server": ""})
    if place.root and settings.origins["index_dir"].source == "environment":
        raise ConfigError(
            "EVERFIND_INDEX_DIR would give all projects of the server one index",
            hint="Start the server without it, and set index_dir in a settings file.",
        )
    return settings.model_copy(update={"resident_bytes": settings.resident_bytes // settings.max_workspaces})


def _settings_file(root: str) -> Path:
    return Path(decode_os_path(root)) / PROJECT_DIRECTORY / FILE_NAME


def _may_be_there(path: Path) -> bool:
    """Whether there is something at ``path``, or nobody can say."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size
