"""The files that the index holds, a page at a time: for the command line, agents and Python programs alike."""

from __future__ import annotations

from collections.abc import Sequence

from everfind_core.file_pages import file_page
from everfind_core.model import FileRef, IndexedFile
from everfind_core.ports import Indexer
from everfind_gateway.config.folders import find_folder
from everfind_gateway.config.settings import Settings
from everfind_gateway.requests import searchable_folders


def indexed_files(
    settings: Settings,
    indexer: Indexer,
    *,
    folders: Sequence[str] = (),
    include: Sequence[str] = (),
    after: FileRef | None = None,
    limit: int = 0,
) -> tuple[list[IndexedFile], bool]:
    """The files behind ``after`` by folder and path, ``limit`` at most unless that is 0; and whether more follow.

    ``folders`` are names or paths, none of them means all that the index holds; ``include`` are globs.

    Raises:
        FolderNotFoundError: one is neither added nor in the index.
        InvalidRequestError: a glob cannot be used.
    """
    known = searchable_folders(settings) if folders else ()
    names = {find_folder(known, given).name for given in folders}
    only = next(iter(names)) if len(names) == 1 else ""

    def wanted(folder: str) -> bool:
        return not names or folder in names

    if limit:
        return file_page(indexer, wanted, limit, folder=only, globs=include, after=after)
    found = indexer.indexed_files(folder=only, globs=include, after=after)
    return [file for file in found if wanted(file.ref.folder)], False
