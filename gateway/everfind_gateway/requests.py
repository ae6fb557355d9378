"""From what a caller says and the settings to a search: the same for every front end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from everfind_core.errors import InvalidRequestError
from everfind_core.model import Filters, Folder, SearchMode, SearchRequest
from everfind_gateway.config.folders import find_folder
from everfind_gateway.config.settings import Settings

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
        query=text_of("query", query),
        limit=chosen(options.limit, settings.limit),
        mode=SearchMode(chosen(options.mode, settings.mode)),
        wait_seconds=chosen(options.wait_seconds, settings.wait_seconds),
        filters=filters_of(settings, options),
        cursor=options.cursor,
        explain=options.explain,
        rerank=chosen(options.rerank, settings.rerank),
        graph_hops=int(options.graph),
        max_tokens=options.max_tokens,
        further=options.further,
        min_score=options.min_score,
        relative_cutoff=options.relative_cutoff,
    )


def chosen(option: T | None, setting: T) -> T:
    """What a caller says; None leaves it to the setting."""
    return setting if option is None else option


def text_of(field: str, given: str) -> str:
    """What was typed; bytes of the terminal that are not UTF-8 are replaced.

    Raises:
        InvalidRequestError: it holds a lone surrogate, which no terminal gives.
    """
    try:
        return given.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    except UnicodeEncodeError:
        raise InvalidRequestError.of(field, "it holds a lone surrogate, which is no text") from None


def filters_of(settings: Settings, options: SearchOptions) -> Filters:
    """What may be found.

    Raises:
        FolderNotFoundError: an option names a folder that is neither added nor in the index.
    """
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
    from everfind_core.index.directory import indexed_folders  # a search of all folders does not wait for it

    names = {folder.name for folder in settings.folders}
    return (*settings.folders, *(one for one in indexed_folders(settings.index_dir) if one.name not in names))


def added_folders(settings: Settings) -> tuple[Folder, ...]:
    """The folders that names and paths can mean: the server's, if the settings name one."""
    if not settings.server:
        return settings.folders
    from everfind_gateway.wiring.remote import server_folders

    return tuple(server_folders(settings))
