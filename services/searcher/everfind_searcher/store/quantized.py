"""Vectors quantized to eight bits a number: what all rows are compared by first, and how far that can be wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import simsimd

from everfind_core.index.vector_codec import Int8Vectors, Stored

ROUNDING: Final = 1e-5
"""What single precision can add to an error, of vectors of length 1."""


@dataclass(frozen=True, slots=True)
class QuantizedVectors:
    """Rows of a matrix, each as whole numbers times a scale of its own.

    ``numbers`` int8 of shape (rows, dimensions), ``scales`` float32 of shape (rows,): 0 where a row is zero. ``error``
    is the longest difference between a row and what stands for it, as a share of the row's length.
    """

    numbers: npt.NDArray[np.int8]
    scales: npt.NDArray[np.float32]
    error: float

    @classmethod
    def of(cls, matrix: npt.NDArray[np.float32]) -> QuantizedVectors:
        """Those of ``matrix``, of shape (rows, dimensions), whose numbers are of half precision."""
        whole = Int8Vectors.of(matrix)
        differences = np.linalg.norm(matrix - whole.floats(), axis=1)
        lengths = np.linalg.norm(matrix, axis=1)
        shares = differences[lengths > 0] / lengths[lengths > 0]
        return cls(whole.numbers, whole.scales, float(shares.max(initial=0.0)) + ROUNDING)

    @classmethod
    def stored(cls, stored: Stored) -> QuantizedVectors:
        """Those that a store has in eight bits: they stand for nothing but themselves."""
        whole = Int8Vectors.unpacked(stored)
        return cls(whole.numbers, whole.scales, ROUNDING)

    @property
    def nbytes(self) -> int:
        """What they take in memory."""
        return self.numbers.nbytes + self.scales.nbytes

    def lengths(self) -> npt.NDArray[np.float32]:
        """The norm of each row as it stands here."""
        squares = np.einsum("ij,ij->i", self.numbers, self.numbers, dtype=np.int64)
        lengths: npt.NDArray[np.float32] = self.scales * np.sqrt(squares).astype(np.float32)
        return lengths

    def floats(self, rows: npt.NDArray[np.integer] | slice) -> npt.NDArray[np.float32]:
        """Some rows as they stand here."""
        return self.numbers[rows] * self.scales[rows][:, None]

    def products(self, query: QuantizedVectors, rows: npt.NDArray[np.integer] | slice) -> npt.NDArray[np.float32]:
        """The dot product of some rows' whole numbers with those of ``query``, which is one row.

        Times both scales it is the rows' own product, but for :meth:`doubt`.
        """
        found = simsimd.cdist(query.numbers, self.numbers[rows], "dot", out_dtype="float32")
        products: npt.NDArray[np.float32] = np.asarray(found)[0]
        return products

    def doubt(self, query: QuantizedVectors) -> float:
        """How far a product can be wrong, as a share of both lengths."""
        return query.error + self.error * (1 + query.error) + ROUNDING
