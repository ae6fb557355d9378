"""Vectors in memory, as a query is compared with them: all quantized, and those that may be near exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from everfind_core.index.vector_codec import Stored, is_int8, single
from everfind_searcher.store.postings import Places
from everfind_searcher.store.quantized import ROUNDING, QuantizedVectors

Floats: TypeAlias = npt.NDArray[np.float32]


def rounded(query: Floats) -> Floats:
    """The query in half precision, as the store itself compares."""
    return query.astype(np.float16).astype(np.float32)


@dataclass(frozen=True, slots=True)
class QueryVector:
    """The vector of a question: ``numbers`` of shape (dimensions,), what stands for them, and their norm."""

    numbers: Floats
    quantized: QuantizedVectors
    length: float

    @classmethod
    def of(cls, numbers: Floats) -> QueryVector:
        """Of what the model gave."""
        numbers = rounded(numbers)
        return cls(numbers, QuantizedVectors.of(numbers[None]), float(np.linalg.norm(numbers)))


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
class RescoredVectors:
    """Vectors that are compared ``quantized`` first; those that may be near are rescored as they are stored.

    ``halves`` are what is stored; None if that is ``quantized`` itself.
    """

    quantized: QuantizedVectors
    halves: npt.NDArray[np.float16] | None
    lengths: Floats

    @classmethod
    def of(cls, stored: Stored) -> RescoredVectors:
        """Those of rows as they are stored, zero where a row has none."""
        if is_int8(stored):
            quantized = QuantizedVectors.stored(stored)
            return cls(quantized, None, quantized.lengths())
        matrix = stored.astype(np.float32)
        return cls(QuantizedVectors.of(matrix), stored.astype(np.float16), np.linalg.norm(matrix, axis=1))

    @property
    def nbytes(self) -> int:
        """What they take in memory."""
        return self.quantized.nbytes + self.lengths.nbytes + (0 if self.halves is None else self.halves.nbytes)

    def floats(self, rows: Places) -> npt.NDArray[np.floating]:
        """Those of some rows, as they are stored."""
        return self.quantized.floats(rows) if self.halves is None else self.halves[rows]

    def products(self, query: QueryVector, rows: Places | slice) -> Floats:
        """By whole numbers."""
        found: Floats = self.quantized.products(query.quantized, rows) * query.quantized.scales[0]
        return found

    def factors(self, rows: Places) -> Floats:
        """The rows' scales over their lengths."""
        return self.quantized.scales[rows] / self.lengths[rows]

    def doubt(self, query: QueryVector) -> float:
        """What quantizing took away."""
        return self.quantized.doubt(query.quantized)


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
    """Rows as they are stored, for one question: to quantize halves costs more than to compare them."""
    return RescoredVectors.of(stored) if is_int8(stored) else WideVectors.of(stored)
