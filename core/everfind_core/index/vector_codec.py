"""How a vector lies in a store: in half precision, or as whole numbers of eight bits with its peak beside them.

Nothing else knows the layout. A stored vector is a row of numbers of one kind. ``half``: float16, one a dimension.
``int8``: int8, one a dimension, and two more that are the bytes of the vector's peak, the largest magnitude in it, as
float16; a number n stands for n * peak / 127, and is wrong by half of peak / 127 at most.

Eight bits are made of the half precision. So they are the same whether a vector comes from the model or from where it
was kept in half precision, and a vector that was stored, read and stored again is what it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from everfind_core.index.vector_types import VectorType

Stored: TypeAlias = npt.NDArray[np.float16] | npt.NDArray[np.int8]
"""Vectors as they are stored: the last axis has the numbers of one."""

_MOST: Final = 127
_HALF: Final = np.dtype("<f2")
_INT8: Final = np.dtype("i1")
_SIGN: Final = 1 << 15
_EXPONENTS_APART: Final = np.float32(2.0 ** (127 - 15))


@dataclass(frozen=True, slots=True)
class VectorCodec:
    """Vectors of ``dimensions`` numbers, and what is stored of them."""

    kind: VectorType
    dimensions: int

    @classmethod
    def of_bits(cls, bits: int, dimensions: int) -> VectorCodec:
        """The one whose stored numbers have so many bits.

        Raises:
            KeyError: none has.
        """
        return cls({16: VectorType.HALF, 8: VectorType.INT8}[bits], dimensions)

    @classmethod
    def of_stored(cls, dtype: np.dtype, width: int) -> VectorCodec | None:
        """The one whose stored vectors have ``width`` numbers of this kind; None if none has."""
        if dtype not in (_HALF, _INT8):
            return None
        alone = cls.of_bits(8 * dtype.itemsize, 0)
        return cls(alone.kind, width - alone.width) if width > alone.width else None

    @property
    def dtype(self) -> np.dtype:
        """The kind of a stored number."""
        return _HALF if self.kind is VectorType.HALF else _INT8

    @property
    def bits(self) -> int:
        """Of a stored number."""
        return 8 * self.dtype.itemsize

    @property
    def width(self) -> int:
        """How many of them stand for a vector."""
        return self.dimensions + (0 if self.kind is VectorType.HALF else _HALF.itemsize)

    def encode(self, vector: npt.NDArray[np.floating]) -> Stored:
        """A vector as it is stored, of shape (width,). Zeros stay zeros.

        Raises:
            ValueError: it has other dimensions, or a number that is not finite in half precision.
        """
        if vector.shape != (self.dimensions,):
            raise ValueError(f"has shape {vector.shape}, the index has {self.dimensions} numbers")
        with np.errstate(over="ignore"):
            half = vector.astype(_HALF)
        if not np.isfinite(half).all():
            raise ValueError("holds a number that is not finite")
        return half if self.kind is VectorType.HALF else Int8Vectors.of(half[None]).packed()[0]

    def from_bytes(self, data: bytes) -> Stored:
        """The bytes of any number of encoded vectors, one after another, as them: of shape (rows, width)."""
        return np.frombuffer(data, self.dtype).reshape(-1, self.width)


def is_int8(stored: Stored) -> bool:
    """Whether vectors are stored in eight bits a number."""
    return stored.dtype == _INT8


def decoded(stored: Stored) -> npt.NDArray[np.floating]:
    """Stored vectors, of shape (rows, width), as numbers to compute with: of shape (rows, dimensions)."""
    return Int8Vectors.unpacked(stored).floats() if is_int8(stored) else stored.astype(np.float16, copy=False)


def single(halves: npt.NDArray[np.float16]) -> npt.NDArray[np.float32]:
    """Finite numbers of half precision in single, the same ones: by their bits, for a third of what numpy takes.

    Five bits of exponent, which count from -15, become eight, which count from -127.
    """
    bits = halves.view(np.uint16).astype(np.uint32)
    signs = (bits & _SIGN) << 16
    bits &= _SIGN - 1
    bits <<= 13
    bits |= signs
    numbers = bits.view(np.float32)
    numbers *= _EXPONENTS_APART
    return numbers


@dataclass(frozen=True, slots=True)
class Int8Vectors:
    """Vectors as whole numbers: ``numbers`` int8 of shape (rows, dimensions), ``peaks`` float16 of shape (rows,)."""

    numbers: npt.NDArray[np.int8]
    peaks: npt.NDArray[np.float16]

    @classmethod
    def of(cls, vectors: npt.NDArray[np.floating]) -> Int8Vectors:
        """Those nearest to ``vectors``, of shape (rows, dimensions), whose numbers are of half precision."""
        peaks = np.abs(vectors).max(axis=1, initial=0).astype(_HALF)
        scales = _scales(peaks)
        divisors = np.where(scales > 0, scales, np.float32(1))[:, None]
        return cls(np.rint(vectors / divisors).astype(_INT8), peaks)

    @classmethod
    def unpacked(cls, stored: Stored) -> Int8Vectors:
        """Of what :meth:`packed` gave."""
        last = stored.shape[1] - _HALF.itemsize
        peaks = np.ascontiguousarray(stored[:, last:]).view(_HALF)[:, 0]
        return cls(np.ascontiguousarray(stored[:, :last]).view(_INT8), peaks)

    def packed(self) -> npt.NDArray[np.int8]:
        """As they are stored, of shape (rows, dimensions + 2)."""
        return np.hstack([self.numbers, self.peaks[:, None].view(_INT8)])

    @property
    def scales(self) -> npt.NDArray[np.float32]:
        """What a row's numbers are to be multiplied by; 0 where the row is zero."""
        return _scales(self.peaks)

    def floats(self) -> npt.NDArray[np.float32]:
        """The vectors that they stand for."""
        return self.numbers * self.scales[:, None]


def _scales(peaks: npt.NDArray[np.float16]) -> npt.NDArray[np.float32]:
    return peaks.astype(np.float32) / np.float32(_MOST)
