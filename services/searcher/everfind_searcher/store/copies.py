"""A fragment of a table in memory: its rows as chunks, their vectors as one matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from everfind_core.index.vector_codec import Stored
from everfind_core.model import Filters
from everfind_core.ports import StoredChunk
from everfind_searcher.store.in_memory import RescoredVectors, VectorsInMemory, transient
from everfind_searcher.store.postings import Postings

Addresses: TypeAlias = npt.NDArray[np.integer]
"""Rows by where they are: the fragment's number, then 32 bits for the place in it."""

OFFSET_BITS: Final = 32
OFFSETS: Final = (1 << 32) - 1

ROW_BYTES: Final = 350
"""What a row's objects take in memory beyond the bytes of its columns."""


@dataclass(frozen=True, slots=True)
class Copy:
    """All rows of a fragment in their order, those that were deleted since, too: older versions have them.

    ``vectors``, and ``postings`` of the rows' terms, are in the same order.
    """

    chunks: Sequence[StoredChunk]
    vectors: VectorsInMemory
    postings: Postings | None
    """None where they are not known, or were joined with others."""
    column_bytes: int
    """What all else of the rows takes as it was read."""

    @classmethod
    def of(
        cls,
        chunks: Sequence[StoredChunk],
        stored: Stored,
        postings: Postings,
        column_bytes: int,
    ) -> Copy:
        """A copy that stays; ``stored`` are zero where a row has no vector."""
        return cls(chunks, RescoredVectors.of(stored), postings, column_bytes)

    def without_postings(self) -> Copy:
        """The same rows, their postings left out."""
        return replace(self, postings=None)

    @classmethod
    def transient(cls, stored: Stored) -> Copy:
        """The vectors of some rows alone, for one question."""
        return cls((), transient(stored), None, 0)

    @property
    def size(self) -> int:
        """What it takes in memory, in bytes."""
        postings = 0 if self.postings is None else self.postings.nbytes
        return self.column_bytes + ROW_BYTES * len(self.chunks) + self.vectors.nbytes + postings


class Fragment(NamedTuple):
    """A fragment by its number, which addresses have, and the name of what lies in it, which never changes.

    Where a table is put back from a copy and goes on, numbers are given anew; names are not.
    """

    number: int
    name: str


class Version(Protocol):
    """One version of a table, as far as rows in memory need to know it. Raises errors of the tree only."""

    def __hash__(self) -> int:
        """That of this object: it equals no other."""
        ...

    def fragments(self) -> Sequence[Fragment]:
        """What it consists of."""
        ...

    def count(self, fragment: int) -> int:
        """The rows of a fragment, deleted ones too."""
        ...

    def copy(self, fragment: int) -> Copy:
        """Read a fragment into memory."""
        ...

    def counted(self) -> int | None:
        """How many rows with terms the store's BM25 counts: the live ones of its fragments, and perhaps deleted ones.

        None where it counts others, or may find some without counting them.
        """
        ...

    def rows(self, where: Filters) -> Addresses:
        """The rows that pass ``where``.

        Raises:
            InvalidRequestError: a filter is wrong.
        """
        ...
