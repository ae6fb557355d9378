"""The semantic arm over vectors in memory: the cosine of every row that matches, and the best of them. Exact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from everfind_searcher.store.copies import Addresses, Copy, Places

_SPARE: Final = 64
"""Rows compared once more beyond those wanted: any of nearly equal ones may be the nearer by the last digits."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Rows of one copy that match; each has a vector."""

    copy: Copy
    addresses: Addresses
    places: Places

    @classmethod
    def of(cls, copy: Copy, addresses: Addresses, places: Places) -> Selection:
        """Those of the rows that have a vector."""
        there = copy.lengths[places] > 0
        return cls(copy, addresses[there], places[there])

    def likeness(self, query: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """What the rows' cosines are in proportion to, but for the last digits.

        ``einsum`` keeps to this thread, unlike BLAS, whose threads know of no CPU quota and wait for each other.
        """
        products: npt.NDArray[np.float32] = np.einsum("ij,j->i", self.copy.vectors, query)
        found: npt.NDArray[np.float32] = products[self.places] / self.copy.lengths[self.places]
        return found


class Nearest:
    """What of some rows is nearest to one query."""

    def __init__(self, selections: Sequence[Selection], query: npt.NDArray[np.float32]) -> None:
        """Compare the query with all rows."""
        self._selections = selections
        self._query = rounded(query)
        none = np.zeros(0, np.float32)
        self._likeness = np.concatenate([none, *(one.likeness(self._query) for one in selections)])
        self._starts = np.cumsum([0, *(len(one.places) for one in selections)])

    def best(self, count: int) -> tuple[Addresses, npt.NDArray[np.float32]]:
        """The ``count`` nearest rows, nearest first, and their cosines."""
        some = count + _SPARE
        rows = np.arange(len(self._likeness))
        if some < len(rows):
            rows = np.sort(np.argpartition(-self._likeness, some)[:some])
        borders = np.searchsorted(rows, self._starts)
        parts = [
            (one, rows[start:end] - first)
            for one, first, start, end in zip(self._selections, self._starts, borders, borders[1:], strict=False)
        ]
        addresses = np.concatenate([np.zeros(0, np.uint64), *(one.addresses[which] for one, which in parts)])
        none = np.zeros((0, len(self._query)), np.float32)
        stored = np.concatenate([none, *(one.copy.vectors[one.places[which]] for one, which in parts)])
        return nearest(addresses, cosines(stored, self._query), count)


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
