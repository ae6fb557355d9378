"""Vectors as both stores keep them: float16, which halves the disk and keeps the ranking."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from everfind_core.errors import InternalError


def checked(chunk_id: str, vector: npt.NDArray[np.floating], dimensions: int) -> npt.NDArray[np.float16]:
    """A chunk's vector, to be stored.

    Raises:
        InternalError: it has other dimensions than the table, or a number that is not finite.
    """
    if vector.shape != (dimensions,):
        raise InternalError(
            f"the vector of chunk {chunk_id} has shape {vector.shape}, the index has {dimensions} numbers"
        )
    with np.errstate(over="ignore"):
        half = vector.astype(np.float16)
    if not np.isfinite(half).all():
        raise InternalError(f"the vector of chunk {chunk_id} holds a number that is not finite")
    return half
