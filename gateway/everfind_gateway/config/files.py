"""Settings files: which ones apply, reading them, and changing them without losing anything in them."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import platformdirs

from everfind_core.errors import (
    ConfigError,
    InvalidRequestError,
    StorageError,
    StorageFullError,
    UntrustedSettingError,
)
from everfind_core.files.paths import decode_os_path
from everfind_core.files.whole import is_disk_full, replace_file
from everfind_gateway.config.file_edits import mode_of

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

T = TypeVar("T")

PROJECT_DIRECTORY = ".everfind"
FILE_NAME = "config.toml"
MAX_BYTES = 1 << 20
"""A settings file larger than this is a mistake, and is not read."""


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """One settings file as read: its parsed ``values`` (empty where it does not exist) and its ``text``.

    ``root`` is the directory that relative paths in it start from: the project's root, or the file's own directory.
    """

    path: Path
    root: Path
    project: bool = False
    values: dict[str, Any] = field(default_factory=dict)
    text: str = ""

    @property
    def instance(self) -> bool:
        """Whether it gives a project folders and an index of its own."""
        return self.project and not self.values.keys().isdisjoint({"folders", "index_dir"})

    def place(self, key: str) -> str:
        """``FILE:LINE`` of a top-level key, or the file alone where the line cannot be told."""
        pattern = re.compile(rf"""\s*(?:\[+\s*)?["']?{re.escape(key)}["']?\s*[=.\]]""")
        for number, line in enumerate(self.text.splitlines(), start=1):
            if pattern.match(line):
                return f"{self.path}:{number}"
        return str(self.path)

    def folder_entries(self) -> list[dict[str, Any]]:
        """The tables under ``[[folders]]``.

        Raises:
            ConfigError: ``folders`` is something else.
        """
        entries = self.values.get("folders", [])
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise ConfigError(
                f"{self.place('folders')}: folders must be tables", hint="Write each as [[folders]] with a `path`."
            )
        return entries

    def folder_path(self, entry: dict[str, Any]) -> str:
        """The operating system's path in an entry of ``[[folders]]``, as it is written: perhaps relative.

        Raises:
            ConfigError: it has none, or one that everfind would not write.
        """
        path = entry.get("path")
        if not isinstance(path, str) or not path or "\0" in path:
            raise ConfigError(
                f"{self.place('folders')}: a folder has no path", hint="Give each [[folders]] a `path`, in quotes."
            )
        try:
            return decode_os_path(path)
        except InvalidRequestError as error:
            raise ConfigError(f"{self.place('folders')}: {error.message}", hint=error.hint) from None


@dataclass(frozen=True, slots=True)
class SettingsFiles:
    """The files that apply: the user's own, and a project's where there is one.

    ``named`` lists the folders of a named workspace, where one is in use.
    """

    user: SettingsFile
    project: SettingsFile | None = None
    named: SettingsFile | None = None

    @property
    def instance(self) -> bool:
        """Whether the project has folders and an index of its own."""
        return self.project is not None and self.project.instance

    @property
    def folders_file(self) -> SettingsFile:
        """The file whose folders are in effect, and which `add` and `remove` change."""
        if self.named is not None:
            return self.named
        return self.project if self.project is not None and self.instance else self.user


def working_directory() -> Path:
    """The working directory; the root directory where it was deleted."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path("/")


def user_file() -> Path:
    """The user's own settings file."""
    return platformdirs.user_config_path("everfind") / FILE_NAME


def locate(config: Path | None, *, cwd: Path, may_be_missing: bool = False) -> SettingsFiles:
    """Find and read the files that apply.

    ``config`` (else ``EVERFIND_CONFIG``) selects a project by its directory or its ``.everfind/config.toml``; any other
    file takes the place of the user's own, and is then the only one read.

    Raises:
        ConfigError: a file cannot be read or parsed, or the selected one is not there.
        UntrustedSettingError: a project's file is a link that leads out of the project.
    """
    if config is None and (named := os.environ.get("EVERFIND_CONFIG")):
        config = Path(named)
    if config is None:
        user = read_user_file(user_file())
        found = _walk_up(cwd) or _walk_up(_claude_project(cwd))
        return SettingsFiles(user, read_project_file(found) if found is not None and found != user.path else None)
    path = cwd / os.path.expanduser(config)  # noqa: PTH111 - Path's fails without a home
    if path.is_dir():
        path = path / FILE_NAME if path.name == PROJECT_DIRECTORY else path / PROJECT_DIRECTORY / FILE_NAME
    if not path.exists() and not may_be_missing:
        raise ConfigError(f"the settings file {path} does not exist", hint="Check --config and EVERFIND_CONFIG.")
    if _is_project_file(path):
        return SettingsFiles(read_user_file(user_file()), read_project_file(path))
    return SettingsFiles(read_user_file(path))


def locate_project(directory: Path) -> SettingsFiles:
    """The files that apply in ``directory``, whatever the environment selects; raises as :func:`locate`."""
    user = read_user_file(user_file())
    return SettingsFiles(user, project_of(directory))


def project_of(directory: Path) -> SettingsFile | None:
    """The settings file of the project in which ``directory`` lies.

    Raises:
        ConfigError, UntrustedSettingError: as :func:`locate`; or nobody can say whether there is one.
    """
    place = Path(os.path.realpath(directory))
    found = _walk_up(place)
    _check_looked_at(place, found)
    return read_project_file(found) if found is not None and found != user_file() else None


def read_user_file(path: Path) -> SettingsFile:
    """The user's file; empty if it does not exist."""
    path = Path(os.path.normpath(path))
    text, values = _read(path)
    return SettingsFile(path, path.parent, project=False, values=values, text=text)


def read_project_file(path: Path) -> SettingsFile:
    """A project's file; its root is the directory that holds ``.everfind``."""
    path = Path(os.path.normpath(path))
    root = path.parent.parent.resolve()
    if not path.resolve().is_relative_to(root):
        raise UntrustedSettingError(
            f"{path} is a link to {path.resolve()}, outside the project {root}",
            hint="Put a plain file in its place, or run everfind elsewhere.",
            details={"file": str(path), "setting": ""},
        )
    text, values = _read(path)
    return SettingsFile(path, root, project=True, values=values, text=text)


FOLDERS_ONLY = frozenset({"folders"})


def change(file: SettingsFile, edit: Callable[[TOMLDocument], T], *, keys: frozenset[str] = FOLDERS_ONLY) -> T:
    """Let ``edit`` change ``keys`` in a settings file, and write it whole; everything else in it stays.

    Changes of several processes come one after the other. A file that cannot be parsed is left as it is.

    Raises:
        ConfigError: the file cannot be parsed, or cannot be changed without touching other keys.
        StorageError: it cannot be written.
    """
    import tomlkit

    target = file.path.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _locked(target.parent):
            text, before = _read(target)
            document = tomlkit.parse(text if text.endswith("\n") or not text else f"{text}\n")
            result = edit(document)
            written = document.as_string()
            if written != text:
                _check_rest_unchanged(target, before, written, keys)
                replace_file(target, written, mode=mode_of(target, 0o600))
    except OSError as error:
        raise _write_error(error, target) from error
    return result


def parse_toml(text: str, path: Path) -> dict[str, Any]:
    """The tables of ``text``.

    Raises:
        ConfigError: it is not TOML; the message names file and line.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        line = re.search(r"at line (\d+)", message)
        if line is not None:
            place, what = f"{path}:{line.group(1)}", message.partition(" (at ")[0]
        else:
            place, what = f"{path}:{max(1, len(text.splitlines()))}", message.partition(" (at ")[0]
        raise _unparsable(place, what) from None
    except RecursionError:
        raise _unparsable(str(path), "nested too deeply") from None


def _unparsable(place: str, what: str) -> ConfigError:
    return ConfigError(
        f"{place}: not valid TOML: {what[:1].lower()}{what[1:]}",
        hint="Correct that line; everfind leaves the file as it is.",
        details={"place": place},
    )


def _read(path: Path) -> tuple[str, dict[str, Any]]:
    try:
        if path.exists() and not path.is_file():
            raise ConfigError(f"{path} is not a file", hint="Put a TOML file in its place.")
        with path.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return "", {}
    except OSError as error:
        raise ConfigError(
            f"cannot read the settings file {path}: {error.strerror}", hint="Check its owner and mode."
        ) from error
    if len(raw) > MAX_BYTES:
        raise ConfigError(f"{path} is larger than {MAX_BYTES:,} bytes, so it is no settings file")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise _unparsable(f"{path}:{line}", "it is not UTF-8") from None
    return text, parse_toml(text, path)


def _is_project_file(path: Path) -> bool:
    return PROJECT_DIRECTORY in (path.parent.name, path.resolve().parent.name)


def _claude_project(cwd: Path) -> Path | None:
    named = os.environ.get("CLAUDE_PROJECT_DIR")
    return cwd / named if named else None


def _walk_up(start: Path | None) -> Path | None:
    if start is None:
        return None
    for directory in (start, *start.parents):
        candidate = directory / PROJECT_DIRECTORY / FILE_NAME
        if os.path.isfile(candidate):  # noqa: PTH113 - False where a parent cannot be read, instead of an error
            return candidate
        if _is_linked_worktree(directory):
            return None  # the checkout around it has other files, and must not answer for these
    return None


def _check_looked_at(start: Path, found: Path | None) -> None:
    """Refuse to take for absent what cannot be looked at, up to the file that was ``found``.

    Raises:
        ConfigError: naming it.
    """
    for directory in (start, *start.parents):
        candidate = directory / PROJECT_DIRECTORY / FILE_NAME
        if candidate == found:
            return
        try:
            candidate.stat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise ConfigError(
                f"cannot read the settings file {candidate}: {error.strerror}", hint="Check its owner and mode."
            ) from error


def _is_linked_worktree(directory: Path) -> bool:
    """Whether git has made a directory as a further work tree of a repository (gitrepository-layout(5))."""
    try:
        with (directory / ".git").open("rb") as file:
            words = file.read(4096).split(b":", 1)
    except OSError:
        return False
    return words[0] == b"gitdir" and Path(os.fsdecode(words[-1]).strip()).parent.name == "worktrees"


@contextlib.contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """Hold the directory against other writers of settings; released when the process ends, however it ends."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _check_rest_unchanged(path: Path, before: dict[str, Any], written: str, keys: frozenset[str]) -> None:
    try:
        after = tomllib.loads(written)
    except tomllib.TOMLDecodeError:
        after = None
    given = dict.fromkeys(keys)
    if after is None or {**before, **given} != {**after, **given}:
        raise ConfigError(
            f"{path} is laid out so that it cannot be changed safely",
            hint="Put all other settings above the first [[folders]], then run it again.",
        )


def _write_error(error: OSError, target: Path) -> StorageError:
    if is_disk_full(error):
        return StorageFullError(f"no space left to write {target}", hint="Free some space, then run it again.")
    return StorageError(f"cannot write {target}: {error.strerror}", hint="Check the owner and mode of its directory.")
