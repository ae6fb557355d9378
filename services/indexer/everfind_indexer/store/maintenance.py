"""Keep the table's search structures current, few and small.

A search structure covers rows in segments; rows in no segment are scanned, which costs a reader 0.09 ms a row and
query in the lexical arm. A new segment over the newest rows costs 30 ms whatever the table's size, so rows get one
soon, and segments are merged before they are many. Data lies in fragments, one a commit: new ones are joined before
they get a segment (afterwards each segment over them would be rewritten, too).

**Dead rows.** Rows that were replaced or removed stay in their fragment under a mask, and in the lexical segments
over it: no search finds them, but BM25 counts their terms, until the fragment is written anew. That costs two tenths
of a second of processor time for 20,000 rows, and more for readers that hold them in memory. So the end of a run over
whole folders does it (``exact``: scores are those of a fresh table), one over a few saved files leaves it to the next
that does. Rows that come and go with the same file do not pile up: a fragment that is all dead is gone at once.
Its terms go from the segments over it and others when those are merged with one more, or made anew: at 20,000 rows
.3 and .5 seconds of processor time, and only where a segment names such a fragment. Where the segments from there on
are small, the end of a run over few files does it, too (some 30 ms): readers that hold all rows in memory can count as
BM25 does only where it counts rows of fragments that are there.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

import lance

from everfind_core.index.store_schema import (
    BITMAP_COLUMNS,
    BTREE_COLUMNS,
    TERMS,
    TOKEN_COLUMNS,
    VECTOR,
    index_name,
)
from everfind_indexer.store.search_structures import create_index, has_vector

if TYPE_CHECKING:
    from lance.lance.indices import IndexDescription

FRAGMENT_ROWS: Final = 20_000
"""Rows that fragments are joined to, and the most that wait for a segment during a run."""

FIRST_SEGMENT_ROWS: Final = 2_000
SEGMENTS: Final = 8
SMALL_ROWS: Final = 2_000
SMALL_FRAGMENTS: Final = 32
DEAD_SHARE: Final = 0.2
EXACT_ROWS: Final = 100_000
"""Live rows in fragments with dead ones that the end of a run writes anew at most: about a second."""

GONE_ROWS: Final = 2_000
"""Live rows in segments that the end of a run over few files merges at most for the sake of gone fragments."""

OUTSIDE_SHARE: Final = 0.1
GROWTH: Final = 2
"""Segments are merged with one of at most so many times their rows: a row is so merged a few times, not each time."""

KEEP_SECONDS: Final = 600.0
"""How long a version outlives its replacement, for readers that still use it."""

CLEANUP_SECONDS: Final = 60.0
"""How often one writer looks for versions to remove: that stats a file a version, and where there are some reads it."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How the table lies now.

    ``rows`` has the live rows of each fragment, ``deleted`` the dead ones. ``indices`` leaves the vector index out
    while the table has no vector: it cannot learn from none.
    """

    rows: dict[int, int]
    deleted: dict[int, int]
    indices: tuple[IndexDescription, ...]

    @classmethod
    def of(cls, dataset: lance.LanceDataset) -> Layout:
        """The layout of the version at hand."""
        fragments = [fragment.metadata for fragment in dataset.get_fragments()]
        rows = {fragment.id: fragment.num_rows for fragment in fragments}
        return cls(
            rows=rows,
            deleted={fragment.id: fragment.num_deletions for fragment in fragments},
            indices=tuple(index for index in dataset.describe_indices() if _can_learn(dataset, index, rows)),
        )

    @property
    def live(self) -> int:
        """Live rows of the table."""
        return sum(self.rows.values())

    @property
    def dead(self) -> int:
        """Deleted rows of the table."""
        return sum(self.deleted.values())

    @property
    def uncovered(self) -> list[int]:
        """The fragments that some search structure does not cover."""
        return sorted({fragment for index in self.indices for fragment in self.uncovered_by(index)})

    def uncovered_by(self, index: IndexDescription) -> list[int]:
        """The fragments that this search structure does not cover."""
        covered = {fragment for segment in index.segments for fragment in segment.fragment_ids}
        return [fragment for fragment in self.rows if fragment not in covered]

    @property
    def waiting(self) -> int:
        """Rows of the uncovered fragments."""
        return sum(self.rows[fragment] for fragment in self.uncovered)

    def small(self) -> list[int]:
        """Fragments so small that many of them slow a search down."""
        return [fragment for fragment, rows in self.rows.items() if rows < SMALL_ROWS]

    def dirty(self, most: int) -> list[int]:
        """Fragments with dead rows, those with the most first, as far as they hold no more than ``most`` live rows."""
        chosen: list[int] = []
        for fragment in sorted(self.rows, key=lambda fragment: -self.deleted[fragment]):
            if self.deleted[fragment] and self.rows[fragment] <= most:
                most -= self.rows[fragment]
                chosen.append(fragment)
        return chosen

    def without(self, fragments: Collection[int]) -> list[int]:
        """All fragments but these."""
        return [fragment for fragment in self.rows if fragment not in fragments]

    def naming_gone(self, columns: Collection[str]) -> list[IndexDescription]:
        """The search structures of these columns that hold rows of a fragment that is there no more."""
        names = {index_name(column) for column in columns}
        return [index for index in self.indices if index.name in names and self._first_naming_gone(index) is not None]

    def since_gone(self, index: IndexDescription) -> int:
        """How many of the index's newest segments reach back to the first that names a gone fragment."""
        first = self._first_naming_gone(index)
        return 0 if first is None else len(self.segments(index)) - first

    def worth_dropping_gone(self, index: IndexDescription) -> int:
        """How many of the newest segments to merge so that none names a gone fragment; 0 where those are large."""
        since = self.since_gone(index)
        newest = max(2, since)
        return newest if since and sum(self._sizes(index)[-newest:]) <= GONE_ROWS else 0

    def _first_naming_gone(self, index: IndexDescription) -> int | None:
        gone = (any(f not in self.rows for f in segment) for segment in self.segments(index))
        return next((position for position, found in enumerate(gone) if found), None)

    def outside_largest(self, index: IndexDescription) -> int:
        """Live rows that are not in the index's largest segment."""
        sizes = self._sizes(index)
        return sum(sizes) - max(sizes, default=0)

    def filled(self, index: IndexDescription) -> int:
        """How many segments the index has, but for the empty one that some have of when the table was made."""
        return sum(map(bool, self.segments(index)))

    def alike(self, index: IndexDescription) -> int:
        """How many of the index's newest segments are worth merging: none has many more rows than all newer ones."""
        count, rows = 0, 0
        for size in reversed(self._sizes(index)):
            if count and not 0 < size <= GROWTH * rows:
                break
            count, rows = count + 1, rows + size
        return count

    def segments(self, index: IndexDescription) -> list[Collection[int]]:
        """The fragments of each segment, the oldest first, and those of none as one more: they get one next."""
        uncovered = self.uncovered_by(index)
        return [*(segment.fragment_ids for segment in index.segments), *([uncovered] if uncovered else [])]

    def _sizes(self, index: IndexDescription) -> list[int]:
        """Live rows of each segment."""
        return [sum(self.rows.get(fragment, 0) for fragment in segment) for segment in self.segments(index)]


def _can_learn(dataset: lance.LanceDataset, index: IndexDescription, rows: dict[int, int]) -> bool:
    if index.name != index_name(VECTOR) or any(f in rows for segment in index.segments for f in segment.fragment_ids):
        return True
    return has_vector(dataset)


def keep_up(dataset: lance.LanceDataset) -> bool:
    """Between two commits of a run: cover new rows once enough wait; gives whether it did anything.

    The first rows are covered early, later ones in growing steps.
    """
    layout = Layout.of(dataset)
    step = min(max(FIRST_SEGMENT_ROWS, layout.live // 3), FRAGMENT_ROWS)
    if layout.waiting < step:
        return False
    _cover(dataset, layout)
    _limit_segments(dataset)
    return True


def settle(dataset: lance.LanceDataset, *, exact: bool) -> bool:
    """At the end of a run: cover every row, tidy up what is worth waiting for; gives whether it did anything.

    With ``exact`` dead rows go, so that none counts in BM25's statistics; see ``EXACT_ROWS`` for how many.
    """
    before = dataset.version
    layout = Layout.of(dataset)
    if layout.dead > DEAD_SHARE * (layout.live + layout.dead):
        _join(dataset, keep=())
    elif len(layout.small()) > SMALL_FRAGMENTS:
        _join(dataset, keep=layout.without(layout.small()))
    layout = Layout.of(dataset)
    if exact and (dirty := layout.dirty(EXACT_ROWS)):
        _join(dataset, keep=layout.without(dirty), dead_share=0.0)
        layout = Layout.of(dataset)
    _join_uncovered(dataset, layout)
    _merge_segments(dataset, exact=exact)
    if exact:
        _drop_gone(dataset)
    return dataset.version != before


def _cover(dataset: lance.LanceDataset, layout: Layout) -> None:
    _join_uncovered(dataset, layout)
    _optimize(dataset, [index.name for index in layout.indices], merge=0)


def _join_uncovered(dataset: lance.LanceDataset, layout: Layout) -> None:
    small = set(layout.small()).intersection(layout.uncovered)
    if len(small) > 1:
        _join(dataset, keep=layout.without(small))


def _limit_segments(dataset: lance.LanceDataset) -> None:
    for index in dataset.describe_indices():
        if len(index.segments) >= SEGMENTS:
            _optimize(dataset, [index.name], merge=SEGMENTS - 1)


def _merge_segments(dataset: lance.LanceDataset, *, exact: bool) -> None:
    """Cover what no segment covers, and join with it as many segments as are worth merging.

    That is one step, but for lexical ones: joined with rows of no segment, one would consist of two parts.
    """
    tokens = {index_name(column) for column in TOKEN_COLUMNS}
    layout = Layout.of(dataset)
    if first := [index.name for index in layout.indices if index.name in tokens and layout.uncovered_by(index)]:
        _optimize(dataset, first, merge=0)
        layout = Layout.of(dataset)
    chosen: dict[int, list[str]] = defaultdict(list)
    for index in layout.indices:
        newest, covers = _worth_merging(layout, index, exact=exact), bool(layout.uncovered_by(index))
        if newest > 1 or covers:
            chosen[max(1, newest) - covers].append(index.name)
    for merge, names in chosen.items():
        _optimize(dataset, names, merge=merge)


def _worth_merging(layout: Layout, index: IndexDescription, *, exact: bool) -> int:
    """How many of the index's newest segments to make one, those uncovered rows counted as one; 0 or 1 for none.

    All where a good share of the rows lies outside the largest. Else the newest, at the cost of what changed: the end
    of a run over whole folders leaves the oldest and one more; others merge once there are many, or where the newest
    hold terms of a fragment that is gone.
    """
    segments = len(layout.segments(index))
    if segments > 1 and layout.outside_largest(index) > OUTSIDE_SHARE * layout.live:
        return segments
    if exact:
        return layout.filled(index) - 1
    if index.name == index_name(TERMS) and (newest := layout.worth_dropping_gone(index)):
        return newest
    if segments < SEGMENTS:
        return 0
    newest = layout.alike(index)
    return newest if newest > 1 else SEGMENTS - 1


def _drop_gone(dataset: lance.LanceDataset) -> None:
    """Let no lexical segment hold rows of fragments that are gone: a merge of two or more leaves them out."""
    layout = Layout.of(dataset)
    for index in layout.naming_gone(TOKEN_COLUMNS):
        if len(index.segments) > 1:
            _optimize(dataset, [index.name], merge=max(2, layout.since_gone(index)))
    _make_anew(dataset, TOKEN_COLUMNS)


def _make_anew(dataset: lance.LanceDataset, columns: Collection[str]) -> None:
    """The search structures of these columns, where they hold rows of fragments that are gone."""
    layout = replace(Layout.of(dataset), indices=tuple(dataset.describe_indices()))  # without vectors, too
    for index in layout.naming_gone(columns):
        create_index(dataset, *index.field_names)
    refresh(dataset)


def _optimize(dataset: lance.LanceDataset, names: list[str], *, merge: int) -> None:
    """``merge`` 0 adds a segment over uncovered rows; n joins the newest n segments, and those rows, into one."""
    dataset.optimize.optimize_indices(num_indices_to_merge=merge, index_names=names)
    refresh(dataset)


def _join(dataset: lance.LanceDataset, *, keep: Iterable[int], dead_share: float = DEAD_SHARE / 2) -> None:
    """Join small fragments and drop dead rows where they are more than a share, in all fragments but ``keep``."""
    dataset.optimize.compact_files(
        target_rows_per_fragment=FRAGMENT_ROWS,
        materialize_deletions_threshold=dead_share,
        excluded_fragment_ids=list(keep),
        num_threads=1,
    )
    refresh(dataset)


def refresh(dataset: lance.LanceDataset) -> None:
    """Let ``dataset`` be the table's newest version."""
    dataset.checkout_latest()  # type: ignore[no-untyped-call]  # lance leaves it without types


def remove_old_versions(dataset: lance.LanceDataset, table: Path) -> None:
    """Remove what only versions need that were replaced longer ago than a reader may use one."""
    deadline = time.time() - KEEP_SECONDS
    written = (path.stat().st_mtime for path in (table / "_versions").glob("*.manifest"))
    if sum(seconds < deadline for seconds in written) < 2:  # of those that are so old, the newest is still in use
        return
    expired = [old["version"] for old, new in pairwise(dataset.versions()) if _seconds(new["timestamp"]) < deadline]
    if expired:
        dataset.cleanup_old_versions(versions=expired, error_if_tagged_old_versions=False)


def purge(dataset: lance.LanceDataset) -> None:
    """Write live rows anew where dead ones lie beside them, and remove every old version, whoever uses it."""
    dataset.optimize.compact_files(
        target_rows_per_fragment=FRAGMENT_ROWS, materialize_deletions_threshold=0.0, num_threads=1
    )
    refresh(dataset)
    _make_anew(dataset, (*BTREE_COLUMNS, *BITMAP_COLUMNS, *TOKEN_COLUMNS, VECTOR))
    dataset.cleanup_old_versions(older_than=timedelta(0), delete_unverified=True, error_if_tagged_old_versions=False)


def _seconds(timestamp: int | datetime) -> float:
    return timestamp.timestamp() if isinstance(timestamp, datetime) else timestamp / 1e9
