"""The writer of the SQLite store: files replaced in single commits, and the file kept in shape."""

from __future__ import annotations

import threading
import time
import weakref
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from everfind_core.index.sqlite_files import connect, sqlite_errors
from everfind_core.index.sqlite_schema import COLUMNS, DATABASE, GENERATION
from everfind_core.index.vector_codec import VectorCodec, decoded
from everfind_core.lifecycle import Fate, join_refs, split_refs
from everfind_core.model import FileRef
from everfind_core.ports import FileChunks, StoredChunk
from everfind_indexer.store.sqlite import upkeep
from everfind_indexer.store.sqlite.creation import check_table, create_table
from everfind_indexer.store.sqlite.fragments import LIVE, Row, read_rows
from everfind_indexer.store.sqlite.transactions import Transaction, committing, fact

_KEYS_A_QUERY: Final = 500
_CLEANUP_SECONDS: Final = 60.0
_OF_FILE: Final = f"folder = ? AND path = ? AND {LIVE}"


class SqliteChunkWriter:
    """A :class:`~everfind_core.ports.ChunkWriter` on one SQLite file. Thread-safe; calls run one after another."""

    def __init__(self, directory: Path, codec: VectorCodec) -> None:
        self._directory = directory.absolute()
        self._codec = codec
        self._guard = threading.Lock()
        self._cleanup_due = 0.0
        if not (self._directory / DATABASE).exists():
            create_table(self._directory, codec)
        with sqlite_errors(self._directory, write=True):
            self._db = connect(self._directory, write=True)
            weakref.finalize(self, self._db.close)
            try:
                check_table(self._db, self._directory, codec)
                self._generation = fact(self._db, GENERATION)
            except BaseException:
                self._db.close()
                raise

    def replace(self, files: Sequence[FileChunks]) -> None:
        """Put each file's chunks in place of its old ones; of two entries for a file the later one counts.

        Raises:
            InternalError: a vector has the wrong length or a number that is not finite; nothing is written.
            StorageError, IndexDamagedError, IndexLockedError: nothing of ``files`` is written.
        """
        chosen = {file.ref: file for file in files}
        rows = [Row.of(chunk, self._codec) for file in chosen.values() for chunk in file.chunks]
        if chosen:
            with self._commit() as commit:
                commit.remove(address for ref in chosen for address in self._addresses(_OF_FILE, ref))
                commit.add(rows)

    def restate(self, fates: Mapping[FileRef, Fate]) -> None:
        """Give the rows of these files another status, date and successor, in one commit; nothing else changes."""
        with self._commit() as commit:
            found = [(ref, one) for ref in fates for one in read_rows(self._db, _OF_FILE, (ref.folder, ref.path))]
            commit.remove(address for _, (address, _) in found)
            commit.add([_restated(row, fates[ref]) for ref, (_, row) in found])

    def delete_folder(self, folder: str) -> None:
        """Remove every chunk of a folder in one commit."""
        with self._commit() as commit:
            found = self._db.execute(f"SELECT address FROM chunks WHERE folder = ? AND {LIVE}", (folder,))  # noqa: S608 - constants only
            commit.remove([address for (address,) in found])

    def vectors(self, keys: Iterable[str]) -> Mapping[str, npt.NDArray[np.floating]]:
        """The vectors that the store has for these embedding keys, of shape (dimensions,)."""
        found: dict[str, npt.NDArray[np.floating]] = {}
        with self._reading():
            for part in _in_parts(list(dict.fromkeys(keys))):
                marks = ", ".join("?" * len(part))
                wanted = f"embedding_key IN ({marks}) AND {LIVE}"
                found.update((key, vector) for key, vector in self._keyed_vectors(wanted, part))
        return found

    def embedding_keys(self, folder: str = "") -> Iterator[str]:
        """The embedding key of every row with a vector, in no order; of one folder's if ``folder`` names one."""
        condition, values = (f"folder = ? AND {LIVE}", (folder,)) if folder else (LIVE, ())
        with self._reading():
            found = self._db.execute(
                f"SELECT embedding_key FROM chunks JOIN vectors USING (address) WHERE {condition}",  # noqa: S608 - constants only
                values,
            ).fetchall()
        return (key for (key,) in found)

    def purge(self) -> None:
        """Leave nothing on the disk of what was replaced or removed, at the expense of readers that still use it."""
        with self._commit() as commit:
            upkeep.join(commit, upkeep.with_removed_rows(self._db))
        with self._commit() as commit:
            upkeep.drop_old(self._db, self._generation)
        with self._reading():
            self._db.execute("VACUUM")

    def sample_vectors(self, most: int) -> npt.NDArray[np.floating]:
        """Vectors of at most ``most`` chunks, spread evenly, of shape (chunks, dimensions)."""
        with self._reading():
            rows = [address for (address,) in self._db.execute(f"SELECT address FROM chunks WHERE {LIVE}")]  # noqa: S608 - constants only
            rows.sort()
            places = np.linspace(0, len(rows) - 1, min(most, len(rows))).astype(np.int64).tolist() if rows else []
            found: dict[str, npt.NDArray[np.floating]] = {}
            for part in _in_parts([rows[place] for place in places]):
                found.update(self._keyed_vectors(f"address IN ({', '.join('?' * len(part))})", part))
        return np.stack(list(found.values())) if found else np.empty((0, self._codec.dimensions), np.float16)

    def chunk_counts(self) -> Mapping[FileRef, tuple[int, str]]:
        """Per file in the store: number of chunks, and content hash."""
        with self._reading():
            found = self._db.execute(
                f"SELECT folder, path, count(*), min(content_hash) FROM chunks WHERE {LIVE} GROUP BY folder, path"  # noqa: S608 - constants only
            )
            return {FileRef(folder, path): (count, content_hash) for folder, path, count, content_hash in found}

    def fates(self) -> Mapping[FileRef, Fate]:
        """The fate that a file's rows have; files of which they have none are left out."""
        with self._reading():
            found = self._db.execute(
                "SELECT folder, path, min(status), min(date), min(successor) FROM chunks "  # noqa: S608 - constants only
                f"WHERE {LIVE} AND (status != '' OR date != '' OR successor != '') GROUP BY folder, path"
            )
            return {
                FileRef(folder, path): Fate(status, date, split_refs(successor))
                for folder, path, status, date, successor in found
            }

    def file_chunks(self, refs: Collection[FileRef]) -> Mapping[FileRef, tuple[StoredChunk, ...]]:
        """The chunks of these files, each file's in order; a file without is left out."""
        files: dict[FileRef, list[StoredChunk]] = defaultdict(list)
        with self._reading():
            for ref in refs:
                rows = read_rows(self._db, _OF_FILE, (ref.folder, ref.path))
                files[ref] += (row.chunk(self._codec) for _, row in rows)
        return {ref: tuple(sorted(found, key=lambda chunk: chunk.ordinal)) for ref, found in files.items() if found}

    def unembedded(self) -> Mapping[FileRef, int]:
        """How many chunks wait for their vectors, per file that has such."""
        with self._reading():
            found = self._db.execute(
                "SELECT folder, path, count(*) FROM chunks "  # noqa: S608 - constants only
                f"WHERE {LIVE} AND address NOT IN (SELECT address FROM vectors) GROUP BY folder, path"
            )
            return {FileRef(folder, path): count for folder, path, count in found}

    def generation(self) -> int:
        """The store's generation: grows with each commit, those of :meth:`maintain` included."""
        with self._guard:
            return self._generation

    def maintain(self, *, finish: bool, exact: bool = False) -> None:  # noqa: ARG002 - exact it is in any case
        """Keep fragments few; see :mod:`everfind_indexer.store.sqlite.upkeep`. Scores are exact at any time."""
        with self._commit() as commit:
            choose = upkeep.joined_at_the_end if finish else upkeep.joined_in_a_run
            upkeep.join(commit, choose(self._db))
        if time.monotonic() >= self._cleanup_due:
            with self._commit() as commit:
                upkeep.drop_old(commit.db, upkeep.expired(commit.db, upkeep.KEEP_SECONDS))
            self._cleanup_due = time.monotonic() + _CLEANUP_SECONDS
        if finish:
            with self._reading():
                upkeep.give_back(self._db)

    def close(self) -> None:
        """Release the file."""
        with self._guard:
            self._db.close()

    def _addresses(self, condition: str, ref: FileRef) -> Iterator[int]:
        found = self._db.execute(f"SELECT address FROM chunks WHERE {condition}", (ref.folder, ref.path))  # noqa: S608 - constants only
        return (address for (address,) in found.fetchall())

    def _keyed_vectors(
        self, condition: str, values: Sequence[object]
    ) -> Iterator[tuple[str, npt.NDArray[np.floating]]]:
        found = self._db.execute(
            f"SELECT embedding_key, data FROM chunks JOIN vectors USING (address) WHERE {condition}",  # noqa: S608 - constants only
            values,
        )
        return ((key, decoded(self._codec.from_bytes(data))[0]) for key, data in found)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self._guard, sqlite_errors(self._directory, write=True):
            yield

    @contextmanager
    def _commit(self) -> Iterator[Transaction]:
        """A commit; where the block changes nothing, there is none."""
        with self._reading(), committing(self._db, self._directory, self._generation) as commit:
            yield commit
            changed = commit.changed
        if changed:
            self._generation = commit.generation


_STATUS, _DATE, _SUCCESSOR = (COLUMNS.index(name) for name in ("status", "date", "successor"))


def _restated(row: Row, fate: Fate) -> Row:
    values = list(row.values)
    values[_STATUS], values[_DATE], values[_SUCCESSOR] = fate.status, fate.date, join_refs(fate.successors)
    return Row(tuple(values), row.texts, row.vector)


def _in_parts(values: Sequence[object]) -> Iterator[Sequence[object]]:
    """Parts of ``values``, each short enough for one statement."""
    return (values[start : start + _KEYS_A_QUERY] for start in range(0, len(values), _KEYS_A_QUERY))
