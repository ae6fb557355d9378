"""One version of the Lance table: its fragments, read into memory, and its rows that meet a condition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Final

import lance
import numpy as np
import pyarrow as pa

from everfind_core.index.store_errors import LIBRARY_ERRORS, panics_are_damage
from everfind_core.index.store_schema import HIT_COLUMNS, TERMS, VECTOR, index_name
from everfind_core.model import Filters
from everfind_searcher.store.copies import Addresses, Copy, Fragment
from everfind_searcher.store.errors import translate
from everfind_searcher.store.exact import Selection
from everfind_searcher.store.filters import condition
from everfind_searcher.store.rows import chunks, postings, stored_vectors

ADDRESS: Final = "_rowaddr"

_ROWS_AT_ONCE: Final = 8_192
_BATCHES_AHEAD: Final = 2
_BYTES_AHEAD: Final = 32 << 20


class LanceVersion:
    """A :class:`~everfind_searcher.store.copies.Version` of a Lance table. Thread-safe."""

    def __init__(self, dataset: lance.LanceDataset, directory: Path) -> None:
        self.dataset = dataset
        self.directory = directory

    def fragments(self) -> Sequence[Fragment]:
        """Named by their data files, whose names are made at random."""
        return self._fragments

    @cached_property
    def _fragments(self) -> Sequence[Fragment]:
        with self._errors():
            found = [fragment.metadata for fragment in self.dataset.get_fragments()]
        return [Fragment(one.id, "\n".join(file.path for file in one.files)) for one in found]

    def count(self, fragment: int) -> int:
        """The rows of a fragment, deleted ones too."""
        with self._errors():
            return self._fragment(fragment).physical_rows

    def copy(self, fragment: int) -> Copy:
        """Read a fragment into memory."""
        with self._errors():
            columns = [*HIT_COLUMNS, TERMS, VECTOR]
            scanner = self._fragment(fragment).scanner(columns=columns, with_row_id=True, include_deleted_rows=True)
            rows = scanner.to_table().combine_chunks()
        hits = rows.select(HIT_COLUMNS)
        return Copy.of(chunks(hits), stored_vectors(rows), postings(rows), hits.nbytes)

    def counted(self) -> int | None:
        """How many rows the search structure over the terms holds; None unless they are its fragments' rows."""
        name = index_name(TERMS)
        with self._errors():
            segments = [
                one for index in self.dataset.describe_indices() if index.name == name for one in index.segments
            ]
            held = self.dataset.stats.index_stats(name)["segments"] if segments else ()
        if {number for one in segments for number in one.fragment_ids} != {one.number for one in self.fragments()}:
            return None
        return sum(int(one.get("num_docs", 0)) for one in held)  # a segment without rows tells nothing

    def rows(self, where: Filters) -> Addresses:
        """The rows that pass ``where``."""
        matching = condition(where)
        with self._errors():
            found = self.dataset.scanner(columns=[], filter=matching, with_row_address=True).to_table()
        addresses: Addresses = found[ADDRESS].to_numpy()
        return addresses

    def vectors(self, matching: str | None) -> Iterator[Selection]:
        """The rows that meet a condition, with their vectors: so many at a time that they take little memory."""
        with self._errors():
            scanner = self.dataset.scanner(
                columns=[VECTOR],
                filter=matching,
                with_row_address=True,
                batch_size=_ROWS_AT_ONCE,
                batch_readahead=_BATCHES_AHEAD,
                fragment_readahead=1,
                io_buffer_size=_BYTES_AHEAD,
            )
            for batch in scanner.to_batches():
                rows = pa.Table.from_batches([batch])
                places = np.arange(rows.num_rows, dtype=np.int32)
                yield Selection.of(Copy.transient(stored_vectors(rows)), rows[ADDRESS].to_numpy(), places)

    def _fragment(self, number: int) -> lance.LanceFragment:
        found = self.dataset.get_fragment(number)
        if found is None:
            raise ValueError(f"Not found: fragment {number}")
        return found

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            with panics_are_damage(self.directory):
                yield
        except LIBRARY_ERRORS as error:
            raise translate(error, self.directory) from error
