"""A fragment of the table in memory: its rows as chunks, their vectors as one matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from everfind_core.ports import StoredChunk
from everfind_core.store_schema import HIT_COLUMNS, VECTOR
from everfind_searcher.store.rows import chunks, vectors

if TYPE_CHECKING:
    import lance
    from lance.fragment import LanceFragment

Addresses: TypeAlias = npt.NDArray[np.uint64]
"""Rows by where they are: the fragment's number, then 32 bits for the place in it."""

Places: TypeAlias = npt.NDArray[np.int32]
"""Rows by where they stand in a copy."""

OFFSET_BITS: Final = 32
OFFSETS: Final = (1 << 32) - 1
ABSENT: Final = -1

_ADDRESS: Final = "_rowaddr"
_ROW_BYTES: Final = 350
"""What a row's objects take in memory beyond the bytes of its columns."""


@dataclass(frozen=True, slots=True)
class Copy:
    """A fragment's rows, but for those deleted by then.

    ``places`` says which row stands at an offset of the fragment, ``ABSENT`` where none does. ``vectors`` has shape
    (rows, dimensions), with the column's numbers; ``lengths`` are their norms, 0 where a row has no vector.
    """

    places: Places
    chunks: Sequence[StoredChunk]
    vectors: npt.NDArray[np.float32]
    lengths: npt.NDArray[np.float32]
    size: int
    """In bytes."""

    def at(self, addresses: Addresses) -> Places:
        """The places of rows of this fragment."""
        places: Places = self.places[addresses & np.uint64(OFFSETS)]
        return places


def read_copy(fragment: LanceFragment) -> Copy:
    """Read a fragment into memory."""
    rows = fragment.scanner(columns=[*HIT_COLUMNS, VECTOR], with_row_address=True).to_table().combine_chunks()
    places = np.full(fragment.physical_rows, ABSENT, dtype=np.int32)
    places[rows[_ADDRESS].to_numpy() & np.uint64(OFFSETS)] = np.arange(rows.num_rows, dtype=np.int32)
    matrix = vectors(rows).astype(np.float32)
    matrix[rows[VECTOR].is_null().to_numpy(zero_copy_only=False)] = 0
    columns = rows.select(HIT_COLUMNS)
    size = columns.nbytes + _ROW_BYTES * rows.num_rows + matrix.nbytes + 4 * rows.num_rows + places.nbytes
    return Copy(places, chunks(columns), matrix, np.linalg.norm(matrix, axis=1), size)


def rows_of(dataset: lance.LanceDataset, condition: str | None) -> Addresses:
    """The rows of a version that meet ``condition``."""
    found = dataset.scanner(columns=[], filter=condition, with_row_address=True).to_table()
    addresses: Addresses = found[_ADDRESS].to_numpy()
    return addresses
