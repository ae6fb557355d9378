"""The best rows of an arm: by score, and those of equal score by where they stand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from everfind_core.model import Vector, Vectors
from everfind_core.ports import ScoredChunk, StoredChunk

_SPARE: Final = 16
"""Rows found beyond the limit, so that rows of equal score are cut by name and not by chance."""

_MOST: Final = 4_096
"""Rows that are found at most where more of equal score stand at the limit."""

Rows: TypeAlias = npt.NDArray[np.integer]
"""Rows by their numbers, whatever whoever reads them counts by."""

Scored: TypeAlias = tuple[Rows, npt.NDArray[np.float32]]
"""Rows, best first, and their scores."""


def best(
    find: Callable[[int], Scored],
    read: Callable[[Rows], Sequence[StoredChunk]],
    limit: int,
    vectors: Callable[[Rows], Vectors] | None = None,
) -> Sequence[ScoredChunk]:
    """The first ``limit`` rows by score, then by folder, path and line.

    ``find`` gives so many of the best rows as it is asked for, ``read`` what stands in them, ``vectors`` their vectors,
    of which it is asked when one is looked at.
    """
    count = limit + _SPARE
    rows, scores = find(count)
    while len(scores) == count < _MOST and scores[-1] == scores[limit - 1]:
        count = min(4 * count, _MOST)
        rows, scores = find(count)
    if (scores[1:] < scores[:-1]).all():  # most often: nothing is left to order
        rows = rows[:limit]
        chunks = read(rows)
    else:
        chunks = read(rows)
        first = sorted(range(len(rows)), key=list(map(_place, scores.tolist(), chunks)).__getitem__)[:limit]
        rows, scores, chunks = rows[first], scores[first], [chunks[place] for place in first]
    readers = (None,) * len(rows) if vectors is None else _Later(vectors, rows).each()
    return list(map(ScoredChunk, chunks, scores.tolist(), readers))


def in_order(found: Sequence[ScoredChunk]) -> list[ScoredChunk]:
    """By score, then by folder, path and line."""
    return sorted(found, key=lambda one: _place(one.score, one.chunk))


def _place(score: float, chunk: StoredChunk) -> tuple[float, str, str, int, int]:
    """What it comes by; the file's name in parts, which Python compares without a call of ours."""
    return -score, chunk.ref.folder, chunk.ref.path, chunk.start_line, chunk.ordinal


class _Later:
    """The vectors of rows, read together when the first is looked at."""

    def __init__(self, read: Callable[[Rows], Vectors], rows: Rows) -> None:
        self._read = read
        self._rows = rows

    def each(self) -> list[Callable[[], Vector]]:
        """What reads the vector of each row, of shape (dimensions,)."""
        return [partial(self._of, place) for place in range(len(self._rows))]

    @cached_property
    def _all(self) -> Vectors:
        return self._read(self._rows)

    def _of(self, place: int) -> Vector:
        vector: Vector = self._all[place]
        return vector
