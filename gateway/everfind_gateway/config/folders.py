"""Folders as a settings file lists them: adding, removing, and turning entries into folders."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from everfind_core.errors import (
    ConfigError,
    FolderNotFoundError,
    InvalidRequestError,
    UntrustedSettingError,
)
from everfind_core.files.paths import decode_os_path, encode_os_path, typed_path
from everfind_core.folder_rules import (
    check_globs,
    check_name,
    directory_of,
    free_name,
    meant_folder,
    new_name,
)
from everfind_core.model import Folder
from everfind_gateway.config import files as config_files
from everfind_gateway.config.files import SettingsFile
from everfind_gateway.config.suggestions import did_you_mean

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

FOLDER_KEYS = frozenset({"name", "path", "include"})


def parse_folders(file: SettingsFile) -> tuple[Folder, ...]:
    """The folders that a settings file lists. A directory that is not there is no error here.

    Raises:
        ConfigError: an entry has no path, a name that cannot be one, or a name or directory of another entry.
    """
    folders: list[Folder] = []
    for entry in file.folder_entries():
        folder = _folder(file, entry, [f.name for f in folders])
        for other in folders:
            if folder.name == other.name or folder.root == other.root:
                what = f"the name {folder.name!r}" if folder.name == other.name else f"the directory {folder.root}"
                raise ConfigError(f"{file.path}: two folders have {what}", hint="Remove or rename one of them.")
        folders.append(folder)
    return tuple(folders)


def add_folders(
    file: SettingsFile,
    paths: Sequence[str],
    *,
    name: str = "",
    include: Sequence[str] = (),
    index_dir: Path | None = None,
) -> tuple[Folder, ...]:
    """Add directories to a settings file, all or none, and give the new folders.

    Raises:
        FolderUnusableError: a path is not a directory that can be read, or lies in the index.
        FolderExistsError: a directory, also by another path, or the name is already there, or the index still has the
            name for another directory.
        InvalidRequestError: the name or a glob cannot be one.
        UntrustedSettingError: a project's file cannot hold a directory outside its root.
    """
    if name:
        check_name(name)
    check_globs(include)
    roots = [_directory(path, file, index_dir) for path in paths]
    from everfind_core.index.directory import indexed_folders  # what adds no folder does not wait for it

    indexed = indexed_folders(index_dir) if index_dir is not None else ()

    def edit(document: TOMLDocument) -> tuple[Folder, ...]:
        folders = list(parse_folders(_as_file(file, document)))
        for root in roots:
            folder = Folder(new_name(root, folders, indexed, name), encode_os_path(root), tuple(include))
            folders.append(folder)
            _append(document, _entry(folder, file))
        return tuple(folders[-len(roots) :])

    return config_files.change(file, edit)


def remove_folder(file: SettingsFile, folder: Folder) -> None:
    """Take a folder out of a settings file; nothing happens if it is gone already."""

    def edit(document: TOMLDocument) -> None:
        names = [f.name for f in parse_folders(_as_file(file, document))]
        if folder.name in names:
            _delete(document, names.index(folder.name), keep_key=file.project)

    config_files.change(file, edit)


def find_folder(folders: Sequence[Folder], target: str) -> Folder:
    """The folder with this name, else the one with this path, which may be relative or lead over links.

    Raises:
        FolderNotFoundError: there is none.
        InvalidRequestError: ``target`` is empty.
    """
    if (found := meant_folder(folders, target)) is not None:
        return found
    for path in (os.path.realpath(existing_path(target)), os.path.abspath(target)):  # noqa: PTH100 - links kept
        if (found := meant_folder(folders, encode_os_path(path))) is not None:
            return found
    if (around := inside(folders, target)) is not None:
        name, below = shlex.quote(around[0].name), shlex.quote(around[1].rstrip("/"))
        raise FolderNotFoundError(
            f"{target!r} is no folder, but lies in {around[0].name!r}",
            hint=f"Name that one; a search is limited to what lies below by `--folder {name} --include {below}`.",
        )
    raise FolderNotFoundError(
        f"no folder has the name or path {target!r}{did_you_mean(target, [f.name for f in folders])}",
        hint="`everfind list` shows the folders; `everfind add DIR` adds one.",
    )


def inside(folders: Sequence[Folder], target: str) -> tuple[Folder, str] | None:
    """The folder in which a caller's ``FOLDER/PATH`` or path of the operating system lies, and the path below it.

    That is in string form, and empty for the folder itself. None where it lies in no folder.

    Raises:
        InvalidRequestError: no path can be so.
    """
    name, _, path = target.partition("/")
    if path and (named := next((folder for folder in folders if folder.name == name), None)):
        return named, typed_path(path)
    absolute = os.path.abspath(existing_path(target))  # noqa: PTH100 - links stay: the indexer decides about them
    return innermost(folders, absolute) or innermost(folders, os.path.realpath(absolute))


def innermost(folders: Sequence[Folder], absolute: str) -> tuple[Folder, str] | None:
    """The innermost folder that holds an absolute path, and the path below it in string form."""
    path = encode_os_path(absolute)
    holding = [f for f in folders if path == f.root or path.startswith(f"{f.root.rstrip('/')}/")]
    if not holding:
        return None
    folder = max(holding, key=lambda f: len(f.root))
    return folder, path[len(folder.root) :].strip("/")


def existing_path(given: str) -> str:
    """The operating system's path that a user means: as typed if it is there, else as everfind prints it.

    Raises:
        InvalidRequestError: no path can be so.
    """
    try:
        possible = b"\0" not in os.fsencode(given)
    except UnicodeEncodeError:
        possible = False
    if not possible:
        raise InvalidRequestError.of("path", "it holds NUL or a lone surrogate, which no path has")
    given = os.path.expanduser(given)  # noqa: PTH111 - paths stay text: they may hold bytes that are not UTF-8
    return given if os.path.lexists(given) else decode_os_path(typed_path(given))


def _folder(file: SettingsFile, entry: dict[str, Any], taken: Sequence[str]) -> Folder:
    path, name, include = file.folder_path(entry), entry.get("name", ""), entry.get("include", [])
    place = file.place("folders")
    if not isinstance(include, list) or not all(isinstance(glob, str) for glob in include):
        raise ConfigError(f"{place}: include of {path!r} must be a list of globs", hint='Such as ["docs/**", "*.md"].')
    root = os.path.realpath(file.root / os.path.expanduser(path))  # noqa: PTH111 - may not be UTF-8
    if not isinstance(name, str):
        raise ConfigError(f"{place}: the name of {path!r} must be text", hint='Such as name = "notes".')
    try:
        check_globs(include)
        name = check_name(name) if name else free_name(root, taken)
    except InvalidRequestError as error:
        raise ConfigError(f"{place}: {error.message}", hint=error.hint) from None
    return Folder(name=name, root=encode_os_path(root), include=tuple(include))


def _as_file(file: SettingsFile, document: TOMLDocument) -> SettingsFile:
    return SettingsFile(file.path, file.root, file.project, document.unwrap(), document.as_string())


def _directory(given: str, file: SettingsFile, index_dir: Path | None) -> str:
    """The resolved path of a directory that can be added."""
    if not given or "\0" in given:
        raise InvalidRequestError.of("path", "a folder needs a path", hint="Such as `everfind add ~/notes`.")
    path = existing_path(given)
    root = directory_of(path, index_dir)
    if file.project and not Path(root).is_relative_to(file.root):
        raise UntrustedSettingError(
            f"{encode_os_path(path)} lies outside the project {file.root}, whose file {file.path} is in use",
            hint=f"Add it to your own folders: `everfind --config {config_files.user_file()} add …`.",
            details={"file": str(file.path), "setting": "folders"},
        )
    return root


def _entry(folder: Folder, file: SettingsFile) -> dict[str, Any]:
    path = folder.root
    if file.project:
        path = encode_os_path(os.path.relpath(decode_os_path(folder.root), file.root))
    entry: dict[str, Any] = {"name": folder.name, "path": path}
    if folder.include:
        entry["include"] = list(folder.include)
    return entry


def _append(document: TOMLDocument, entry: dict[str, Any]) -> None:
    import tomlkit
    from tomlkit.items import AoT, Array

    listed = document.get("folders")
    if listed is None or (isinstance(listed, Array) and not listed):
        table = tomlkit.table()
        table.update(entry)
        tables = tomlkit.aot()
        tables.append(table)
        if listed is not None:
            document.remove("folders")
        document.append("folders", tables)
    elif isinstance(listed, AoT):
        table = tomlkit.table()
        table.update(entry)
        listed.append(table)
    else:
        inline = tomlkit.inline_table()
        inline.update(entry)
        listed.append(inline)


def _delete(document: TOMLDocument, position: int, *, keep_key: bool) -> None:
    listed = document["folders"]
    del listed[position]
    if len(listed) == 0:
        document.remove("folders")
        if keep_key:
            document.add("folders", [])
