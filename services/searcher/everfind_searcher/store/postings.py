"""Where the terms of a fragment's rows stand, in memory: all postings as three arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Places = npt.NDArray[np.integer]
"""Rows by where they stand in their fragment."""

Counts = npt.NDArray[np.integer]
Lengths = npt.NDArray[np.integer]
Matches = tuple[Places, Counts]
"""The rows that a term stands in, ascending, and how often it does in each."""


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
    def joined(cls, parts: Sequence[Postings]) -> Postings:
        """Those of all rows of several, one after another."""
        rows = [len(part.lengths) for part in parts]
        firsts = np.cumsum([0, *rows])
        return cls._by_hash(
            np.concatenate([part.terms for part in parts]),
            np.concatenate([np.diff(part.starts.astype(np.int64)) for part in parts]),
            np.concatenate([part.places + first for part, first in zip(parts, firsts, strict=False)]),
            np.concatenate([part.counts for part in parts]),
            np.concatenate([part.lengths for part in parts]),
        )

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

    def find(self, term: str) -> Matches | None:
        """The rows that ``term`` stands in; None if none does."""
        wanted = hash(term)
        at = int(self.terms.searchsorted(wanted))
        if at == len(self.terms) or self.terms[at] != wanted:
            return None
        rows = slice(self.starts[at], self.starts[at + 1])
        return self.places[rows], self.counts[rows]


def _narrowed(numbers: npt.NDArray[np.integer]) -> npt.NDArray[np.integer]:
    """The same in the smallest type that holds them."""
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))
