"""A page of the indexed files of some folders, from a port that knows pages of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from everfind_core.model import FileRef, IndexedFile
from everfind_core.ports import Indexer


def file_page(
    indexer: Indexer,
    wanted: Callable[[str], bool],
    most: int,
    *,
    folder: str = "",
    globs: Sequence[str] = (),
    after: FileRef | None = None,
) -> tuple[list[IndexedFile], bool]:
    """Up to ``most`` files behind ``after`` of the folders that are ``wanted`` by name; and whether more follow.

    Raises as :meth:`everfind_core.ports.Indexer.indexed_files`.
    """
    found: list[IndexedFile] = []
    while len(found) <= most:
        more = indexer.indexed_files(folder=folder, globs=globs, after=after, limit=most + 1)
        found += [file for file in more if wanted(file.ref.folder)]
        if len(more) <= most:
            break
        after = more[-1].ref
    return found[:most], len(found) > most
