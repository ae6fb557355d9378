"""What Python programs can tell a search besides the question, and the request that it makes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from everfind_core.model import SearchRequest
from everfind_gateway.config.settings import Settings
from everfind_gateway.requests import SearchOptions, search_request

Names: TypeAlias = str | Sequence[str]
"""One name, or several."""
Folders: TypeAlias = str | Path | Sequence[str | Path]
"""The same, also as paths."""
RelationName: TypeAlias = Literal["caller", "callee", "reference", "similar"]


@with_config(ConfigDict(extra="forbid", strict=True))
class SearchKeywords(TypedDict, total=False):
    """What a search can be told besides the question. What is left out is as the settings say, or without limit.

    ``folder`` by name or path; ``include`` and ``exclude`` are globs; ``since`` and ``before`` ISO 8601 dates.
    ``everything`` brings back what `default_exclude` or a document's status hides. ``graph`` adds what calls the first
    hits or is called by them. ``wait`` for changes to be indexed, in seconds. ``max_tokens`` bounds the hits' texts;
    ``further`` files are named of what did not fit.
    """

    limit: int | None
    mode: Literal["hybrid", "semantic", "lexical"] | None
    folder: Folders
    include: Names
    exclude: Names
    language: Names
    kind: Names
    status: Names
    since: str
    before: str
    everything: bool
    graph: bool
    rerank: bool | None
    min_score: float | None
    relative_cutoff: float | None
    wait: float | None
    max_tokens: int
    further: int


def request_of(
    settings: Settings, query: str, asked: SearchKeywords, *, cursor: str = "", explain: bool = False
) -> SearchRequest:
    """The request for a question, as the settings say where ``asked`` does not.

    Raises:
        FolderNotFoundError: it names a folder that is neither added nor in the index.
        InvalidRequestError: the question is no text.
    """
    options = SearchOptions(
        folders=names_of(asked.get("folder", ())),
        include=names_of(asked.get("include", ())),
        exclude=names_of(asked.get("exclude", ())),
        languages=names_of(asked.get("language", ())),
        kinds=names_of(asked.get("kind", ())),
        statuses=names_of(asked.get("status", ())),
        since=asked.get("since", ""),
        before=asked.get("before", ""),
        everything=asked.get("everything", False),
        rerank=asked.get("rerank"),
        min_score=asked.get("min_score"),
        relative_cutoff=asked.get("relative_cutoff"),
        limit=asked.get("limit"),
        mode=asked.get("mode"),
        wait_seconds=asked.get("wait"),
        graph=asked.get("graph", False),
        max_tokens=asked.get("max_tokens", 0),
        further=asked.get("further", 0),
        cursor=cursor,
        explain=explain,
    )
    return search_request(settings, query, options)


def names_of(given: Folders) -> tuple[str, ...]:
    """One name or path or several, as texts."""
    return tuple(os.fspath(one) for one in ((given,) if isinstance(given, str | Path) else given))
