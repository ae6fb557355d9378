"""A version of a table all of whose rows are in memory: both arms answer from there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Final

import numpy as np
import numpy.typing as npt

from everfind_core.model import Filters, Vector, Vectors
from everfind_core.ports import ScoredChunk, StoredChunk
from everfind_core.text.lexical import Need
from everfind_searcher.remembered import Remembered
from everfind_searcher.store.best import Rows, Scored, best
from everfind_searcher.store.bm25 import Mask, TermScorer, highest
from everfind_searcher.store.copies import OFFSET_BITS, OFFSETS, Addresses, Copy, Fragment, Version
from everfind_searcher.store.exact import Nearest, Selection
from everfind_searcher.store.grouped import PostingsGroup, VersionPostings
from everfind_searcher.store.in_memory import joined
from everfind_searcher.store.quoting import quoting

_FILTERS: Final = 16
"""So many filters' rows are remembered at most."""

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

    def __init__(
        self, version: Version, copies: Mapping[Fragment, Copy], groups: Sequence[PostingsGroup], spare: int
    ) -> None:
        """``copies`` are all the version's fragments, those of the ``groups`` first; see :meth:`of`."""
        self._version = version
        self._copies = list(copies.values())
        self._numbers = [fragment.number for fragment in copies]
        self._starts = _starts(self._copies)
        self._chunks: Sequence[StoredChunk] = list(chain.from_iterable(copy.chunks for copy in self._copies))
        self._passing: Remembered[Filters, _Passing] = Remembered(_FILTERS)
        self._most = spare // _FILTERS
        rows = self._numbered(version.rows(_EVERYTHING))
        self._live = live = self._mask(rows)
        postings = VersionPostings.of(groups, _singles(copies, groups), live)
        self._postings = postings
        self._scorer = None if postings is None else TermScorer.counting(version.counted(), postings.lengths, live)
        self._all = _Passing(self._selections(rows), None)

    @classmethod
    def of(
        cls, version: Version, copies: Mapping[Fragment, Copy], spare: int, groups: Sequence[PostingsGroup] = ()
    ) -> WholeVersion | None:
        """The version of its fragments' ``copies``; None where one is missing.

        ``groups`` have the postings that the copies do not have. What passes a filter is remembered in ``spare`` bytes:
        a filter in an equal share, or not at all.
        """
        fragments = version.fragments()
        if not all(fragment in copies for fragment in fragments):
            return None
        own = [part for part in (group.only(set(fragments)) for group in groups) if part.fragments]
        grouped = [fragment for group in own for fragment in group.fragments]
        others = sorted(set(fragments).difference(grouped), key=lambda one: (-len(copies[one].chunks), one.number))
        ordered = {fragment: copies[fragment] for fragment in (*grouped, *others)}
        return cls(version, ordered, own, spare)

    def semantic(self, query: Vector, limit: int, where: Filters) -> Sequence[ScoredChunk]:
        """The nearest chunks; see the port. Exact."""
        find = Nearest(self._that_pass(where).selections, query).best
        return best(find, self._read, limit, self._vectors)

    def lexical(self, tokens: Sequence[str], limit: int, where: Filters) -> Sequence[ScoredChunk] | None:
        """The best chunks by BM25, each of ``tokens`` once; None where the store counts other rows."""
        if self._postings is None or self._scorer is None:
            return None
        scores = self._scorer.scores(self._postings.finds, tokens, self._that_pass(where).mask)
        scores[self._postings.gone] = 0
        return best(partial(highest, scores), self._read, limit)

    def regrouped(self) -> Sequence[PostingsGroup] | None:
        """Groups of the same rows in which terms are found sooner; None where that is not worth while."""
        return None if self._postings is None else self._postings.regrouped()

    def quoting(self, phrase: str, tokens: Sequence[str], limit: int, where: Filters) -> Sequence[ScoredChunk] | None:
        """The chunks that have ``phrase``, by BM25 over ``tokens``; None where the store counts other rows."""
        postings, scorer = self._postings, self._scorer
        if postings is None or scorer is None:
            return None
        chosen = self._that_pass(where).mask
        passing = self._live if chosen is None else chosen

        def meeting(needs: Sequence[Need], most: int) -> Rows:
            return scorer.meeting(postings.finds, needs, passing, most)

        def score(rows: Rows) -> Scored:
            return highest(scorer.scores(postings.finds, tokens, self._mask(rows)), len(rows))

        return quoting(phrase, limit, meeting, self._read, score)

    def _that_pass(self, where: Filters) -> _Passing:
        known = self._all if where == _EVERYTHING else self._passing.get(where)
        if known is None:
            rows = self._numbered(self._version.rows(where))
            known = _Passing(self._selections(rows), self._mask(rows))
            if known.nbytes <= self._most:
                self._passing.put(where, known)
        return known

    def _numbered(self, addresses: Addresses) -> npt.NDArray[np.int32]:
        """The rows by their numbers, ascending."""
        fragments = addresses >> np.uint64(OFFSET_BITS)
        found = [np.zeros(0, np.int32)]
        for number, start in zip(self._numbers, self._starts, strict=False):
            places = np.sort(addresses[fragments == number] & np.uint64(OFFSETS))
            found.append(places.astype(np.int32) + np.int32(start))
        return np.concatenate(found)

    def _mask(self, rows: Rows) -> Mask:
        mask = np.zeros(self._starts[-1], dtype=bool)
        mask[rows] = True
        return mask

    def _selections(self, rows: Rows) -> Sequence[Selection]:
        borders = np.searchsorted(rows, self._starts)
        parts = zip(self._copies, self._starts, borders, borders[1:], strict=False)
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
        parts = zip(self._copies, self._starts, borders, borders[1:], strict=False)
        read = joined([c.vectors.floats(ascending[first:last] - start) for c, start, first, last in parts])
        found = np.empty_like(read)
        found[order] = read
        return found


def _singles(copies: Mapping[Fragment, Copy], groups: Sequence[PostingsGroup]) -> Sequence[PostingsGroup]:
    """Those of the copies that are in no group, in their order."""
    grouped = {fragment for group in groups for fragment in group.fragments}
    return [
        PostingsGroup.single(fragment, copy.postings)
        for fragment, copy in copies.items()
        if fragment not in grouped and copy.postings is not None
    ]


def _starts(copies: Iterable[Copy]) -> Sequence[int]:
    """The number of each copy's first row, and that of all rows."""
    starts: list[int] = np.cumsum([0, *(len(copy.chunks) for copy in copies)]).tolist()
    return starts
