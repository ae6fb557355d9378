"""One generation of the SQLite store: its fragments, and its rows that pass a filter."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from everfind_core.index.sqlite_schema import (
    COLUMNS,
    FIELDS,
    OLDEST,
    TERMS,
    chunk_of,
    first_address,
    unpack_lengths,
    unpack_postings,
)
from everfind_core.index.store_errors import damaged
from everfind_core.index.vector_codec import Stored, VectorCodec
from everfind_core.model import FileRef, Filters
from everfind_core.ports import StoredChunk
from everfind_searcher.remembered import Remembered
from everfind_searcher.store.best import Rows
from everfind_searcher.store.bm25 import Mask, TermScorer
from everfind_searcher.store.copies import OFFSET_BITS, OFFSETS, ROW_BYTES, Addresses, Copy, Fragment
from everfind_searcher.store.postings import Matches, Postings
from everfind_searcher.store.sqlite.connections import Connections
from everfind_searcher.store.sqlite.filters import Condition, condition

_FILTERS: Final = 16
_SHORT: Final = ", ".join(COLUMNS)
_CHARACTER_BYTES: Final = 1.1


@dataclass(frozen=True, slots=True)
class Part:
    """A fragment in one generation: a digest of all it holds, tokens of its rows by field, which rows are there."""

    digest: str
    lengths: npt.NDArray[np.uint32]
    live: Mask


class SqliteVersion:
    """A :class:`~everfind_searcher.store.copies.Version` of the SQLite store. Thread-safe."""

    def __init__(
        self, connections: Connections, generation: int, parts: Mapping[int, Part], codec: VectorCodec
    ) -> None:
        self._connections = connections
        self._age = connections.age
        self._generation = generation
        self._passing = Remembered[Filters, Mapping[int, Mask]](_FILTERS)
        self._scorers = Remembered[int, TermScorer](len(FIELDS))
        self.parts = parts
        self.codec = codec

    @property
    def number(self) -> int:
        """The store's generation."""
        return self._generation

    def fragments(self) -> Sequence[Fragment]:
        """Named by digests of all that they hold."""
        return [Fragment(number, part.digest) for number, part in self.parts.items()]

    def count(self, fragment: int) -> int:
        """The rows of a fragment, removed ones too."""
        return len(self.parts[fragment].live)

    def copy(self, fragment: int) -> Copy:
        """Read a fragment into memory."""
        with self.reading() as db:
            rows = db.execute(
                f"SELECT {_SHORT}, text FROM chunks JOIN texts USING (address) "  # noqa: S608 - constants only
                "WHERE address >= ? AND address < ? ORDER BY address",
                _borders(fragment),
            ).fetchall()
            vectors = self._vectors(db, fragment)
            postings = _postings(db, fragment, self.parts[fragment].lengths[TERMS])
        chunks = shared_chunks(rows)
        texts = int(_CHARACTER_BYTES * sum(len(chunk.text) for chunk in chunks))
        return Copy.of(chunks, vectors, postings, texts + ROW_BYTES * len(chunks))

    def vectors(self, fragment: int) -> Copy:
        """The same without what stands in the rows."""
        with self.reading() as db:
            return Copy.transient(self._vectors(db, fragment))

    def rows(self, where: Filters) -> Addresses:
        """The rows that pass ``where``, ascending."""
        masks = self.passing(where)
        found = [np.flatnonzero(mask).astype(np.uint64) + np.uint64(first_address(n)) for n, mask in masks.items()]
        return np.concatenate([np.zeros(0, np.uint64), *found])

    def passing(self, where: Filters) -> Mapping[int, Mask]:
        """The same as a mask a fragment."""
        known = self._passing.get(where)
        if known is None:
            known = self._masks(condition(where))
            self._passing.put(where, known)
        return known

    def counted(self) -> int:
        """How many rows with terms there are: what was removed counts in no statistic."""
        return sum(int((part.live & (part.lengths[TERMS] > 0)).sum()) for part in self.parts.values())

    def scorer(self, field: int) -> TermScorer:
        """What scores the rows by a field."""
        known = self._scorers.get(field)
        if known is None:
            live = np.concatenate([np.zeros(0, bool), *(part.live for part in self.parts.values())])
            known = TermScorer([part.lengths[field] for part in self.parts.values()], live)
            self._scorers.put(field, known)
        return known

    def addresses(self, rows: Rows) -> Addresses:
        """Where rows are that are numbered through all fragments."""
        starts = np.cumsum([0, *(len(part.live) for part in self.parts.values())])
        owners = np.searchsorted(starts, rows, side="right") - 1
        firsts = np.array([first_address(number) for number in self.parts] or [0], dtype=np.uint64)
        found: Addresses = firsts[owners] + (rows - starts[owners]).astype(np.uint64)
        return found

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that this generation can still be read through.

        Raises:
            IndexDamagedError: rows of it were dropped, or the file was put back from a copy, or cannot be read.
        """
        age = self._connections.age
        with self._connections.reading() as db:
            (oldest,) = db.execute("SELECT value FROM facts WHERE name = ?", (OLDEST,)).fetchone()
            if oldest > self._generation or (age != self._age and not self._is_there(db)):
                raise damaged(self._connections.directory)
            self._age = age
            yield db

    def _vectors(self, db: sqlite3.Connection, fragment: int) -> Stored:
        """The stored vectors of a fragment's rows, zero where a row has none."""
        statement = "SELECT address, data FROM vectors WHERE address >= ? AND address < ?"
        found = db.execute(statement, _borders(fragment)).fetchall()
        places = np.array([address for address, _ in found], dtype=np.uint64) & np.uint64(OFFSETS)
        stored: Stored = np.zeros((len(self.parts[fragment].live), self.codec.width), self.codec.dtype)
        stored[places] = self.codec.from_bytes(b"".join(data for _, data in found))
        return stored

    def _is_there(self, db: sqlite3.Connection) -> bool:
        """Whether the file still has the fragments, and not others under their numbers."""
        found = dict(db.execute("SELECT fragment, hex(digest) FROM fragments"))
        return all(found.get(number) == part.digest for number, part in self.parts.items())

    def _masks(self, met: Condition | None) -> Mapping[int, Mask]:
        if met is None:
            return {number: part.live for number, part in self.parts.items()}
        with self.reading() as db:
            found = np.array(met.addresses(db), dtype=np.uint64)
        numbers, places = found >> np.uint64(OFFSET_BITS), found & np.uint64(OFFSETS)
        masks = {}
        for number, part in self.parts.items():
            meeting = np.zeros(len(part.live), dtype=bool)
            meeting[places[numbers == number]] = True
            masks[number] = meeting & part.live
        return masks


def read_parts(db: sqlite3.Connection, known: Mapping[int, Part]) -> Mapping[int, Part]:
    """The fragments of the newest generation; what is ``known`` of their lengths is not read again."""
    found = db.execute(
        "SELECT fragment, rows, hex(digest) FROM fragments WHERE removed IS NULL ORDER BY fragment"
    ).fetchall()
    removed = db.execute("SELECT address FROM removals").fetchall()
    gone = np.array(removed, dtype=np.uint64).reshape(-1)
    numbers = gone >> np.uint64(OFFSET_BITS)
    parts: dict[int, Part] = {}
    for number, rows, digest in found:
        live = np.ones(rows, dtype=bool)
        live[gone[numbers == number] & np.uint64(OFFSETS)] = False
        before = known.get(number)
        lengths = before.lengths if before and before.digest == digest else _lengths(db, number)
        parts[number] = Part(digest, lengths, live)
    return parts


def stored_postings(db: sqlite3.Connection, fragment: int, field: int, token: str) -> Matches | None:
    """The rows of a fragment that a token stands in; None if none does."""
    statement = "SELECT data FROM postings WHERE fragment = ? AND field = ? AND term = ?"
    found = db.execute(statement, (fragment, field, token)).fetchone()
    return None if found is None else Matches(*unpack_postings(found[0]))


def _postings(db: sqlite3.Connection, fragment: int, lengths: npt.NDArray[np.uint32]) -> Postings:
    """All postings of a fragment's terms."""
    found = db.execute("SELECT term, data FROM postings WHERE fragment = ? AND field = ?", (fragment, TERMS)).fetchall()
    each = [unpack_postings(data) for _, data in found]
    sizes = np.array([len(places) for places, _ in each], dtype=np.int64)
    places = np.concatenate([np.zeros(0, np.uint32), *(places for places, _ in each)])
    counts = np.concatenate([np.zeros(0, np.uint16), *(counts for _, counts in each)])
    return Postings.of([term for term, _ in found], sizes, places, counts, lengths)


def shared_chunks(rows: Sequence[Sequence[Any]]) -> list[StoredChunk]:
    """Rows of ``COLUMNS``, a text and perhaps symbols as chunks; what many share, their files above all, is one."""
    known: dict[str, str] = {}
    refs: dict[tuple[str, str], FileRef] = {}
    chunks = []
    for row in rows:
        values = [known.setdefault(value, value) if isinstance(value, str) else value for value in row[: len(COLUMNS)]]
        file = (values[1], values[2])
        ref = refs.get(file) or refs.setdefault(file, FileRef(*file))
        text, symbols = row[len(COLUMNS)], row[len(COLUMNS) + 1] if len(row) > len(COLUMNS) + 1 else ""
        chunks.append(chunk_of(values, ref, (text, "", "", symbols)))
    return chunks


def _lengths(db: sqlite3.Connection, number: int) -> npt.NDArray[np.uint32]:
    (packed,) = db.execute("SELECT lengths FROM fragments WHERE fragment = ?", (number,)).fetchone()
    return unpack_lengths(packed)


def _borders(fragment: int) -> tuple[int, int]:
    return first_address(fragment), first_address(fragment + 1)
