"""The writer: files replaced in single commits, and the table kept in shape."""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import lance
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from lance.fragment import FragmentMetadata, write_fragments

from everfind_core.allocator import limit_arenas
from everfind_core.errors import IndexIncompatibleError
from everfind_core.index.manifest import REBUILD_HINT
from everfind_core.index.store_schema import (
    CONTENT_HASH,
    DATE,
    EMBEDDING_KEY,
    FILE_ID,
    FOLDER,
    PATH,
    STATUS,
    SUCCESSOR,
    TABLE_DIRECTORY,
    VECTOR,
    file_id,
    sql_in,
)
from everfind_core.index.vector_codec import VectorCodec
from everfind_core.index.written_files import check_written, note_written
from everfind_core.lifecycle import Fate, split_refs
from everfind_core.model import FileRef
from everfind_core.ports import FileChunks, StoredChunk
from everfind_indexer.store import maintenance
from everfind_indexer.store.errors import store_errors
from everfind_indexer.store.integrity import check_files, referenced, settle_written
from everfind_indexer.store.memory import release_unused
from everfind_indexer.store.schema import restated, table_schema, to_files, to_table, vectors_there
from everfind_indexer.store.search_structures import create_indices

_KEYS_A_SCAN: Final = 1_000
_INDEX_CACHE_BYTES: Final = 8 << 20
_METADATA_CACHE_BYTES: Final = 2 << 20
"""Small: what comes and goes in full caches scatters over the heap, which grew by a tenth over 2,000 commits."""

_OFFSET_BITS: Final = 32
"""A row's address is its fragment's id, then so many bits for its place in the fragment."""


class LanceChunkWriter:
    """A :class:`~everfind_core.ports.ChunkWriter` on a LanceDB table. Thread-safe; calls run one after another."""

    def __init__(self, directory: Path, codec: VectorCodec) -> None:
        limit_arenas()
        self._directory = directory.absolute()
        self._codec = codec
        self._schema = table_schema(codec)
        self._guard = threading.Lock()
        self._cleanup_due = 0.0
        self._table = self._directory / TABLE_DIRECTORY
        self._written = check_written(self._directory, self._table)
        self._create_if_absent()
        with store_errors(self._directory, opening=True):
            self._dataset = self._open()
            self._written = settle_written(self._dataset, self._directory, self._table, self._written)
            self._noted_version = self._dataset.version
            create_indices(self._dataset, codec)
            maintenance.refresh(self._dataset)

    def replace(self, files: Sequence[FileChunks]) -> None:
        """Put each file's chunks in place of its old ones; of two entries for a file the later one counts.

        Raises:
            InternalError: a vector has the wrong length or a number that is not finite; nothing is written.
            StorageError, IndexDamagedError, IndexLockedError: nothing of ``files`` is written.
        """
        chosen = {file.ref: file for file in files}
        if not chosen:
            return
        rows = to_table(chosen.values(), self._codec)
        conditions = _in_parts(FILE_ID, [file_id(ref) for ref in chosen])
        with self._guard, store_errors(self._directory):
            self._commit(conditions, rows)

    def restate(self, fates: Mapping[FileRef, Fate]) -> None:
        """Give the rows of these files another status, date and successor, in one commit; nothing else changes."""
        by_id = {file_id(ref): fate for ref, fate in fates.items()}
        conditions = _in_parts(FILE_ID, list(by_id))
        names = [field.name for field in self._schema]
        with self._guard, store_errors(self._directory):
            rows = pa.concat_tables([self._schema.empty_table(), *(self._scan(names, one) for one in conditions)])
            if rows.num_rows:
                self._commit(conditions, restated(rows, by_id))

    def delete_folder(self, folder: str) -> None:
        """Remove every chunk of a folder in one commit."""
        with self._guard, store_errors(self._directory):
            self._commit([sql_in(FOLDER, [folder], field="folder")], self._schema.empty_table())

    def vectors(self, keys: Iterable[str]) -> Mapping[str, npt.NDArray[np.floating]]:
        """The vectors that the store has for these embedding keys, of shape (dimensions,)."""
        wanted = list(dict.fromkeys(keys))
        found: dict[str, npt.NDArray[np.floating]] = {}
        with self._guard, store_errors(self._directory):
            if not wanted or not self._dataset.count_rows():
                return found
            for condition in _in_parts(EMBEDDING_KEY, wanted):
                found.update(self._keyed_vectors(self._scan([EMBEDDING_KEY, VECTOR], condition)))
        return found

    def embedding_keys(self, folder: str = "") -> Iterator[str]:
        """The embedding key of every row with a vector, in no order; of one folder's if ``folder`` names one."""
        condition = f"{VECTOR} IS NOT NULL" + (f" AND {sql_in(FOLDER, [folder])}" if folder else "")
        with self._guard, store_errors(self._directory):
            for batch in self._dataset.scanner(columns=[EMBEDDING_KEY], filter=condition).to_batches():
                yield from batch[EMBEDDING_KEY].to_pylist()

    def purge(self) -> None:
        """Leave nothing on the disk of what was replaced or removed, at the expense of readers that still use it."""
        with self._guard, store_errors(self._directory):
            maintenance.purge(self._dataset)
            self._note_written()

    def sample_vectors(self, most: int) -> npt.NDArray[np.floating]:
        """Vectors of at most ``most`` chunks, spread evenly, of shape (chunks, dimensions)."""
        with self._guard, store_errors(self._directory):
            rows = self._dataset.count_rows()
            places = np.linspace(0, rows - 1, min(most, rows)).astype(np.int64).tolist() if rows else []
            found = self._dataset.take(places, columns=[EMBEDDING_KEY, VECTOR])
        vectors = list(self._keyed_vectors(found).values())
        return np.stack(vectors) if vectors else np.empty((0, self._codec.dimensions), np.float16)

    def chunk_counts(self) -> Mapping[FileRef, tuple[int, str]]:
        """Per file in the store: number of chunks, and content hash."""
        with self._guard, store_errors(self._directory):
            rows = self._scan([FOLDER, PATH, CONTENT_HASH])
        groups = rows.group_by([FOLDER, PATH]).aggregate([(CONTENT_HASH, "count"), (CONTENT_HASH, "min")])
        names = (FOLDER, PATH, f"{CONTENT_HASH}_count", f"{CONTENT_HASH}_min")
        columns = [groups[name].to_pylist() for name in names]
        return {
            FileRef(folder, path): (count, content_hash)
            for folder, path, count, content_hash in zip(*columns, strict=True)
        }

    def fates(self) -> Mapping[FileRef, Fate]:
        """The fate that a file's rows have; files of which they have none are left out."""
        told = (STATUS, DATE, SUCCESSOR)
        with self._guard, store_errors(self._directory):
            rows = self._scan([FOLDER, PATH, *told], " OR ".join(f"{column} != ''" for column in told))
        groups = rows.group_by([FOLDER, PATH]).aggregate([(column, "min") for column in told])
        columns = [groups[name].to_pylist() for name in (FOLDER, PATH, *(f"{column}_min" for column in told))]
        return {
            FileRef(folder, path): Fate(status, date, split_refs(successor))
            for folder, path, status, date, successor in zip(*columns, strict=True)
        }

    def file_chunks(self, refs: Collection[FileRef]) -> Mapping[FileRef, tuple[StoredChunk, ...]]:
        """The chunks of these files, each file's in order; a file without is left out."""
        names = [field.name for field in self._schema]
        found: dict[FileRef, tuple[StoredChunk, ...]] = {}
        with self._guard, store_errors(self._directory):
            for condition in _in_parts(FILE_ID, [file_id(ref) for ref in refs]):
                found.update(to_files(self._scan(names, condition), self._codec))
        return found

    def unembedded(self) -> Mapping[FileRef, int]:
        """How many chunks wait for their vectors, per file that has such. Reads every vector."""
        with self._guard, store_errors(self._directory):
            rows = self._scan([FOLDER, PATH], f"{VECTOR} IS NULL")
        return Counter(map(FileRef, rows[FOLDER].to_pylist(), rows[PATH].to_pylist()))

    def generation(self) -> int:
        """The table's version: grows with each commit, those of :meth:`maintain` included."""
        with self._guard:
            return self._dataset.version

    def maintain(self, *, finish: bool, exact: bool = False) -> None:
        """Keep search structures current and small; see :mod:`everfind_indexer.store.maintenance`."""
        with self._guard:
            with store_errors(self._directory):
                if finish:
                    worked = maintenance.settle(self._dataset, exact=exact)
                else:
                    worked = maintenance.keep_up(self._dataset)
                if time.monotonic() >= self._cleanup_due:
                    maintenance.remove_old_versions(self._dataset, self._table)
                    self._cleanup_due = time.monotonic() + maintenance.CLEANUP_SECONDS
                self._note_written()
            if worked:
                release_unused()

    def close(self) -> None:
        """Nothing is held open between calls; gives freed memory back."""
        release_unused()

    def _note_written(self) -> None:
        """After commits: note the files that the table now consists of, so that damage to them is told later."""
        if self._noted_version != self._dataset.version:
            names = referenced(self._dataset, self._table)
            self._written = note_written(self._directory, self._table, names, self._written)
            self._noted_version = self._dataset.version

    def _create_if_absent(self) -> None:
        with store_errors(self._directory):
            if not _has_versions(self._table):
                lance.write_dataset(self._schema.empty_table(), str(self._table), mode="create")

    def _open(self) -> lance.LanceDataset:
        dataset = lance.dataset(
            str(self._table),
            index_cache_size_bytes=_INDEX_CACHE_BYTES,
            metadata_cache_size_bytes=_METADATA_CACHE_BYTES,
        )
        if not dataset.schema.equals(self._schema):
            raise IndexIncompatibleError(
                f"the table in {self._directory} has other columns or vectors than this everfind writes",
                hint=REBUILD_HINT,
            )
        check_files(dataset, self._table)
        return dataset

    def _keyed_vectors(self, rows: pa.Table) -> dict[str, npt.NDArray[np.floating]]:
        present = rows.filter(rows[VECTOR].is_valid())
        if not present.num_rows:
            return {}
        return dict(zip(present[EMBEDDING_KEY].to_pylist(), vectors_there(present, self._codec), strict=True))

    def _commit(self, conditions: Sequence[str], rows: pa.Table) -> None:
        """Delete the rows that meet any of the conditions and add ``rows``, in one commit."""
        removed, updated = self._masked(conditions)
        added = write_fragments(rows, self._dataset, schema=self._schema) if rows.num_rows else []
        if not (removed or updated or added):
            return
        self._dataset = lance.LanceDataset.commit(
            self._dataset,
            lance.LanceOperation.Update(removed_fragment_ids=removed, updated_fragments=updated, new_fragments=added),
            read_version=self._dataset.version,
            max_retries=0,
        )

    def _masked(self, conditions: Sequence[str]) -> tuple[list[int], list[FragmentMetadata]]:
        """Fragments that lose all their rows, and fragments with a mask over those that they lose."""
        places: dict[int, list[int]] = defaultdict(list)
        for condition in conditions:
            addresses = self._scan([], condition, with_row_address=True)["_rowaddr"]
            for address in addresses.to_pylist():
                places[address >> _OFFSET_BITS].append(address & ((1 << _OFFSET_BITS) - 1))
        fragments = {fragment.fragment_id: fragment for fragment in self._dataset.get_fragments()}
        masked = {number: fragments[number].delete_rows(offsets) for number, offsets in sorted(places.items())}
        emptied = [number for number, metadata in masked.items() if metadata is None]
        return emptied, [metadata for metadata in masked.values() if metadata is not None]

    def _scan(self, columns: list[str], condition: str | None = None, *, with_row_address: bool = False) -> pa.Table:
        return self._dataset.scanner(
            columns=columns, filter=condition, with_row_address=with_row_address, scan_in_order=False
        ).to_table()


def _has_versions(table: Path) -> bool:
    versions = table / "_versions"
    return versions.is_dir() and any(entry.suffix == ".manifest" for entry in versions.iterdir())


def _in_parts(column: str, values: Sequence[str]) -> list[str]:
    """Conditions that together name all ``values``, each short enough to plan fast."""
    parts = range(0, len(values), _KEYS_A_SCAN)
    return [sql_in(column, list(values[start : start + _KEYS_A_SCAN])) for start in parts]
