"""Folders as a settings file lists them: adding, removing, and turning entries into folders."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from everfind_core.errors import (
    ConfigError,
    EverfindError,
    FolderExistsError,
    FolderNotFoundError,
    FolderUnusableError,
    InvalidRequestError,
    UntrustedSettingError,
)
from everfind_core.index_directory import current_index
from everfind_core.model import Folder
from everfind_core.paths import decode_os_path, encode_os_path, typed_path
from everfind_gateway import config_files
from everfind_gateway.config_files import SettingsFile
from everfind_gateway.suggestions import did_you_mean

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

FOLDER_KEYS = frozenset({"name", "path", "include"})
MAX_NAME = 100


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
        _check_name(name)
    check_globs(include)
    roots = [_directory(path, file, index_dir) for path in paths]
    indexed = indexed_folders(index_dir) if index_dir is not None else ()

    def edit(document: TOMLDocument) -> tuple[Folder, ...]:
        folders = list(parse_folders(_as_file(file, document)))
        for root in roots:
            folder = Folder(_new_name(root, folders, indexed, name), encode_os_path(root), tuple(include))
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


def indexed_folders(index_dir: Path) -> tuple[Folder, ...]:
    """The folders that the index covers, with those that were removed and kept searchable; none without it."""
    try:
        return tuple(one.folder for one in current_index(index_dir).read_coverage().folders)
    except EverfindError:  # whoever works with the index says what is wrong with it
        return ()


def is_readable(root: str) -> bool:
    """Whether ``root`` (in string form) is a directory that can be listed now."""
    return _listing_error(decode_os_path(root)) is None


def find_folder(folders: Sequence[Folder], target: str) -> Folder:
    """The folder with this name, else the one with this path.

    Raises:
        FolderNotFoundError: there is none.
        InvalidRequestError: ``target`` is empty.
    """
    if not target.strip():
        raise InvalidRequestError.of("folder", "it is empty", hint="Give a folder's name or its path.")
    for folder in folders:
        if folder.name == target:
            return folder
    root = encode_os_path(os.path.realpath(existing_path(target)))
    for folder in folders:
        if root == folder.root or encode_os_path(os.path.abspath(target)) == folder.root:  # noqa: PTH100 - links kept
            return folder
    raise FolderNotFoundError(
        f"no folder has the name or path {target!r}{did_you_mean(target, [f.name for f in folders])}",
        hint="`everfind list` shows the folders; `everfind add DIR` adds one.",
    )


def existing_path(given: str) -> str:
    """The operating system's path that a user means: as typed if it is there, else as everfind prints it."""
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
        name = _check_name(name) if name else _free_name(root, taken)
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
    shown = encode_os_path(path)
    if not os.path.lexists(path):
        raise FolderUnusableError(f"{shown} does not exist", hint="Check the path; `everfind add` takes a directory.")
    root = os.path.realpath(path)
    if not os.path.isdir(root):  # noqa: PTH112 - paths stay text: they may hold bytes that are not UTF-8
        raise FolderUnusableError(f"{shown} is not a directory", hint="Add the directory that holds it.")
    if error := _listing_error(root):
        raise FolderUnusableError(f"{shown} cannot be read: {error.strerror}", hint="Check its owner and mode.")
    if index_dir is not None and Path(root).is_relative_to(index_dir.resolve()):
        raise FolderUnusableError(f"{shown} lies in the index itself", hint="Add another directory.")
    if file.project and not Path(root).is_relative_to(file.root):
        raise UntrustedSettingError(
            f"{shown} lies outside the project {file.root}, whose file {file.path} is in use",
            hint=f"Add it to your own folders: `everfind --config {config_files.user_file()} add …`.",
            details={"file": str(file.path), "setting": "folders"},
        )
    return root


def _listing_error(root: str) -> OSError | None:
    try:
        with os.scandir(root) as entries:
            next(entries, None)
    except OSError as error:
        return error
    return None


def _new_name(root: str, folders: Sequence[Folder], indexed: Sequence[Folder], wanted: str) -> str:
    """The name that a folder at ``root`` gets: the wanted one, the one that the index has it by, or a free one.

    Raises:
        FolderExistsError: the directory is already added, or the wanted name stands for another one.
    """
    for other in folders:
        if _same_directory(root, other):
            raise FolderExistsError(
                f"{encode_os_path(root)} is already added as {other.name!r}", hint="`everfind list` shows the folders."
            )
        if wanted and _alike(wanted) == _alike(other.name):
            raise FolderExistsError(
                f"the name {wanted!r} is taken by {other.root}", hint="Choose another with --name, or leave it out."
            )
    taken = [folder.name for folder in folders]
    here = [folder.name for folder in indexed if folder.root == encode_os_path(root) and folder.name not in taken]
    elsewhere = {_alike(folder.name): folder for folder in indexed if folder.root != encode_os_path(root)}
    if wanted and (kept := elsewhere.get(_alike(wanted))):
        raise FolderExistsError(
            f"the index still has {kept.root} by the name {wanted!r}",
            hint="Choose another with --name, or add that directory again and remove it without --keep-index.",
        )
    return wanted or (here[0] if here else _free_name(root, [*taken, *elsewhere]))


def _same_directory(root: str, folder: Folder) -> bool:
    other = decode_os_path(folder.root)
    try:
        return root == other or Path(root).samefile(other)
    except OSError:
        return False


def _check_name(name: str) -> str:
    wrong = ""
    if len(name) > MAX_NAME:
        wrong = f"is longer than {MAX_NAME} characters"
    elif "/" in name or name in (".", ".."):
        wrong = "looks like a path"
    elif not name.isprintable():
        wrong = "holds control characters or bytes that are not UTF-8"
    elif name != name.strip() or not name or name.startswith("-"):
        wrong = "is empty or starts with a dash or a space, or ends with one"
    if wrong:
        raise InvalidRequestError.of("name", f"{name!r} {wrong}", hint="Use a short word, such as `notes`.")
    return name


def check_globs(include: Sequence[str]) -> None:
    """Refuse globs that cannot be used.

    Raises:
        InvalidRequestError: one cannot; it is named.
    """
    if include:
        from everfind_core.globs import compile_globs  # what it compiles with is not needed at every start

        compile_globs(include, field="include")


def _free_name(root: str, taken: Sequence[str]) -> str:
    """A name from the directory's own, with ``-2``, ``-3`` … where it is taken."""
    shown = encode_os_path(os.path.basename(root))  # noqa: PTH119 - paths stay text: they may hold bytes that are not UTF-8
    base = "".join(c if c.isprintable() else "_" for c in shown).strip().lstrip("-").strip()[: MAX_NAME - 6] or "root"
    known = {_alike(name) for name in taken}
    name, number = base, 1
    while _alike(name) in known:
        number += 1
        name = f"{base}-{number}"
    return name


def _alike(name: str) -> str:
    """Equal for names that look the same on a screen."""
    return unicodedata.normalize("NFC", name)


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
