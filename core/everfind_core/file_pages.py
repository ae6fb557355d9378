"""A page of the indexed files of some folders, from a port that knows pages of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from everfind_core.cancellation import Cancellation
from everfind_core.model import FileRef, IndexedFile
from everfind_core.ports import Indexer

_LOOK: Final = 10_000
"""Files that are looked at together at most, unless a page is longer."""


def file_page(
    indexer: Indexer,
    wanted: Callable[[str], bool],
    most: int,
    *,
    folder: str = "",
    globs: Sequence[str] = (),
    after: FileRef | None = None,
    cancel: Cancellation | None = None,
) -> tuple[list[IndexedFile], bool]:
    """Up to ``most`` files behind ``after`` of the folders that are ``wanted`` by name; and whether more follow.

    Raises as :meth:`everfind_core.ports.Indexer.indexed_files`, and what ``cancel`` raises between two looks.
    """
    found: list[IndexedFile] = []
    look = most + 1
    while len(found) <= most:
        if cancel is not None:
            cancel.check()
        more = indexer.indexed_files(folder=folder, globs=globs, after=after, limit=look)
        found += [file for file in more if wanted(file.ref.folder)]
        if len(more) < look:
            break
        after = more[-1].ref
        look = max(look, min(2 * look, _LOOK))  # folders that are not wanted may be long
    return found[:most], len(found) > most
