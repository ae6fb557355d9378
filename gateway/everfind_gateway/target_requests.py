"""From what a caller names to a request: files, folders and paths below them, symbols, lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from everfind_core.errors import FileNotIndexableError, FolderNotFoundError, InvalidRequestError
from everfind_core.files.paths import encode_os_path, shown_path
from everfind_core.model import FileRef, Folder, GrepRequest, IndexRequest, RelatedRequest, Relation
from everfind_gateway.config.folders import find_folder, inside
from everfind_gateway.config.settings import Settings
from everfind_gateway.places import place_in
from everfind_gateway.requests import SearchOptions, added_folders, chosen, filters_of, searchable_folders, text_of


def related_request(
    settings: Settings, target: str, relations: Iterable[Relation], options: SearchOptions
) -> RelatedRequest:
    """What belongs to ``target``: a symbol, or a place as ``FOLDER/PATH:LINE`` or an operating system's path and line.

    Raises:
        FolderNotFoundError: an option names a folder that is neither added nor in the index.
        FileNotIndexableError: the place lies in no folder.
    """
    request = RelatedRequest(
        relations=tuple(relations),
        limit=chosen(options.limit, settings.limit),
        filters=filters_of(settings, options),
        cursor=options.cursor,
    )
    place = place_in(target)
    if place is None:
        return replace(request, symbol=text_of("symbol", target))
    file = file_reference(searchable_folders(settings), place.path)
    return replace(request, folder=file.folder, path=file.path, line=place.start)


def grep_request(
    settings: Settings,
    pattern: str,
    *,
    regex: bool = False,
    ignore_case: bool = False,
    folders: Sequence[str] = (),
    include: Sequence[str] = (),
    max_results: int = 100,
) -> GrepRequest:
    """A search of lines, in all folders if none is named.

    Raises:
        FolderNotFoundError: a name or path is no added folder's.
    """
    known = added_folders(settings) if folders else ()
    return GrepRequest(
        pattern=text_of("pattern", pattern),
        regex=regex,
        case_sensitive=not ignore_case,
        folders=tuple(dict.fromkeys(find_folder(known, given).name for given in folders)),
        globs=tuple(include),
        max_results=max_results,
    )


def check_any_folder(settings: Settings) -> None:
    """Refuse a run over nothing.

    Raises:
        FolderNotFoundError: no folder was added.
    """
    if not settings.folders and not settings.server:
        raise FolderNotFoundError("there is no folder to index", hint="Add one with `everfind add DIR`.")


def index_requests(
    settings: Settings,
    targets: Sequence[str],
    *,
    force: bool = False,
    rebuild: bool = False,
    max_files: int = 0,
    wait: bool = True,
) -> list[IndexRequest]:
    """One request for whole folders, and one for each path below a folder; all folders if nothing is named.

    Raises:
        FolderNotFoundError: a target is no folder's name and lies in no folder.
        InvalidRequestError: ``max_files`` is negative.
    """
    if max_files < 0:
        raise InvalidRequestError.of("max_files", f"{max_files} is negative; 0 means no limit")
    everything = IndexRequest(
        force=force, rebuild=rebuild, max_files=max_files, concurrency=settings.concurrency, wait=wait
    )
    if not targets:
        return [everything]
    folders = added_folders(settings)
    named = dict.fromkeys((folder.name, path) for folder, path in (_index_target(folders, one) for one in targets))
    whole = tuple(name for name, path in named if not path)
    requests = [replace(everything, folders=whole)] if whole else []
    return requests + [
        replace(everything, folders=(name,), below=path) for name, path in named if path and name not in whole
    ]


def file_reference(folders: Sequence[Folder], target: str) -> FileRef:
    """The file that a caller means: ``FOLDER/PATH`` as a search prints it, or a path of the operating system.

    Raises:
        FileNotIndexableError: it lies in no folder.
        InvalidRequestError: it is empty.
    """
    if not target:
        raise InvalidRequestError.of("path", "it is empty", hint="Name a file as FOLDER/PATH, as a search prints it.")
    found = inside(folders, target)
    if found is None or not found[1]:
        raise FileNotIndexableError(
            f"{shown_path(encode_os_path(target))} is no file of an added folder",
            hint="Name it as FOLDER/PATH, as a search prints it, or by its absolute path.",
        )
    return FileRef(found[0].name, found[1])


def _index_target(folders: Sequence[Folder], target: str) -> tuple[Folder, str]:
    """A folder, and the path below it that the target names; empty for the folder itself."""
    try:
        return find_folder(folders, target), ""
    except FolderNotFoundError:
        if (found := inside(folders, target)) is None:
            raise
        return found
