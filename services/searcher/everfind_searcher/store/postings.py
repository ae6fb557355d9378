"""Where the terms of a fragment's rows stand, in memory: all postings as three arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

Places = npt.NDArray[np.integer]
"""Rows by where they stand in their fragment."""

Counts = npt.NDArray[np.integer]
Lengths = npt.NDArray[np.integer]

_JOINED_AT_ONCE: Final = 1 << 19
"""So many postings are joined at a time, about: each takes 40 bytes meanwhile."""


class Matches(NamedTuple):
    """The rows that a term stands in, ascending, and how often it does in each; ``left_out`` counts other such rows."""

    places: Places
    counts: Counts
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Postings:
    """The postings of one field of a fragment's rows.

    ``terms`` are the terms' hashes of 64 bits in this process, ascending: of 100,000 terms two are equal once in four
    billion processes, and an array takes a hundredth of what their texts take as objects. The postings of the n-th
    stand from ``starts[n]`` to ``starts[n + 1]`` of ``places`` and ``counts``. ``lengths`` are the tokens of each row.
    """

    terms: npt.NDArray[np.int64]
    starts: npt.NDArray[np.uint32]
    places: Places
    counts: Counts
    lengths: npt.NDArray[np.uint32]

    @classmethod
    def of(
        cls, terms: Sequence[str], sizes: npt.NDArray[np.integer], places: Places, counts: Counts, lengths: Lengths
    ) -> Postings:
        """Postings of one term after another, ``sizes[n]`` of ``terms[n]``, ascending by place."""
        return cls._by_hash(np.fromiter(map(hash, terms), np.int64, len(terms)), sizes, places, counts, lengths)

    @classmethod
    def none(cls) -> Postings:
        """Of no rows."""
        nothing = np.zeros(0, np.int64)
        return cls.of((), nothing, nothing, nothing, nothing)

    @classmethod
    def joined(cls, parts: Sequence[Renumbered], lengths: Lengths) -> Postings:
        """Those of several parts' rows, whose new numbers ascend from part to part; ``lengths`` are by new numbers."""
        blocks = max(1, sum(len(part.postings.places) for part in parts) // _JOINED_AT_ONCE)
        inner = [n * (1 << 64) // blocks - (1 << 63) for n in range(1, blocks)]  # hashes spread evenly
        cuts = [[0, *part.postings.terms.searchsorted(inner).tolist(), None] for part in parts]
        found = [
            cls._block([part.cut(*where) for part, where in zip(parts, both, strict=True)])
            for both in zip(*(pairwise(cut) for cut in cuts), strict=True)
        ]
        ends = np.cumsum([0, *(len(block.places) for block in found)])
        starts = [block.starts[:-1] + start for block, start in zip(found, ends, strict=False)]
        return cls(
            np.concatenate([block.terms for block in found]),
            np.append(np.concatenate(starts), ends[-1]).astype(np.uint32),
            np.concatenate([block.places for block in found]),
            np.concatenate([block.counts for block in found]),
            lengths.astype(np.uint32),
        )

    @classmethod
    def _block(cls, parts: Sequence[Renumbered]) -> Postings:
        sizes = np.concatenate([np.diff(part.postings.starts.astype(np.int64)) for part in parts])
        places = np.concatenate([part.numbers[part.postings.places] for part in parts])
        counts = np.concatenate([part.postings.counts for part in parts])
        if not (kept := places >= 0).all():
            sizes = np.diff(np.append(0, np.cumsum(kept))[np.append(0, np.cumsum(sizes))])
            places, counts = places[kept], counts[kept]
        hashes = np.concatenate([part.postings.terms for part in parts])
        return cls._by_hash(hashes[sizes > 0], sizes[sizes > 0], places, counts, np.zeros(0, np.uint32))

    @classmethod
    def _by_hash(
        cls,
        hashes: npt.NDArray[np.int64],
        sizes: npt.NDArray[np.integer],
        places: Places,
        counts: Counts,
        lengths: Lengths,
    ) -> Postings:
        """Postings of one hash after another; what has the same hash becomes one, in the order given."""
        by_hash = np.argsort(hashes, kind="stable")
        starts = np.cumsum([0, *sizes[by_hash]])
        moved = (np.cumsum(sizes) - sizes)[by_hash] - starts[:-1]
        order = np.arange(len(places)) + np.repeat(moved, sizes[by_hash])
        terms, firsts = np.unique(hashes[by_hash], return_index=True)
        return cls(
            terms,
            np.append(starts[firsts], starts[-1]).astype(np.uint32),
            _narrowed(places[order]),
            _narrowed(counts[order]),
            lengths.astype(np.uint32),
        )

    @classmethod
    def counted(cls, terms: Sequence[str], numbers: npt.NDArray[np.integer], lengths: Lengths) -> Postings:
        """Those of rows that hold ``lengths`` tokens each, which are, one after another, ``terms[numbers[n]]``."""
        rows = max(len(lengths), 1)
        each = numbers.astype(np.int64) * rows + np.repeat(np.arange(len(lengths)), lengths)
        pairs, counts = np.unique(each, return_counts=True)
        sizes = np.bincount(pairs // rows, minlength=len(terms))
        return cls.of(terms, sizes, pairs % rows, counts, lengths)

    @property
    def nbytes(self) -> int:
        """What they take in memory."""
        arrays = (self.terms, self.starts, self.places, self.counts, self.lengths)
        return sum(array.nbytes for array in arrays)

    def number(self, term: str) -> int | None:
        """Which of the terms ``term`` is; None if none."""
        wanted = hash(term)
        at = int(self.terms.searchsorted(wanted))
        return at if at < len(self.terms) and self.terms[at] == wanted else None

    def matches(self, number: int, left_out: int = 0) -> Matches:
        """The rows that the n-th term stands in."""
        rows = slice(self.starts[number], self.starts[number + 1])
        return Matches(self.places[rows], self.counts[rows], left_out)

    def find(self, term: str) -> Matches | None:
        """The rows that ``term`` stands in; None if none does."""
        number = self.number(term)
        return None if number is None else self.matches(number)

    def rows_beside(self, others: Postings) -> npt.NDArray[np.uint32]:
        """In how many rows of ``others`` each of the terms stands."""
        found = np.zeros(len(self.terms), np.uint32)
        both, own, their = np.intersect1d(self.terms, others.terms, assume_unique=True, return_indices=True)
        if len(both):
            found[own] = np.diff(others.starts.astype(np.int64))[their]
        return found


class Renumbered(NamedTuple):
    """The postings of rows that get new numbers: the n-th ``numbers[n]``, or none where that is below 0."""

    postings: Postings
    numbers: npt.NDArray[np.integer]

    def cut(self, first: int, last: int | None) -> Renumbered:
        """Those of its n-th to m-th term alone."""
        own = self.postings
        starts = own.starts[first:][: None if last is None else last - first + 1]
        rows = slice(starts[0], starts[-1])
        cut = Postings(own.terms[first:last], starts - starts[0], own.places[rows], own.counts[rows], own.lengths)
        return Renumbered(cut, self.numbers)


def _narrowed(numbers: npt.NDArray[np.integer]) -> npt.NDArray[np.integer]:
    """The same in the smallest type that holds them."""
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))
