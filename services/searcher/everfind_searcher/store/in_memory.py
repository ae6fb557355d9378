"""Vectors in memory, as a query is compared with them: all by a first look, and those that may be near exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from everfind_core.index.vector_codec import Stored, is_int8, single
from everfind_searcher.store.postings import Places
from everfind_searcher.store.short import ROUNDING, ShortVectors

Floats: TypeAlias = npt.NDArray[np.float32]


def rounded(query: Floats) -> Floats:
    """The query in half precision, as the store itself compares."""
    return query.astype(np.float16).astype(np.float32)


@dataclass(frozen=True, slots=True)
class QueryVector:
    """The vector of a question: ``numbers`` of shape (dimensions,), what stands for them, and their norm."""

    numbers: Floats
    short: ShortVectors
    length: float

    @classmethod
    def of(cls, numbers: Floats) -> QueryVector:
        """Of what the model gave."""
        numbers = rounded(numbers)
        return cls(numbers, ShortVectors.of(numbers[None]), float(np.linalg.norm(numbers)))


class VectorsInMemory(Protocol):
    """The vectors of some rows, to compare a query with."""

    @property
    def lengths(self) -> Floats:
        """Their norms, of shape (rows,); 0 where a row has no vector."""
        ...

    @property
    def nbytes(self) -> int:
        """What they take in memory."""
        ...

    def floats(self, rows: Places) -> npt.NDArray[np.floating]:
        """Those of some rows, as they are stored."""
        ...

    def products(self, query: QueryVector, rows: Places | slice) -> Floats:
        """Of some rows with the query: times :meth:`factors` and over its length, cosines but for :meth:`doubt`."""
        ...

    def factors(self, rows: Places) -> Floats:
        """What the products of some rows, which have a vector, are to be multiplied by."""
        ...

    def doubt(self, query: QueryVector) -> float:
        """How far such a cosine can be wrong."""
        ...


def joined(parts: Sequence[npt.NDArray[np.floating]]) -> Floats:
    """What :meth:`VectorsInMemory.floats` gave, one after another, in single precision."""
    found = np.concatenate(parts)
    return single(found) if found.dtype == np.float16 else found.astype(np.float32, copy=False)


@dataclass(frozen=True, slots=True)
class ShortenedVectors:
    """Vectors of which ``short`` is the first look. ``halves`` are what is stored; None if that is ``short`` itself."""

    short: ShortVectors
    halves: npt.NDArray[np.float16] | None
    lengths: Floats

    @classmethod
    def of(cls, stored: Stored) -> ShortenedVectors:
        """Those of rows as they are stored, zero where a row has none."""
        if is_int8(stored):
            short = ShortVectors.stored(stored)
            return cls(short, None, short.lengths())
        matrix = stored.astype(np.float32)
        return cls(ShortVectors.of(matrix), stored.astype(np.float16), np.linalg.norm(matrix, axis=1))

    @property
    def nbytes(self) -> int:
        """What they take in memory."""
        return self.short.nbytes + self.lengths.nbytes + (0 if self.halves is None else self.halves.nbytes)

    def floats(self, rows: Places) -> npt.NDArray[np.floating]:
        """Those of some rows, as they are stored."""
        return self.short.floats(rows) if self.halves is None else self.halves[rows]

    def products(self, query: QueryVector, rows: Places | slice) -> Floats:
        """By whole numbers."""
        found: Floats = self.short.products(query.short, rows) * query.short.scales[0]
        return found

    def factors(self, rows: Places) -> Floats:
        """The rows' scales over their lengths."""
        return self.short.scales[rows] / self.lengths[rows]

    def doubt(self, query: QueryVector) -> float:
        """What shortening took away."""
        return self.short.doubt(query.short)


@dataclass(frozen=True, slots=True)
class WideVectors:
    """Vectors in single precision, which are compared as they are."""

    matrix: Floats
    lengths: Floats

    @classmethod
    def of(cls, stored: Stored) -> WideVectors:
        """Those of rows as they are stored, zero where a row has none."""
        matrix = stored.astype(np.float32)
        return cls(matrix, np.linalg.norm(matrix, axis=1))

    @property
    def nbytes(self) -> int:
        """What they take in memory."""
        return self.matrix.nbytes + self.lengths.nbytes

    def floats(self, rows: Places) -> npt.NDArray[np.floating]:
        """Those of some rows."""
        return self.matrix[rows]

    def products(self, query: QueryVector, rows: Places | slice) -> Floats:
        """By ``einsum``, which keeps to this thread, unlike BLAS, whose threads know of no CPU quota and wait."""
        found: Floats = np.einsum("ij,j->i", self.matrix[rows], query.numbers)
        return found

    def factors(self, rows: Places) -> Floats:
        """One over the rows' lengths."""
        return np.float32(1) / self.lengths[rows]

    def doubt(self, query: QueryVector) -> float:  # noqa: ARG002 - whatever the query
        """What single precision can add."""
        return ROUNDING


def transient(stored: Stored) -> VectorsInMemory:
    """Rows as they are stored, for one question: to shorten halves costs more than to compare them."""
    return ShortenedVectors.of(stored) if is_int8(stored) else WideVectors.of(stored)
