"""Adding and removing folders of the corpus that the settings describe: of this machine, or of a server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from everfind_core.errors import EverfindError, InvalidRequestError
from everfind_core.files.paths import printable, typed_path
from everfind_core.model import AddFolderRequest, Folder, RemovedFolder, RemoveFolderRequest
from everfind_gateway.config.folders import add_folders, find_folder

if TYPE_CHECKING:
    from everfind_core.cancellation import Cancellation
    from everfind_core.ports import Indexer
    from everfind_gateway.config.settings import Settings


def add_to_corpus(
    settings: Settings,
    indexer: Callable[[], Indexer],
    paths: Sequence[str],
    *,
    name: str,
    include: Sequence[str],
    tell: Callable[[str], object],
) -> tuple[Folder, ...]:
    """Add directories, all or none; with a server they are its own, and ``indexer`` is asked.

    ``tell`` hears of a folder that could not be taken back after an error.

    Raises:
        EverfindError: as :func:`everfind_gateway.config.folders.add_folders` and
            :meth:`everfind_core.ports.Indexer.add_folder` say.
    """
    if name and len(paths) > 1:
        raise InvalidRequestError.of("name", "one name cannot be for several folders", hint="Add them one by one.")
    if settings.server:
        return _add_remotely(indexer(), paths, name, tuple(include), tell)
    file = settings.files.folders_file
    return add_folders(file, paths, name=name, include=include, index_dir=settings.index_dir)


def remove_from_corpus(
    settings: Settings,
    indexer: Indexer,
    target: str,
    *,
    keep_index: bool = False,
    purge: bool = False,
    wait: bool = True,
    cancel: Cancellation | None = None,
) -> RemovedFolder:
    """Remove a folder, by its name or path, and its text from the index unless that is kept.

    Raises:
        FolderNotFoundError: there is none.
        EverfindError: as :meth:`everfind_core.ports.Indexer.remove_folder`.
    """
    wanted = typed_path(target) if settings.server else find_folder(settings.folders, target).name
    return indexer.remove_folder(RemoveFolderRequest(wanted, keep_index, purge, wait=wait), cancel=cancel)


def _add_remotely(
    indexer: Indexer, paths: Sequence[str], name: str, include: tuple[str, ...], tell: Callable[[str], object]
) -> tuple[Folder, ...]:
    for path in paths:
        if not path.startswith("/"):
            raise InvalidRequestError.of(
                "path", f"{path!r} is no absolute path", hint="It is one of a directory where the server runs."
            )
    added: list[Folder] = []
    try:
        for path in paths:
            added += [indexer.add_folder(AddFolderRequest(typed_path(path), name, include))]
    except BaseException:  # an interruption, too, takes back what was added
        for folder in added:  # all or none, as on this machine
            _take_back(indexer, folder, tell)
        raise
    return tuple(added)


def _take_back(indexer: Indexer, folder: Folder, tell: Callable[[str], object]) -> None:
    """Remove a folder that was just added; where that fails, its user is told, and hears of the first error."""
    try:
        indexer.remove_folder(RemoveFolderRequest(folder.name))
    except EverfindError as error:
        name = printable(folder.name)
        tell(f"{name} stays added: {error.message}; `everfind remove {name}` tries again")
