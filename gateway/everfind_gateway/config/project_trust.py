"""What a project's settings file may say. It comes with a clone, so nobody has vouched for it.

It may set preferences of search and chunking, and folders and an index inside its own root. Whatever could make
everfind talk to another machine, load a file as a model, show secrets, use more of the machine or run something is
refused by name, also in tables and keys that this version does not know.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from everfind_core.errors import ConfigError, UntrustedSettingError
from everfind_core.files.paths import encode_os_path
from everfind_gateway.config.files import SettingsFile

SENSITIVE_WORDS = frozenset(
    {"address", "addr", "args", "auth", "ca", "cert", "certificate", "cmd", "command", "commands", "credential"}
    | {"credentials", "endpoint", "endpoints", "env", "environment", "exec", "header", "headers", "hook", "hooks"}
    | {"host", "key", "keys", "limits", "listen", "max", "model", "models", "module", "password", "path", "paths"}
    | {"plugin", "plugins", "port", "provider", "providers", "proxy", "redact", "redaction", "remote", "root"}
    | {"roots", "run", "script", "secret", "secrets", "server", "servers", "shell", "socket", "tls", "token"}
    | {"uri", "url", "urls", "workspace", "workspaces"}
)
"""Words in a key's name that mark it as the user's own business."""


DEFAULT_INDEX = ".everfind/index"


def check(file: SettingsFile, allowed: frozenset[str], known: frozenset[str]) -> None:
    """Refuse a project's file that sets more than it may.

    ``allowed`` are the settings it may set, ``known`` all there are.

    Raises:
        UntrustedSettingError: it does; the message names file, line and key.
    """
    for key, value in file.values.items():
        if key == "folders":
            continue
        if key not in allowed and (key in known or _is_sensitive(key, value)):
            raise _refused(file, key, f"a project's file must not set {key!r}")
    # Where the file does not say, its index lies in its own directory, which may be a link.
    _check_index_dir(file, file.values.get("index_dir", DEFAULT_INDEX))
    for entry in file.folder_entries():
        _check_inside(file, "folders", file.folder_path(entry))


def inside(path: str, root: Path) -> bool:
    """Whether ``path`` (relative paths start at ``root``) is in ``root`` after resolving links."""
    return (root / path).resolve().is_relative_to(root.resolve())


def _check_index_dir(file: SettingsFile, value: Any) -> None:
    if not isinstance(value, str) or not value or "\0" in value:
        raise ConfigError(
            f"{file.place('index_dir')}: index_dir needs a path", hint="Give a path inside the project, in quotes."
        )
    _check_inside(file, "index_dir", value)
    if (file.root / value).resolve() == file.root:
        raise ConfigError(f"{file.place('index_dir')}: index_dir is the project itself", hint="Use `.everfind/index`.")
    if ".git" in (file.root / value).resolve().relative_to(file.root.resolve()).parts:
        raise ConfigError(f"{file.place('index_dir')}: index_dir lies in `.git`", hint="Use `.everfind/index`.")


def _check_inside(file: SettingsFile, key: str, path: str) -> None:
    if path.startswith("~") or not inside(path, file.root):
        shown = encode_os_path(path)
        raise _refused(file, key, f"{key} = {shown!r} lies outside the project {file.root}")


def _refused(file: SettingsFile, key: str, what: str) -> UntrustedSettingError:
    return UntrustedSettingError(
        f"{file.place(key)}: {what}",
        hint="Remove it there; if you want it, put it into your own settings (`everfind config` names the file).",
        details={"file": str(file.path), "setting": key},
    )


def _is_sensitive(key: str, value: Any) -> bool:
    return any(not SENSITIVE_WORDS.isdisjoint(re.split(r"[^a-z0-9]+", name.lower())) for name in _names(key, value))


def _names(key: str, value: Any) -> Iterator[str]:
    """The key, and every key in the tables below it."""
    yield key
    if isinstance(value, Mapping):
        for inner, below in value.items():
            yield from _names(inner, below)
    elif isinstance(value, list):
        for item in value:
            yield from _names("", item)
