"""From what a caller says and the settings to a request: the same for every front end."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from everfind_core.errors import FileNotIndexableError, FolderNotFoundError, InvalidRequestError
from everfind_core.files.paths import encode_os_path, shown_path, typed_path
from everfind_core.folder_rules import indexed_folders
from everfind_core.model import (
    FileRef,
    Filters,
    Folder,
    GrepRequest,
    IndexRequest,
    RelatedRequest,
    Relation,
    SearchMode,
    SearchRequest,
)
from everfind_gateway.config.folders import existing_path, find_folder
from everfind_gateway.config.settings import Settings
from everfind_gateway.places import place_in

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """What a caller may say besides the query. Empty means no limit, None the setting's."""

    folders: Sequence[str] = ()
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    languages: Sequence[str] = ()
    kinds: Sequence[str] = ()
    statuses: Sequence[str] = ()
    since: str = ""
    before: str = ""
    everything: bool = False
    rerank: bool | None = None
    min_score: float | None = None
    relative_cutoff: float | None = None
    limit: int | None = None
    mode: SearchMode | str | None = None
    wait_seconds: float | None = None
    graph: bool = False
    max_tokens: int = 0
    further: int = 0
    cursor: str = ""
    explain: bool = False


def search_request(settings: Settings, query: str, options: SearchOptions) -> SearchRequest:
    """A question, as the settings say where the options do not; ``default_exclude`` is the searcher's to apply.

    Raises:
        FolderNotFoundError: an option names a folder that is neither added nor in the index.
    """
    return SearchRequest(
        query=_text("query", query),
        limit=_chosen(options.limit, settings.limit),
        mode=SearchMode(_chosen(options.mode, settings.mode)),
        wait_seconds=_chosen(options.wait_seconds, settings.wait_seconds),
        filters=_filters(settings, options),
        cursor=options.cursor,
        explain=options.explain,
        rerank=_chosen(options.rerank, settings.rerank),
        graph_hops=int(options.graph),
        max_tokens=options.max_tokens,
        further=options.further,
        min_score=options.min_score,
        relative_cutoff=options.relative_cutoff,
    )


def _chosen(option: T | None, setting: T) -> T:
    return setting if option is None else option


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
        limit=_chosen(options.limit, settings.limit),
        filters=_filters(settings, options),
        cursor=options.cursor,
    )
    place = place_in(target)
    if place is None:
        return replace(request, symbol=_text("symbol", target))
    file = file_reference(searchable_folders(settings), place.path)
    return replace(request, folder=file.folder, path=file.path, line=place.start)


def _text(field: str, given: str) -> str:
    """What was typed; bytes of the terminal that are not UTF-8 are replaced.

    Raises:
        InvalidRequestError: it holds a lone surrogate, which no terminal gives.
    """
    try:
        return given.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    except UnicodeEncodeError:
        raise InvalidRequestError.of(field, "it holds a lone surrogate, which is no text") from None


def _filters(settings: Settings, options: SearchOptions) -> Filters:
    known = searchable_folders(settings) if options.folders else ()
    return Filters(
        folders=tuple(dict.fromkeys(find_folder(known, given).name for given in options.folders)),
        include=tuple(options.include),
        exclude=tuple(options.exclude),
        languages=tuple(language.lower() for language in options.languages),
        statuses=_statuses(options.statuses),
        since=options.since,
        before=options.before,
        kinds=tuple(options.kinds),
        all_statuses=options.everything,
    )


def _statuses(given: Iterable[str]) -> tuple[str, ...]:
    """Status words in their normal form."""
    if not given:
        return ()
    from everfind_core.lifecycle.vocabulary import normal  # most searches name no status, and need not wait for it

    return tuple(map(normal, given))


def searchable_folders(settings: Settings) -> tuple[Folder, ...]:
    """The added folders, and those that were removed and kept searchable."""
    if settings.server:
        return added_folders(settings)
    names = {folder.name for folder in settings.folders}
    return (*settings.folders, *(one for one in indexed_folders(settings.index_dir) if one.name not in names))


def added_folders(settings: Settings) -> tuple[Folder, ...]:
    """The folders that names and paths can mean: the server's, if the settings name one."""
    if not settings.server:
        return settings.folders
    from everfind_gateway.wiring.remote import server_folders

    return tuple(server_folders(settings))


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
        pattern=_text("pattern", pattern),
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
    whole: list[str] = []
    below: list[tuple[str, str]] = []
    folders = added_folders(settings) if targets else ()
    for target in targets:
        folder, path = _index_target(folders, target)
        if not path:
            whole.append(folder.name)
        else:
            below.append((folder.name, path))

    def request(folders: Iterable[str], path: str = "") -> IndexRequest:
        return IndexRequest(
            folders=tuple(dict.fromkeys(folders)),
            below=path,
            force=force,
            rebuild=rebuild,
            max_files=max_files,
            concurrency=settings.concurrency,
            wait=wait,
        )

    requests = [request(whole)] if whole or not below else []
    return requests + [request([name], path) for name, path in dict.fromkeys(below) if name not in whole]


def file_reference(folders: Sequence[Folder], target: str) -> FileRef:
    """The file that a caller means: ``FOLDER/PATH`` as a search prints it, or a path of the operating system.

    Raises:
        FileNotIndexableError: it lies in no folder.
        InvalidRequestError: it is empty.
    """
    if not target:
        raise InvalidRequestError.of("path", "it is empty", hint="Name a file as FOLDER/PATH, as a search prints it.")
    name, _, path = target.partition("/")
    if path and any(folder.name == name for folder in folders):
        return FileRef(name, typed_path(path))
    absolute = os.path.abspath(existing_path(target))  # noqa: PTH100 - links stay: the indexer decides about them
    found = _innermost(folders, absolute) or _innermost(folders, os.path.realpath(absolute))
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
        found = _innermost(folders, os.path.realpath(existing_path(target)))
        if found is None:
            raise
        return found


def _innermost(folders: Sequence[Folder], absolute: str) -> tuple[Folder, str] | None:
    """The innermost folder that holds an absolute path, and the path below it in string form."""
    path = encode_os_path(absolute)
    holding = [f for f in folders if path == f.root or path.startswith(f"{f.root.rstrip('/')}/")]
    if not holding:
        return None
    folder = max(holding, key=lambda f: len(f.root))
    return folder, path[len(folder.root) :].strip("/")
