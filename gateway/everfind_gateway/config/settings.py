"""The settings in effect: read from flags, environment, the project's file, the user's file and defaults."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_origin

from pydantic import Field, ValidationError

from everfind_core.errors import (
    ConfigError,
    EverfindError,
    InvalidRequestError,
    UntrustedSettingError,
    WorkspaceNotFoundError,
)
from everfind_core.files.paths import encode_os_path
from everfind_core.index.object_place import SCHEME
from everfind_core.model import Folder
from everfind_core.workspaces import is_directory
from everfind_core.wrong_values import what_is_wrong
from everfind_gateway.config import files as config_files
from everfind_gateway.config import project_trust
from everfind_gateway.config.files import SettingsFile, SettingsFiles
from everfind_gateway.config.folder_tuning import TUNING_KEYS, FolderTuning, folder_tuning
from everfind_gateway.config.folders import FOLDER_KEYS, parse_folders
from everfind_gateway.config.setting_values import ENV_PREFIX, SettingValues, is_path, project_settings, setting_extra
from everfind_gateway.config.suggestions import did_you_mean

NOT_SETTINGS = frozenset(
    {"EVERFIND_CONFIG", "EVERFIND_DEBUG", "EVERFIND_MCP_TOKEN", "EVERFIND_SERVER_TOKEN", "EVERFIND_WEB_TOKEN"}
    | {"EVERFIND_MODEL_KEY", "EVERFIND_RERANKER_KEY", "EVERFIND_EXPANSION_KEY"}
)
"""Variables with the prefix that are no settings: which file to read, tracebacks for unexpected errors, secrets."""

_USER_FILE_ONLY = frozenset({"workspace_roots"})
"""Settings that neither the environment nor a flag gives: whoever starts a server for an agent must not widen them."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a setting's value came from.

    ``source`` is ``default``, ``user``, ``project``, ``environment`` or ``flag``; ``place`` the file, variable or flag.
    """

    source: str
    place: str = ""

    def __str__(self) -> str:
        return f"{self.source} {self.place}".rstrip()


@dataclass(frozen=True, slots=True)
class _Layer:
    """What one source sets. ``base`` is the directory that relative paths in it start from."""

    source: str
    values: Mapping[str, Any]
    base: Path
    file: SettingsFile | None = None

    def origin(self, name: str) -> Origin:
        if self.file is not None:
            return Origin(self.source, str(self.file.path))
        place = f"{ENV_PREFIX}{name.upper()}" if self.source == "environment" else f"--{name.replace('_', '-')}"
        return Origin(self.source, place)


class Settings(SettingValues):
    """All settings in effect, with the folders they are for, and where each came from."""

    folders: tuple[Folder, ...] = ()
    folder_tuning: FolderTuning = FolderTuning()
    user_ignore: Path
    files: SettingsFiles
    origins: Mapping[str, Origin] = Field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Equal digests give equal indexes and answers: a hash over folders and what shapes both (32 hex digits)."""
        shaping = {
            name: getattr(self, name) for name in SettingValues.model_fields if setting_extra(name)["shapes_answers"]
        }
        folders = sorted((f.name, f.root, f.include) for f in self.folders)
        tuning = [self.folder_tuning.default_exclude, dict(self.folder_tuning.path_boosts)]
        text = json.dumps([shaping, folders, tuning, str(self.user_ignore)], sort_keys=True, default=str)
        return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def load_settings(
    config: Path | None = None,
    *,
    flags: Mapping[str, Any] | None = None,
    cwd: Path | None = None,
    may_be_missing: bool = False,
    workspace: str = "",
) -> Settings:
    """Read all sources; the first that gives a setting wins: flags, environment, project, user, defaults.

    ``config`` is what ``--config`` names; ``workspace`` names a workspace of this machine, for which no project's file
    counts, or a directory in a project with folders of its own; ``may_be_missing`` lets any of them not exist yet.

    Raises:
        ConfigError: a file cannot be parsed, or a value cannot be used.
        UntrustedSettingError: a project's file sets what only its user may set.
        InvalidRequestError: a flag's value cannot be used.
        WorkspaceNotFoundError: there is no such workspace.
    """
    here = cwd or config_files.working_directory()
    given = {k: v for k, v in (flags or {}).items() if v is not None}
    if is_directory(workspace):
        files = _project_files(workspace, here)
        given["server"] = ""
    else:
        files = config_files.locate(config, cwd=here, may_be_missing=may_be_missing)
        if workspace:
            files, given = _for_named_workspace(workspace, files, given, may_be_missing=may_be_missing)
    layers = [_Layer("flag", given, here), _Layer("environment", _environment(), here), *_file_layers(files)]
    merged, origins = _merge(layers)
    _place_index(files, workspace, merged, origins)
    return _settings(files, merged, origins, layers)


def _place_index(files: SettingsFiles, workspace: str, merged: dict[str, Any], origins: dict[str, Origin]) -> None:
    """Say where a named workspace has its index, and give a project with folders of its own one beside them."""
    if files.named is not None:
        origins |= dict.fromkeys(("index_dir", "display_name", "server"), Origin("flag", f"--workspace {workspace}"))
    if files.project is not None and files.instance and origins["index_dir"].source in ("user", "default"):
        merged["index_dir"] = files.project.root / config_files.PROJECT_DIRECTORY / "index"
        origins["index_dir"] = Origin("project", str(files.project.path))


def _settings(
    files: SettingsFiles, merged: Mapping[str, Any], origins: Mapping[str, Origin], layers: list[_Layer]
) -> Settings:
    folders = parse_folders(files.folders_file)
    try:
        return Settings(
            **merged,
            folders=folders,
            folder_tuning=folder_tuning(files.folders_file, folders),
            user_ignore=files.user.path.parent / ".indexignore",
            files=files,
            origins=origins,
            warnings=(*_file_warnings(files), *_environment_warnings()),
        )
    except ValidationError as error:
        raise _unusable(error, layers) from None


def _project_files(directory: str, cwd: Path) -> SettingsFiles:
    """The files of the project with folders of its own that holds a directory.

    Raises:
        WorkspaceNotFoundError: there is none.
    """
    place = cwd / os.path.expanduser(directory)  # noqa: PTH111 - Path's fails without a home
    files = config_files.locate_project(place)
    if files.instance:
        return files
    there = place.is_dir()
    raise WorkspaceNotFoundError(
        f"{directory} lies in no project with folders of its own" if there else f"there is no directory {directory}",
        hint="`everfind scaffold DIR` gives a project its own folders and index."
        if there
        else "A word without a slash is the name of a workspace: `everfind list --workspaces` shows them.",
        details={"workspace": directory},
    )


def _for_named_workspace(
    name: str, files: SettingsFiles, flags: dict[str, Any], *, may_be_missing: bool
) -> tuple[SettingsFiles, dict[str, Any]]:
    """The files and flags with which a named workspace of this machine is used."""
    from everfind_gateway.config.named_workspaces import named_workspace

    found = named_workspace(name, may_be_missing=may_be_missing)
    own = {"index_dir": found.index_dir, "display_name": name, "server": ""}
    return SettingsFiles(files.user, named=found.file), {**flags, **own}


def check_project_file(file: SettingsFile) -> None:
    """Refuse a project's file that sets what only its user may set.

    Raises:
        UntrustedSettingError: it does; the message names file, line and key.
    """
    project_trust.check(file, project_settings(), frozenset(SettingValues.model_fields))


def _environment() -> dict[str, Any]:
    for name in sorted(_USER_FILE_ONLY):
        if os.environ.get(variable := f"{ENV_PREFIX}{name.upper()}"):
            raise UntrustedSettingError(
                f"{variable} is set, but {name} counts in the user's own settings file only",
                hint="Remove the variable, and write the setting into your own file (`everfind config` names it).",
                details={"setting": name},
            )
    given = {name: os.environ.get(f"{ENV_PREFIX}{name.upper()}") for name in SettingValues.model_fields}
    return {name: _listed(name, value) for name, value in given.items() if value}


def _listed(name: str, given: str) -> Any:
    """The items of a list, or the ``key=value`` entries of a table, which commas separate; any other value as it is."""
    kind = get_origin(SettingValues.model_fields[name].annotation)
    parts = [part for part in (p.strip() for p in given.split(",")) if part]
    if kind is tuple:
        return parts
    if kind is dict:
        return {key.strip(): value.strip() for key, _, value in (part.rpartition("=") for part in parts)}
    return given


def _file_layers(files: SettingsFiles) -> list[_Layer]:
    layers = []
    if files.project is not None:
        check_project_file(files.project)
        layers.append(_Layer("project", files.project.values, files.project.root, files.project))
    layers.append(_Layer("user", files.user.values, files.user.root, files.user))
    return layers


def _merge(layers: list[_Layer]) -> tuple[dict[str, Any], dict[str, Origin]]:
    merged: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    for name in SettingValues.model_fields:
        for layer in layers:
            if name in layer.values:
                merged[name] = _located(name, layer.values[name], layer.base)
                origins[name] = layer.origin(name)
                break
        else:
            origins[name] = Origin("default")
    return merged, origins


def _located(name: str, value: Any, base: Path) -> Any:
    """Paths made absolute; anything else as it is."""
    if name == "workspaces" and isinstance(value, list | tuple):
        return [_absolute(one, base) if isinstance(one, str) and is_directory(one) else one for one in value]
    if name == "workspace_roots" and isinstance(value, list):
        return [_absolute(root, base) if isinstance(root, str) and root else root for root in value]
    if name == "checkouts" and isinstance(value, dict):
        return {key: _absolute(root, base) if isinstance(root, str) and root else root for key, root in value.items()}
    if isinstance(value, Path):
        value = str(value)
    if not isinstance(value, str) or not value.strip() or (name == "index_dir" and value.startswith(SCHEME)):
        return value
    looks_like_path = is_path(name) or (name in ("model", "reranker") and value.startswith(("~", "/", "./", "../")))
    if not looks_like_path:
        elsewhere = name == "server_workspace" and is_directory(value) and not value.startswith("/")
        return encode_os_path(_absolute(value, base)) if elsewhere else value
    absolute = _absolute(value, base)
    return Path(absolute) if is_path(name) else absolute


def _absolute(path: str, base: Path) -> str:
    return os.path.normpath(base / os.path.expanduser(path))  # noqa: PTH111 - Path's fails without a home


def _unusable(error: ValidationError, layers: list[_Layer]) -> EverfindError:
    """One sentence for the first value that cannot be used, naming its place."""
    first = error.errors(include_url=False)[0]
    name = str(first["loc"][0])
    layer = next(layer for layer in layers if name in layer.values)
    given = json.dumps(layer.values[name], default=str, ensure_ascii=False)
    what = what_is_wrong(first)
    if layer.source == "flag":
        return InvalidRequestError.of(name, f"{given} cannot be used: {what}")
    place = layer.file.place(name) if layer.file is not None else f"{ENV_PREFIX}{name.upper()}"
    return ConfigError(
        f"{place}: {name} = {given} cannot be used: {what}",
        hint=f"Change or remove it; docs/settings.md describes `{name}`.",
        details={"setting": name, "place": place},
    )


def _file_warnings(files: SettingsFiles) -> list[str]:
    known = [*SettingValues.model_fields, "folders"]
    found = []
    for file in (files.project, files.user):
        if file is None:
            continue
        found += [
            f"{file.place(key)}: unknown setting {key!r} is not used{did_you_mean(key, known)}"
            for key in file.values
            if key not in known
        ]
        found += _folder_warnings(file, known)
    return found


def _folder_warnings(file: SettingsFile, known: list[str]) -> list[str]:
    found = []
    for entry in file.folder_entries():
        for key in entry.keys() - FOLDER_KEYS - TUNING_KEYS:
            meant = did_you_mean(key, sorted(FOLDER_KEYS | TUNING_KEYS))
            advice = "; move it above the first [[folders]]" if key in known else meant
            found.append(f"{file.path}: {key!r} under [[folders]] is not used{advice}")
    return found


def _environment_warnings() -> list[str]:
    known = [f"{ENV_PREFIX}{name.upper()}" for name in SettingValues.model_fields]
    return [
        f"the environment variable {name} is no setting{did_you_mean(name, known)}"
        for name in sorted(os.environ)
        if name.startswith(ENV_PREFIX) and name not in known and name not in NOT_SETTINGS
    ]
