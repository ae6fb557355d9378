"""How a document's fate is stored and shown."""

from __future__ import annotations

from collections.abc import Iterable

from everfind_core.model.files import FileRef

_BETWEEN = "//"
"""Stands in no path of a file, nor in a folder's name with one."""


def join_refs(refs: Iterable[FileRef]) -> str:
    """Files as one stored text, which :func:`split_refs` reads."""
    return _BETWEEN.join(f"{ref.folder}/{ref.path}" for ref in refs)


def split_refs(text: str) -> tuple[FileRef, ...]:
    """The files that :func:`join_refs` wrote."""
    return tuple(FileRef(*part.split("/", 1)) for part in text.split(_BETWEEN) if "/" in part)


def shown_successors(folder: str, successors: Iterable[FileRef]) -> str:
    """Their paths, separated by a comma; one in another folder than ``folder`` with its folder's name before it."""
    return ", ".join(ref.path if ref.folder == folder else f"{ref.folder}/{ref.path}" for ref in successors)
