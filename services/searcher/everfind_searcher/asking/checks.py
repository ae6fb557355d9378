"""What a search request must satisfy before any work is done."""

from __future__ import annotations

import datetime as dt
import re

from everfind_core.errors import InvalidRequestError
from everfind_core.index.directory import IndexCoverage
from everfind_core.model import Filters, GatherRequest, SearchRequest

MAX_QUERY_CHARACTERS = 10_000
MAX_LIMIT = 100
MAX_FURTHER = 100
MAX_FILTER_VALUES = 200
MAX_FILTER_CHARACTERS = 4_096
MAX_CONTEXT_LINES = 200
MAX_WAIT_SECONDS = 600

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def check_search(request: SearchRequest) -> None:
    """Raise InvalidRequestError for the first field that is out of range."""
    _check_query(request.query)
    check_limit(request.limit)
    if request.max_tokens < 0:
        raise InvalidRequestError.of("max_tokens", f"{request.max_tokens} is negative; 0 means no limit")
    if not 0 <= request.further <= MAX_FURTHER:
        raise InvalidRequestError.of("further", f"{request.further} is not between 0 and {MAX_FURTHER}")
    if request.min_score is not None and not -1 <= request.min_score <= 1:
        raise InvalidRequestError.of("min_score", f"{request.min_score} is no cosine (-1 to 1)")
    if request.relative_cutoff is not None and not 0 <= request.relative_cutoff <= 1:
        raise InvalidRequestError.of("relative_cutoff", f"{request.relative_cutoff} is not between 0 and 1")
    if not 0 <= request.wait_seconds <= MAX_WAIT_SECONDS:
        raise InvalidRequestError.of("wait_seconds", f"{request.wait_seconds} is not between 0 and {MAX_WAIT_SECONDS}")
    if request.graph_hops not in (0, 1):
        raise InvalidRequestError.of("graph_hops", f"{request.graph_hops} is neither 0 nor 1")
    check_filters(request.filters)


def check_gather(request: GatherRequest) -> None:
    """Raise InvalidRequestError for the first field that is out of range."""
    check_search(request.search)
    if not 0 <= request.context_lines <= MAX_CONTEXT_LINES:
        raise InvalidRequestError.of(
            "context_lines", f"{request.context_lines} is not between 0 and {MAX_CONTEXT_LINES}"
        )


def check_limit(limit: int) -> None:
    """Raise InvalidRequestError for a page that is empty or too long."""
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidRequestError.of("limit", f"{limit} is not between 1 and {MAX_LIMIT}")


def check_folders(filters: Filters, coverage: IndexCoverage) -> None:
    """Raise InvalidRequestError for a folder that the index does not have."""
    known = sorted(f.folder.name for f in coverage.folders)
    for name in filters.folders:
        if name not in known:
            raise InvalidRequestError.of(
                "filters.folders",
                f"the index has no folder {name!r}; it has {', '.join(known) or 'none'}",
                hint="See `everfind list`; a new folder is searchable after `everfind index`.",
            )


def _check_query(query: str) -> None:
    if not is_text(query):
        raise InvalidRequestError.of("query", "it holds a lone surrogate, which is no text")
    if not query.strip():
        raise InvalidRequestError.of("query", "it is empty", hint="Ask with a few words or an identifier.")
    if len(query) > MAX_QUERY_CHARACTERS:
        raise InvalidRequestError.of(
            "query", f"it has {len(query):,} characters, at most {MAX_QUERY_CHARACTERS:,} are taken"
        )


def check_filters(filters: Filters) -> None:
    """Raise InvalidRequestError for a filter that no search can use."""
    for name in ("folders", "include", "exclude", "languages", "kinds", "statuses", "exclude_statuses"):
        values: tuple[str, ...] = getattr(filters, name)
        if len(values) > MAX_FILTER_VALUES:
            raise InvalidRequestError.of(
                f"filters.{name}", f"it has {len(values)} values, at most {MAX_FILTER_VALUES} are taken"
            )
        for value in values:
            if not value or len(value) > MAX_FILTER_CHARACTERS or "\0" in value or not is_text(value):
                raise InvalidRequestError.of(f"filters.{name}", f"{value[:60]!r} is empty, too long, or holds NUL")
    for name in ("since", "before"):
        _check_date(f"filters.{name}", getattr(filters, name))


def is_text(value: str) -> bool:
    """Whether ``value`` can be written as UTF-8."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _check_date(field: str, value: str) -> None:
    if value and not _is_date(value):
        raise InvalidRequestError.of(field, f"{value[:40]!r} is no date like 2026-03-01")


def _is_date(value: str) -> bool:
    try:
        dt.date.fromisoformat(value)
    except ValueError:
        return False
    return _DATE.fullmatch(value) is not None
