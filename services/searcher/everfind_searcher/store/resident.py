"""Rows held in memory: the part of the table that answers are made of, read once and not once a query.

The unit is a fragment, because a fragment's data never changes: a commit masks rows and adds fragments, a compaction
puts new fragments in place of old ones, and numbers are not given twice. So a row in memory equals the row in the
store for as long as a version has it, and keeping up with a new version means to read the fragments that are new and
to let go of those that are gone. Which rows a version has, and which of them match, is always asked of the store.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import lance
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from everfind_core.store_errors import LIBRARY_ERRORS
from everfind_core.store_schema import HIT_COLUMNS, VECTOR

if TYPE_CHECKING:
    from lance.fragment import LanceFragment

Addresses: TypeAlias = npt.NDArray[np.uint64]
"""Rows by where they are: the fragment's number, then 32 bits for the place in it."""

RESIDENT_BYTES: Final = 256 << 20
"""What rows in memory may take; fragments beyond it are read from the store, query by query."""

RESIDENT_COLUMNS: Final = (*HIT_COLUMNS, VECTOR)

_ADDRESS: Final = "_rowaddr"
_OFFSET_BITS: Final = np.uint64(32)
_OFFSETS: Final = np.uint64((1 << 32) - 1)
_ABSENT: Final = -1


@dataclass(frozen=True, slots=True)
class _Copy:
    """A fragment's rows, but for those deleted by then; ``places`` says which row stands at an offset."""

    places: npt.NDArray[np.int32]
    rows: pa.Table

    @property
    def size(self) -> int:
        """In bytes."""
        return int(self.rows.nbytes) + self.places.nbytes


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the rows asked for: which ones, and their columns."""

    positions: npt.NDArray[np.intp]
    rows: pa.Table


class ResidentRows:
    """The rows of one table that are in memory, at most ``limit`` bytes of them. Thread-safe."""

    def __init__(self, limit: int = RESIDENT_BYTES) -> None:
        self._limit = limit
        self._guard = threading.Lock()
        self._asked = False
        self._settled = False
        self._newest: lance.LanceDataset | None = None
        self._loader = ThreadPoolExecutor(1, thread_name_prefix="resident-rows")
        self._copies: Mapping[int, _Copy] = {}

    @property
    def size(self) -> int:
        """Bytes that the rows take."""
        return sum(copy.size for copy in self._copies.values())

    def follow(self, dataset: lance.LanceDataset) -> None:
        """Keep up with this version, in the background.

        Only from the second call on: a process that asks once and ends shall not read a whole table for it.
        """
        with self._guard:
            if self._asked and dataset is not self._newest:
                self._newest = dataset
                self._loader.submit(self._load_newest)
            self._asked = True

    def _load_newest(self) -> None:
        if self._newest is not None:
            self.load(self._newest)
        if not self._settled:
            self._settled = True
            _leave_alone_what_is_there()

    def load(self, dataset: lance.LanceDataset) -> None:
        """Have the fragments of this version in memory, as far as they fit, and no others."""
        fragments = {fragment.fragment_id: fragment for fragment in dataset.get_fragments()}
        self._copies = {number: copy for number, copy in self._copies.items() if number in fragments}
        for number, fragment in fragments.items():
            if number not in self._copies and self._fits(fragment):
                try:
                    copy = _read(fragment)
                except LIBRARY_ERRORS:
                    return  # a query that needs these rows meets the same error, and says so
                if self.size + copy.size <= self._limit:
                    self._copies = {**self._copies, number: copy}

    def find(self, addresses: Addresses, columns: list[str]) -> Iterator[Part]:
        """The rows at ``addresses`` that are in memory, as parts in no order."""
        fragments = addresses >> _OFFSET_BITS
        copies = self._copies
        for number in np.unique(fragments):
            copy = copies.get(int(number))
            if copy is None:
                continue
            positions = np.flatnonzero(fragments == number)
            places = copy.places[addresses[positions] & _OFFSETS]
            there = places != _ABSENT
            yield Part(positions[there], copy.rows.select(columns).take(places[there]))

    def _fits(self, fragment: LanceFragment) -> bool:
        """Judged by what the rows in memory take, so that a fragment is not read in vain with each version."""
        rows = sum(copy.rows.num_rows for copy in self._copies.values())
        expected = fragment.count_rows() * self.size / rows if rows else 0
        return self.size + expected <= self._limit


def _leave_alone_what_is_there() -> None:
    """Keep what a process that goes on has by now, libraries above all, out of later full collections.

    Each would walk all of it in the middle of some query: that alone tripled the slowest of a hundred.
    """
    gc.collect()
    gc.freeze()


def _read(fragment: LanceFragment) -> _Copy:
    rows = fragment.scanner(columns=list(RESIDENT_COLUMNS), with_row_address=True).to_table().combine_chunks()
    offsets = rows[_ADDRESS].to_numpy() & _OFFSETS
    places = np.full(fragment.physical_rows, _ABSENT, dtype=np.int32)
    places[offsets] = np.arange(rows.num_rows, dtype=np.int32)
    return _Copy(places, rows.drop_columns([_ADDRESS]))
