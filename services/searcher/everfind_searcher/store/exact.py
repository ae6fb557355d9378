"""The semantic arm over vectors in memory: the cosine of every row that matches, and the best of them. Exact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from everfind_core.errors import InvalidRequestError
from everfind_searcher.store.copies import Addresses, Copy, Places
from everfind_searcher.store.short import ROUNDING, ShortVectors


@dataclass(frozen=True, slots=True)
class Selection:
    """Rows of one copy that match; each has a vector. ``scales`` make cosines of the products with a query."""

    copy: Copy
    addresses: Addresses
    places: Places
    scales: npt.NDArray[np.float32]

    @classmethod
    def of(cls, copy: Copy, addresses: Addresses, places: Places) -> Selection:
        """Those of the rows that have a vector."""
        there = copy.lengths[places] > 0
        places = places[there]
        scales = np.float32(1) if copy.short is None else copy.short.scales[places]
        return cls(copy, addresses[there], places, scales / copy.lengths[places])

    def likeness(self, query: npt.NDArray[np.float32], short: ShortVectors) -> npt.NDArray[np.float32]:
        """What the rows' cosines are in proportion to, but for :meth:`doubt`; ``short`` is the query shortened.

        ``einsum`` keeps to this thread, unlike BLAS, whose threads know of no CPU quota and wait for each other.
        """
        found: npt.NDArray[np.float32]
        if self.copy.short is None:
            found = np.einsum("ij,j->i", self.copy.vectors, query)[self.places] * self.scales
        else:
            found = self.copy.short.products(short)[self.places] * (self.scales * short.scales[0])
        return found

    def doubt(self, short: ShortVectors) -> float:
        """How far a likeness can be wrong, as a share of the query's length."""
        return ROUNDING if self.copy.short is None else self.copy.short.doubt(short)


class Nearest:
    """What of some rows is nearest to one query.

    All are compared by their shortened vectors, and those that may be among the nearest then by their own.
    """

    def __init__(self, selections: Sequence[Selection], query: npt.NDArray[np.float32]) -> None:
        """Compare the query with all rows."""
        self._selections = selections
        self._query = rounded(query)
        short = ShortVectors.of(self._query[None])
        none = np.zeros(0, np.float32)
        self._likeness = np.concatenate([none, *(one.likeness(self._query, short) for one in selections)])
        doubt = max((one.doubt(short) for one in selections), default=0.0)
        self._doubt = doubt * float(np.linalg.norm(self._query))
        self._starts = np.cumsum([0, *(len(one.places) for one in selections)])

    def best(self, count: int) -> tuple[Addresses, npt.NDArray[np.float32]]:
        """The ``count`` nearest rows, nearest first, and their cosines."""
        rows = self._possible(count)
        borders = np.searchsorted(rows, self._starts)
        parts = [
            (one, rows[start:end] - first)
            for one, first, start, end in zip(self._selections, self._starts, borders, borders[1:], strict=False)
        ]
        addresses = np.concatenate([np.zeros(0, np.uint64), *(one.addresses[which] for one, which in parts)])
        none = np.zeros((0, len(self._query)), np.float32)
        stored = np.concatenate([none, *(one.copy.vectors[one.places[which]] for one, which in parts)])
        return nearest(addresses, cosines(stored, self._query), count)

    def _possible(self, count: int) -> npt.NDArray[np.intp]:
        """Rows that may be among the ``count`` nearest, and with certainty all of those."""
        rows = len(self._likeness)
        if count >= rows:
            return np.arange(rows)
        least = np.partition(self._likeness, rows - count)[rows - count]
        return np.flatnonzero(self._likeness >= least - 2 * self._doubt)


def asked_vector(vector: npt.NDArray[np.float32], dimensions: int) -> npt.NDArray[np.float32]:
    """The vector of a question to rows with so many numbers.

    Raises:
        InvalidRequestError: it has other dimensions, or is not finite.
    """
    query = np.asarray(vector, dtype=np.float32)
    if not np.isfinite(query).all():
        raise InvalidRequestError.of("vector", "holds a number that is not finite")
    if query.shape != (dimensions,):
        raise InvalidRequestError.of("vector", f"has shape {query.shape}, the index has {dimensions} numbers")
    return query


def rounded(query: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The query in the column's precision, as the store itself compares."""
    return query.astype(np.float16).astype(np.float32)


def cosines(stored: npt.NDArray[np.float32], query: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The cosine of each row with the query; equal rows get equal cosines wherever they lie."""
    lengths = np.linalg.norm(stored, axis=1) * np.linalg.norm(query)
    products = (stored * query).sum(axis=1)
    found: npt.NDArray[np.float32] = np.divide(products, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return found


def nearest(
    addresses: Addresses, scores: npt.NDArray[np.float32], count: int
) -> tuple[Addresses, npt.NDArray[np.float32]]:
    """The ``count`` rows with the highest scores, highest first."""
    first = np.argsort(-scores, kind="stable")[:count]
    return addresses[first], scores[first]
