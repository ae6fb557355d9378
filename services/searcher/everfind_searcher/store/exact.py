"""The semantic arm over vectors in memory: the cosine of every row that matches, and the best of them. Exact."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from everfind_core.errors import InvalidRequestError
from everfind_searcher.store.best import Rows, Scored
from everfind_searcher.store.copies import Copy
from everfind_searcher.store.in_memory import QueryVector, joined
from everfind_searcher.store.parallel import in_parallel
from everfind_searcher.store.postings import Places
from everfind_searcher.store.quantized import ROUNDING

_ROWS_AT_ONCE: Final = 16_384
_FAR_APART: Final = 4
"""Rows that are so far apart are compared alone, without those between them."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Rows of one copy that match; each has a vector.

    ``rows`` are their numbers to whoever asks, ``places`` those in the copy, ascending, None for all of it. ``factors``
    make cosines of the products with a query.
    """

    copy: Copy
    rows: Rows
    places: Places | None
    factors: npt.NDArray[np.float32]

    @classmethod
    def of(cls, copy: Copy, rows: Rows, places: Places) -> Selection:
        """Those of the rows that have a vector."""
        lengths = copy.vectors.lengths
        there = lengths[places] > 0
        places = places[there]
        every = np.array_equal(places, np.arange(len(lengths)))
        return cls(copy, rows[there], None if every else places, copy.vectors.factors(places))

    @property
    def nbytes(self) -> int:
        """What it takes in memory beside the copy."""
        return self.rows.nbytes + self.factors.nbytes + (0 if self.places is None else self.places.nbytes)

    def at(self, which: Rows) -> Rows:
        """The places in the copy of some of the rows."""
        return which if self.places is None else self.places[which]

    def likeness(self, query: QueryVector, part: slice) -> npt.NDArray[np.float32]:
        """What the cosines of a part of the rows are in proportion to, but for the doubt in their vectors."""
        return self._products(query, part) * self.factors[part]

    def _products(self, query: QueryVector, part: slice) -> npt.NDArray[np.float32]:
        vectors = self.copy.vectors
        if self.places is None:
            return vectors.products(query, part)
        places = self.places[part]
        first, last = int(places[0]), int(places[-1])
        if last - first > _FAR_APART * len(places):
            return vectors.products(query, places)
        return vectors.products(query, slice(first, last + 1))[places - first]


class Nearest:
    """What of some rows is nearest to one query.

    All are compared by their quantized vectors, the likely ones rescored by their own, and then the few others that may
    be as near as those.
    """

    def __init__(self, selections: Sequence[Selection], query: npt.NDArray[np.float32]) -> None:
        """Compare the query with all rows."""
        self._selections = selections
        self._query = QueryVector.of(query)
        self._doubt = max((one.copy.vectors.doubt(self._query) for one in selections), default=0.0) + ROUNDING
        self._starts: Sequence[int] = np.cumsum([0, *(len(one.rows) for one in selections)]).tolist()
        self._likeness = np.empty(self._starts[-1], np.float32)
        in_parallel(self._compare, self._parts())

    def _parts(self) -> Iterator[tuple[int, slice]]:
        """The selections by their numbers, each in parts."""
        for number, one in enumerate(self._selections):
            for first in range(0, len(one.rows), _ROWS_AT_ONCE):
                yield number, slice(first, min(first + _ROWS_AT_ONCE, len(one.rows)))

    def _compare(self, what: tuple[int, slice]) -> None:
        number, part = what
        start = self._starts[number]
        found = self._selections[number].likeness(self._query, part)
        self._likeness[start + part.start : start + part.stop] = found

    def best(self, count: int) -> Scored:
        """The ``count`` nearest rows, nearest first, and their cosines."""
        least = _last_of_highest(self._likeness, count)
        likely = np.flatnonzero(self._likeness >= least)
        found = self._cosines(likely)
        enough = (_last_of_highest(found, count) - self._doubt) * self._query.length
        others = np.flatnonzero((self._likeness >= enough) & (self._likeness < least))
        compared = np.concatenate([likely, others])
        chosen, scores = nearest(compared, np.concatenate([found, self._cosines(others)]), count)
        return self._numbers(chosen), scores

    def _cosines(self, chosen: Rows) -> npt.NDArray[np.float32]:
        if not len(chosen):
            return np.zeros(0, np.float32)
        parts = [(one.copy.vectors, one.at(own)) for one, _, own in self._by_selection(chosen)]
        lengths = np.concatenate([vectors.lengths[places] for vectors, places in parts])
        return cosines(joined([vectors.floats(places) for vectors, places in parts]), lengths, self._query.numbers)

    def _numbers(self, chosen: Rows) -> Rows:
        numbers: Rows = np.zeros(len(chosen), np.uint64)
        ascending = np.argsort(chosen)
        for one, where, own in self._by_selection(chosen[ascending]):
            numbers[ascending[where]] = one.rows[own]
        return numbers

    def _by_selection(self, chosen: Rows) -> Iterator[tuple[Selection, slice, Rows]]:
        """Those of ``chosen``, which ascend, that are of one selection: where, and their numbers in it."""
        borders = np.searchsorted(chosen, self._starts).tolist()
        for one, start, first, last in zip(self._selections, self._starts, borders, borders[1:], strict=False):
            if first < last:
                yield one, slice(first, last), chosen[first:last] - start


def nearest_of_parts(parts: Iterable[Selection], query: npt.NDArray[np.float32], count: int) -> Scored:
    """The ``count`` nearest of rows that are in memory one part after another, and their cosines."""
    found = [Nearest([part], query).best(count) for part in parts]
    none = np.zeros(0, np.uint64), np.zeros(0, np.float32)
    rows, scores = (np.concatenate(arrays) for arrays in zip(none, *found, strict=True))
    return nearest(rows, scores, count)


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


def cosines(
    stored: npt.NDArray[np.float32], lengths: npt.NDArray[np.float32], query: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """The cosine of each row, of these lengths, with the query; equal rows get equal cosines wherever they lie."""
    both = lengths * np.linalg.norm(query)
    products = (stored * query).sum(axis=1)
    found: npt.NDArray[np.float32] = np.divide(products, both, out=np.zeros_like(both), where=both > 0)
    return found


def nearest(rows: Rows, scores: npt.NDArray[np.float32], count: int) -> Scored:
    """The ``count`` rows with the highest scores, highest first."""
    first = np.argsort(-scores, kind="stable")[:count]
    return rows[first], scores[first]


def _last_of_highest(numbers: npt.NDArray[np.float32], count: int) -> float:
    """The lowest of the ``count`` highest numbers; below all where there are fewer."""
    last = len(numbers) - count
    return float(np.partition(numbers, last)[last]) if last >= 0 else -np.inf
