"""Why nothing can be found under a filter: which one matches nothing, and what would match."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import Final

from everfind_core.model import Filters
from everfind_core.ports import ChunkSnapshot, Labels
from everfind_core.text.numbers import count

_NAMED: Final = 20
"""So many values that would match are named at most."""


def what_filters_left(filters: Filters, snapshot: ChunkSnapshot, chunks: int) -> tuple[str, tuple[str, ...]]:
    """An empty answer may be the filters' doing: why none of ``chunks`` passes them, or warnings of how few do."""
    if filters == Filters(folders=filters.folders, all_statuses=filters.all_statuses):
        return "", ()
    passing = snapshot.count(filters)
    if not passing:
        return unmatched(filters, snapshot.labels), ()
    return "", (f"only {passing:,} of {count(chunks, 'chunk')} pass the filters",) if passing < chunks else ()


def unmatched(asked: Filters, labels: Callable[[Filters], Labels]) -> str:
    """Of filters that no chunk passes, the one that does it, and what the index has instead; empty if it has nothing.

    ``labels`` are those of the chunks that pass a filter. Folders are no filter here: that they are there is known.
    """
    there = labels(Filters(folders=asked.folders))
    if not there.rows:
        return "no file of these folders is searchable" if asked.folders else ""
    alone = next(_alone(asked, there, labels), "")
    return alone or "each filter matches something, and nothing matches all of them"


def _alone(asked: Filters, there: Labels, labels: Callable[[Filters], Labels]) -> Iterator[str]:
    """Of each filter that matches nothing by itself, a sentence."""
    for what, wanted, values in (
        ("language", asked.languages, there.languages),
        ("kind", asked.kinds, there.kinds),
        ("status", asked.statuses, there.statuses),
    ):
        if wanted and values.isdisjoint(wanted):
            yield f"nothing has the {what} {_any_of(wanted)}; the index has {_some(values)}"
    within = Filters(folders=asked.folders)
    if asked.include and not labels(replace(within, include=asked.include)).rows:
        yield f"no path matches {_any_of(asked.include)}; one that is searched is {there.path!r}"
    if asked.exclude and not labels(replace(within, exclude=asked.exclude)).rows:
        yield f"{_any_of(asked.exclude)} excludes every file"
    first, last = there.dates
    if (asked.since and last < asked.since) or (asked.before and not (first and first < asked.before)):
        span = f"the index has {first} to {last}" if first else "the index has none"
        yield f"no document has a date {_period(asked)}; {span}"


def _any_of(values: Collection[str]) -> str:
    return " or ".join(map(repr, values))


def _some(values: Collection[str]) -> str:
    """The first of the values by name, and how many others there are."""
    named = sorted(values)[:_NAMED]
    more = len(values) - len(named)
    return (", ".join(named) + (f" and {more:,} more" if more else "")) or "none"


def _period(asked: Filters) -> str:
    parts = [f"from {asked.since} on" if asked.since else "", f"before {asked.before}" if asked.before else ""]
    return " and ".join(filter(None, parts))
