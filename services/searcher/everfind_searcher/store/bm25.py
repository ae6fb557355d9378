"""BM25 as Lance computes it, over postings of our own: the same numbers, to the last bit.

Robertson's weights with k1 1.2 and b 0.75, an inverse document frequency that is never below zero, and a term of the
query counted once, all in single precision and added in the query's order. Which rows the statistics are of follows
from how many the store counts.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Final

import numpy as np
import numpy.typing as npt

from everfind_core.text.lexical import Need
from everfind_searcher.store.postings import Matches, Places

K1: Final = np.float32(1.2)
B: Final = np.float32(0.75)
_HALF: Final = np.float32(0.5)
_ONE: Final = np.float32(1)

_logarithm = ctypes.CDLL(None).logf
"""The C library's, as Lance has it: a last bit of it can be another than that of the rounded logarithm."""
_logarithm.argtypes = [ctypes.c_float]
_logarithm.restype = ctypes.c_float

Mask = npt.NDArray[np.bool_]

Scores = npt.NDArray[np.float32]

Find = Callable[[str], Matches | None]
"""Gives the rows of one fragment that a term stands in."""


def tokens_of(terms: Sequence[str]) -> Sequence[str]:
    """The tokens that ``terms`` are made of, each once, as texts that a store can hold."""
    texts = (term.encode("utf-8", "replace").decode() for term in terms)
    return list(dict.fromkeys(token for text in texts for token in text.split()))


class TermScorer:
    """Scores the rows of one version by one field, all fragments' rows one after another. Thread-safe."""

    def __init__(self, lengths: Sequence[npt.NDArray[np.uint32]], counted: Mask) -> None:
        """``lengths`` are the tokens of each fragment's rows; the statistics are of those rows that are ``counted``."""
        self.starts: Sequence[int] = np.cumsum([0, *map(len, lengths)]).tolist()
        everything = _joined(lengths)
        having = everything > 0
        counted = counted & having
        self._counted = None if counted.sum() == having.sum() else counted
        self._rows = np.float32(counted.sum())
        total = np.float32(everything[counted].sum())
        average = total / self._rows if self._rows else _ONE
        self._norms = K1 * (_ONE - B + B * everything.astype(np.float32) / average)

    @classmethod
    def counting(cls, rows: int | None, lengths: Sequence[npt.NDArray[np.uint32]], live: Mask) -> TermScorer | None:
        """One that counts so many rows: all that are ``live``, or deleted ones, too; None where it is neither."""
        having = _joined(lengths) > 0
        for counted in (live, np.ones_like(live)):
            if rows == (counted & having).sum():
                return cls(lengths, counted)
        return None

    def scores(self, finds: Sequence[Find], tokens: Sequence[str], passing: Mask | None) -> Scores:
        """How well each row matches ``tokens``; 0 where it does not, or is not in ``passing``, which is all where None.

        ``finds`` are of the fragments in their order.
        """
        sums = np.zeros(len(self._norms), np.float32)
        for token in tokens:
            if (found := self._gather(finds, token)) is not None:
                rows, counts, left_out = found
                weight = self._weight(rows, left_out)
                sums[rows] += weight * ((K1 + _ONE) * counts / (counts + self._norms[rows]))
        if passing is not None:
            sums *= passing
        return sums

    def meeting(self, finds: Sequence[Find], needs: Sequence[Need], passing: Mask, count: int) -> npt.NDArray[np.intp]:
        """Rows that pass and have, for each of ``needs``, all terms of one way; of more than ``count`` the best."""
        rows = None
        for having in sorted((self._needed(finds, need) for need in needs), key=len):
            rows = having if rows is None else rows[_are_in(having, rows)]
        if rows is None:
            return np.zeros(0, np.intp)
        rows = rows[passing[rows]]
        if len(rows) <= count:
            return rows
        terms = list(dict.fromkeys(term for need in needs for way in need for term in way))
        return highest(self.scores(finds, terms, self.mask(rows)), count)[0]

    def mask(self, rows: npt.NDArray[np.integer]) -> Mask:
        """True for these rows."""
        mask = np.zeros(len(self._norms), dtype=bool)
        mask[rows] = True
        return mask

    def _needed(self, finds: Sequence[Find], need: Need) -> npt.NDArray[np.intp]:
        """The rows that have all terms of a way, ascending."""
        ways = []
        for way in need:
            each = sorted((self._rows_of(finds, term) for term in way), key=len)
            ways.append(reduce(lambda rows, having: rows[_are_in(having, rows)], each))
        return ways[0] if len(ways) == 1 else np.unique(np.concatenate(ways))

    def _rows_of(self, finds: Sequence[Find], term: str) -> npt.NDArray[np.intp]:
        found = self._gather(finds, term)
        return np.zeros(0, np.intp) if found is None else found[0]

    def _gather(self, finds: Sequence[Find], token: str) -> tuple[npt.NDArray[np.intp], Scores, int] | None:
        found = [(start, one) for start, find in zip(self.starts, finds, strict=False) if (one := find(token))]
        if not found:
            return None
        rows = [_moved(one.places, start) for start, one in found]
        counts = [one.counts.astype(np.float32) for _, one in found]
        left_out = sum(one.left_out for _, one in found)
        if len(found) == 1:
            return rows[0], counts[0], left_out
        return np.concatenate(rows), np.concatenate(counts), left_out

    def _weight(self, rows: npt.NDArray[np.intp], left_out: int) -> np.float32:
        """The inverse document frequency of a term that stands in these rows, and in some that nobody looks for."""
        frequency = np.float32(len(rows) + left_out if self._counted is None else self._counted[rows].sum())
        return np.float32(_logarithm((self._rows - frequency + _HALF) / (frequency + _HALF) + _ONE))


def _moved(places: Places, start: int) -> npt.NDArray[np.intp]:
    rows = places.astype(np.intp)
    if start:
        rows += start
    return rows


def highest(sums: Scores, count: int) -> tuple[npt.NDArray[np.intp], Scores]:
    """The places of the ``count`` highest sums above zero, highest first, and those."""
    rows = np.flatnonzero(sums > 0)  # most are 0, and a partition is slow where many are equal
    scores = sums[rows]
    if count < len(rows):
        enough = scores >= np.partition(scores, len(scores) - count)[len(scores) - count]
        rows, scores = rows[enough], scores[enough]
    first = np.argsort(-scores, kind="stable")[:count]
    return rows[first], scores[first]


def _are_in(having: npt.NDArray[np.intp], rows: npt.NDArray[np.intp]) -> Mask:
    """Which of ``rows`` are among those ``having`` something, which ascend."""
    if not len(having):
        return np.zeros(len(rows), dtype=bool)
    there: Mask = having[np.minimum(np.searchsorted(having, rows), len(having) - 1)] == rows
    return there


def _joined(lengths: Sequence[npt.NDArray[np.uint32]]) -> npt.NDArray[np.uint32]:
    return np.concatenate([np.zeros(0, np.uint32), *lengths])
