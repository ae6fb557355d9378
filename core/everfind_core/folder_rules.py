"""What can be a folder: which directory, below which roots, by which name. Shared by all that add one."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Sequence
from pathlib import Path

from everfind_core.errors import (
    FolderExistsError,
    FolderNotFoundError,
    FolderUnusableError,
    InvalidRequestError,
    PermissionDeniedError,
)
from everfind_core.files.paths import decode_os_path, encode_os_path
from everfind_core.model import Folder

MAX_NAME = 100

_ROOTS_HINT = "Its operator sets folder_roots (EVERFIND_FOLDER_ROOTS) to directories below which they may."


def meant_folder(folders: Sequence[Folder], target: str) -> Folder | None:
    """The folder with this name, else the one with this root (string form); None if there is none.

    Raises:
        InvalidRequestError: ``target`` is empty.
    """
    if not target.strip():
        raise InvalidRequestError.of("folder", "it is empty", hint="Give a folder's name or its path.")
    root = target.rstrip("/") or "/"
    by_root = next((folder for folder in folders if folder.root == root), None)
    return next((folder for folder in folders if folder.name == target), by_root)


def named_folder(folders: Sequence[Folder], target: str) -> Folder:
    """The folder with this name, else the one with this root (string form).

    Raises:
        FolderNotFoundError: there is none.
        InvalidRequestError: ``target`` is empty.
    """
    if (found := meant_folder(folders, target)) is not None:
        return found
    names = ", ".join(sorted(folder.name for folder in folders)) or "none"
    raise FolderNotFoundError(
        f"no folder has the name or path {target!r}; there are {names}", hint="`everfind list` shows the folders."
    )


def check_allowed(root: str, allowed: Sequence[Path]) -> str:
    """The resolved path of ``root`` (string form), if it lies below one of the ``allowed`` directories.

    A directory that is there and one that is not are refused alike.

    Raises:
        InvalidRequestError: it is no absolute path.
        PermissionDeniedError: it does not, or there are none.
    """
    if not root.startswith("/") or "\0" in root:
        raise InvalidRequestError.of("root", f"{root!r} is no absolute path", hint="It is one where the server runs.")
    if not allowed:
        raise PermissionDeniedError("clients may not add folders to this server", hint=_ROOTS_HINT)
    resolved = os.path.realpath(decode_os_path(root))
    if not any(Path(resolved).is_relative_to(os.path.realpath(one)) for one in allowed):
        known = ", ".join(map(encode_os_path, allowed))
        raise PermissionDeniedError(f"clients may add folders below {known} only, and not {root}", hint=_ROOTS_HINT)
    return resolved


def directory_of(path: str, index_dir: Path | None) -> str:
    """The resolved path of a directory that can be added; ``path`` is the operating system's.

    Raises:
        FolderUnusableError: it is not a directory that can be read, or lies in the index.
    """
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
    return root


def new_name(root: str, folders: Sequence[Folder], indexed: Sequence[Folder], wanted: str) -> str:
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
    return wanted or (here[0] if here else free_name(root, [*taken, *elsewhere]))


def check_name(name: str, field: str = "name") -> str:
    """``name`` itself, if it can be a folder's.

    Raises:
        InvalidRequestError: it cannot.
    """
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
        raise InvalidRequestError.of(field, f"{name!r} {wrong}", hint="Use a short word, such as `notes`.")
    return name


def check_globs(include: Sequence[str]) -> None:
    """Refuse globs that cannot be used.

    Raises:
        InvalidRequestError: one cannot; it is named.
    """
    if include:
        from everfind_core.files.globs import compile_globs  # what it compiles with is not needed at every start

        compile_globs(include, field="include")


def free_name(root: str, taken: Sequence[str]) -> str:
    """A name from the directory's own, with ``-2``, ``-3`` … where it is taken."""
    shown = encode_os_path(os.path.basename(root))  # noqa: PTH119 - paths stay text: they may hold bytes that are not UTF-8
    base = "".join(c if c.isprintable() else "_" for c in shown).strip().lstrip("-").strip()[: MAX_NAME - 6] or "root"
    known = {_alike(name) for name in taken}
    name, number = base, 1
    while _alike(name) in known:
        number += 1
        name = f"{base}-{number}"
    return name


def is_readable(root: str) -> bool:
    """Whether ``root`` (in string form) is a directory that can be listed now."""
    return _listing_error(decode_os_path(root)) is None


def _listing_error(root: str) -> OSError | None:
    try:
        with os.scandir(root) as entries:
            next(entries, None)
    except OSError as error:
        return error
    return None


def _same_directory(root: str, folder: Folder) -> bool:
    other = decode_os_path(folder.root)
    try:
        return root == other or Path(root).samefile(other)
    except OSError:
        return False


def _alike(name: str) -> str:
    """Equal for names that look the same on a screen."""
    return unicodedata.normalize("NFC", name)
