"""A version of a table all of whose rows are in memory: both arms answer from there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

import numpy as np
import numpy.typing as npt

from everfind_core.model import Filters, Vector, Vectors
from everfind_core.ports import ScoredChunk, StoredChunk
from everfind_searcher.remembered import Remembered
from everfind_searcher.store.best import Rows, Scored, best
from everfind_searcher.store.bm25 import Mask, TermScorer
from everfind_searcher.store.copies import OFFSET_BITS, OFFSETS, Addresses, Copy, Version
from everfind_searcher.store.exact import Nearest, Selection
from everfind_searcher.store.in_memory import joined
from everfind_searcher.store.postings import Postings

_FILTERS: Final = 16
"""So many filters' rows are remembered at most."""

_SMALL: Final = 500
"""Rows of fragments that are looked up in together: each costs as much as a large one, and a save adds one."""

_EVERYTHING: Final = Filters()


@dataclass(frozen=True, slots=True)
class _Passing:
    """The rows that pass a filter: those with a vector by copy, and all; None is every row of the version."""

    selections: Sequence[Selection]
    mask: Mask | None

    @property
    def nbytes(self) -> int:
        """What it takes in memory: at most 12 bytes a row that passes, and one for every row."""
        return sum(one.nbytes for one in self.selections) + (0 if self.mask is None else self.mask.nbytes)


class WholeVersion:
    """One version in memory, its rows numbered through all its fragments. Thread-safe."""

    def __init__(self, version: Version, copies: Mapping[int, Copy], live: Rows, spare: int) -> None:
        """``copies`` are all the version's fragments, ``live`` the rows of them that it has; see :meth:`of`."""
        self._version = version
        self._copies = copies
        self._starts = _starts(copies)
        self._chunks: Sequence[StoredChunk] = list(chain.from_iterable(copy.chunks for copy in copies.values()))
        self._passing: Remembered[Filters, _Passing] = Remembered(_FILTERS)
        self._most = spare // _FILTERS
        mask = self._mask(live)
        self._all = _Passing(self._selections(live), None if mask.all() else mask)
        postings = _postings(copies)
        self._finds = [one.find for one in postings]
        self._scorer = TermScorer.counting(version.counted(), [one.lengths for one in postings], mask)

    @classmethod
    def of(cls, version: Version, copies: Mapping[int, Copy], spare: int) -> WholeVersion | None:
        """The version of its fragments' ``copies``; None where one is missing.

        What passes a filter is remembered in ``spare`` bytes: a filter in an equal share, or not at all.
        """
        numbers = [fragment.number for fragment in version.fragments()]
        if not all(number in copies for number in numbers):
            return None
        own = {number: copies[number] for number in sorted(numbers, key=lambda one: (_is_small(copies[one]), one))}
        return cls(version, own, _numbered(own, version.rows(_EVERYTHING)), spare)

    def semantic(self, query: Vector, limit: int, where: Filters) -> Sequence[ScoredChunk]:
        """The nearest chunks; see the port. Exact."""
        find = Nearest(self._that_pass(where).selections, query).best
        return best(find, self._read, limit, self._vectors)

    def lexical(self, tokens: Sequence[str], limit: int, where: Filters) -> Sequence[ScoredChunk] | None:
        """The best chunks by BM25, each of ``tokens`` once; None where the store counts other rows."""
        scorer = self._scorer
        if scorer is None:
            return None
        passing = self._that_pass(where).mask

        def find(count: int) -> Scored:
            return scorer.best(self._finds, tokens, passing, count)

        return best(find, self._read, limit)

    def _that_pass(self, where: Filters) -> _Passing:
        known = self._all if where == _EVERYTHING else self._passing.get(where)
        if known is None:
            rows = _numbered(self._copies, self._version.rows(where))
            known = _Passing(self._selections(rows), self._mask(rows))
            if known.nbytes <= self._most:
                self._passing.put(where, known)
        return known

    def _mask(self, rows: Rows) -> Mask:
        mask = np.zeros(self._starts[-1], dtype=bool)
        mask[rows] = True
        return mask

    def _selections(self, rows: Rows) -> Sequence[Selection]:
        borders = np.searchsorted(rows, self._starts)
        parts = zip(self._copies.values(), self._starts, borders, borders[1:], strict=False)
        return [
            Selection.of(copy, rows[first:last], rows[first:last] - np.int32(start))
            for copy, start, first, last in parts
            if first < last
        ]

    def _read(self, rows: Rows) -> Sequence[StoredChunk]:
        return [self._chunks[row] for row in rows.tolist()]

    def _vectors(self, rows: Rows) -> Vectors:
        order = np.argsort(rows)
        ascending = rows[order]
        borders = np.searchsorted(ascending, self._starts).tolist()
        parts = zip(self._copies.values(), self._starts, borders, borders[1:], strict=False)
        read = joined([c.vectors.floats(ascending[first:last] - start) for c, start, first, last in parts])
        found = np.empty_like(read)
        found[order] = read
        return found


def _is_small(copy: Copy) -> bool:
    return len(copy.chunks) <= _SMALL


def _postings(copies: Mapping[int, Copy]) -> list[Postings]:
    """Those of each copy, of which the small ones come last: of these together."""
    large = [copy.postings for copy in copies.values() if copy.postings and not _is_small(copy)]
    small = [copy.postings for copy in copies.values() if copy.postings and _is_small(copy)]
    return [*large, Postings.joined(small)] if small else large


def _starts(copies: Mapping[int, Copy]) -> Sequence[int]:
    """The number of each copy's first row, and that of all rows."""
    starts: list[int] = np.cumsum([0, *(len(copy.chunks) for copy in copies.values())]).tolist()
    return starts


def _numbered(copies: Mapping[int, Copy], addresses: Addresses) -> npt.NDArray[np.int32]:
    """The rows by their numbers, ascending."""
    fragments = addresses >> np.uint64(OFFSET_BITS)
    found = [np.zeros(0, np.int32)]
    for number, start in zip(copies, _starts(copies), strict=False):
        places = np.sort(addresses[fragments == number] & np.uint64(OFFSETS))
        found.append(places.astype(np.int32) + np.int32(start))
    return np.concatenate(found)
