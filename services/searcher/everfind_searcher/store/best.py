"""The best rows of an arm: by score, and those of equal score by where they stand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from everfind_core.model import FileRef
from everfind_core.ports import ScoredChunk, StoredChunk

_SPARE: Final = 16
"""Rows found beyond the limit, so that rows of equal score are cut by name and not by chance."""

_MOST: Final = 4_096
"""Rows that are found at most where more of equal score stand at the limit."""

Rows: TypeAlias = npt.NDArray[np.integer]
"""Rows by their numbers, whatever whoever reads them counts by."""

Scored: TypeAlias = tuple[Rows, npt.NDArray[np.float32]]
"""Rows, best first, and their scores."""


Vectors: TypeAlias = npt.NDArray[np.float32]
"""Those of rows, of shape (rows, dimensions)."""


def best(
    find: Callable[[int], Scored],
    read: Callable[[Rows], Sequence[StoredChunk]],
    limit: int,
    vectors: Callable[[Rows], Vectors] | None = None,
) -> Sequence[ScoredChunk]:
    """The first ``limit`` rows by score, then by folder, path and line.

    ``find`` gives so many of the best rows as it is asked for, ``read`` what stands in them, ``vectors`` their vectors.
    """
    count = limit + _SPARE
    rows, scores = find(count)
    while len(scores) == count < _MOST and scores[-1] == scores[limit - 1]:
        count = min(4 * count, _MOST)
        rows, scores = find(count)
    ordered = (scores[1:] < scores[:-1]).all()  # most often: nothing is left to order
    if ordered:
        rows, scores = rows[:limit], scores[:limit]
    with_vectors = (None,) * len(rows) if vectors is None else vectors(rows)
    found = list(map(ScoredChunk, read(rows), scores.tolist(), with_vectors))
    return found if ordered else sorted(found, key=_order)[:limit]


def _order(found: ScoredChunk) -> tuple[float, FileRef, int, int]:
    return (-found.score, found.chunk.ref, found.chunk.start_line, found.chunk.ordinal)
