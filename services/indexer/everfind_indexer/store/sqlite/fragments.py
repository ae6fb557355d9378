"""Fragments of the SQLite store: written once, read back as chunks, and dropped."""

from __future__ import annotations

import hashlib
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from everfind_core.index.sqlite_schema import (
    COLUMNS,
    FIELDS,
    TEXTS,
    chunk_of,
    first_address,
    pack_lengths,
    pack_postings,
    values_of,
)
from everfind_core.index.vector_codec import VectorCodec, decoded
from everfind_core.model import FileRef
from everfind_core.ports import StoredChunk
from everfind_indexer.store.encoding import encoded

LIVE: Final = (
    "address >> 32 IN (SELECT fragment FROM fragments WHERE removed IS NULL) "
    "AND address NOT IN (SELECT address FROM removals)"
)
"""The condition that a row is one of the newest generation."""

_ROW: Final = f"c.address, {', '.join(f'c.{name}' for name in COLUMNS)}, {', '.join(f't.{name}' for name in TEXTS)}"
_ROWS: Final = f"SELECT {_ROW}, v.data FROM chunks c JOIN texts t USING (address) LEFT JOIN vectors v USING (address)"  # noqa: S608 - constants only
_PLACES: Final = {
    table: f"INSERT INTO {table} VALUES ({', '.join('?' * width)})"  # noqa: S608 - constants only
    for table, width in (("chunks", 1 + len(COLUMNS)), ("texts", 1 + len(TEXTS)), ("vectors", 2), ("postings", 4))
}
_PARTS: Final = ("chunks", "texts", "vectors", "removals")


@dataclass(frozen=True, slots=True)
class Row:
    """A row as it is stored; ``vector`` is None while it waits."""

    values: tuple[Any, ...]
    texts: tuple[str, ...]
    vector: bytes | None

    @classmethod
    def of(cls, chunk: StoredChunk, codec: VectorCodec) -> Row:
        """The row of a chunk.

        Raises:
            InternalError: its vector cannot be stored.
        """
        texts = (chunk.text, chunk.terms, chunk.names, chunk.symbols)
        vector = encoded(chunk, codec)
        return cls(values_of(chunk), texts, None if vector is None else vector.tobytes())

    def chunk(self, codec: VectorCodec) -> StoredChunk:
        """The chunk of the row."""
        vector = None if self.vector is None else decoded(codec.from_bytes(self.vector))[0]
        return chunk_of(self.values, FileRef(self.values[1], self.values[2]), self.texts, vector)


def write_fragment(db: sqlite3.Connection, number: int, generation: int, rows: Sequence[Row]) -> None:
    """Write a fragment with all that it is found by."""
    first = first_address(number)
    addressed = list(enumerate(rows, start=first))
    db.executemany(_PLACES["chunks"], ((address, *row.values) for address, row in addressed))
    db.executemany(_PLACES["texts"], ((address, *row.texts) for address, row in addressed))
    db.executemany(_PLACES["vectors"], ((a, row.vector) for a, row in addressed if row.vector is not None))
    lengths = []
    postings: list[tuple[int, int, str, bytes]] = []
    for field, name in enumerate(FIELDS):
        tokens = [row.texts[TEXTS.index(name)].split() for row in rows]
        lengths.append([len(one) for one in tokens])
        postings += [(number, field, term, data) for term, data in _inverted(tokens)]
    db.executemany(_PLACES["postings"], postings)
    packed = pack_lengths(lengths)
    digest = digest_of(rows, packed, (posting[1:] for posting in postings))
    row = (number, generation, len(rows), packed, digest)
    db.execute("INSERT INTO fragments VALUES (?, ?, NULL, ?, 0, ?, ?)", row)


def _inverted(tokens: Sequence[Sequence[str]]) -> Iterator[tuple[str, bytes]]:
    """Each term with its packed postings, in the terms' order."""
    found: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for place, row in enumerate(tokens):
        for term, count in Counter(row).items():
            places, counts = found[term]
            places.append(place)
            counts.append(count)
    for term in sorted(found, key=str.encode):
        yield term, pack_postings(*found[term])


def digest_of(rows: Iterable[Row], lengths: bytes, postings: Iterable[tuple[int, str, bytes]]) -> bytes:
    """A digest (BLAKE2b 128) of all that a fragment holds; ``postings`` as field, term and data, in their order."""
    digest = hashlib.blake2b(lengths, digest_size=16)
    for row in rows:
        for value in (*row.values, *row.texts):
            digest.update(f"{value}\x1f".encode())
        digest.update(row.vector or b"-")
    for field, term, data in postings:
        digest.update(f"{field}\x1f{term}\x1f".encode())
        digest.update(data)
    return digest.digest()


def read_rows(db: sqlite3.Connection, condition: str, values: Sequence[object] = ()) -> Iterator[tuple[int, Row]]:
    """The rows that meet a condition on ``c``, which is no text of a user, each with its address; in that order."""
    for address, *found in db.execute(f"{_ROWS} WHERE {condition} ORDER BY c.address", values):
        middle = len(COLUMNS)
        yield address, Row(tuple(found[:middle]), tuple(found[middle:-1]), found[-1])


def rows_of_fragment(db: sqlite3.Connection, number: int) -> Iterator[tuple[int, Row]]:
    """All rows of a fragment, removed ones too."""
    return read_rows(db, "c.address >= ? AND c.address < ?", (first_address(number), first_address(number + 1)))


def live_rows(db: sqlite3.Connection) -> Mapping[int, tuple[int, int]]:
    """Live and removed rows of each fragment that is part of the newest generation."""
    found = db.execute(
        "SELECT f.fragment, f.rows, (SELECT count(*) FROM removals r "
        "WHERE r.address >= f.fragment << 32 AND r.address < (f.fragment + 1) << 32) "
        "FROM fragments f WHERE f.removed IS NULL ORDER BY f.fragment"
    )
    return {number: (rows - removed, removed) for number, rows, removed in found}


def drop_fragments(db: sqlite3.Connection, numbers: Iterable[int]) -> None:
    """Delete fragments with all that belongs to them."""
    for number in numbers:
        borders = (first_address(number), first_address(number + 1))
        for table in _PARTS:
            db.execute(f"DELETE FROM {table} WHERE address >= ? AND address < ?", borders)  # noqa: S608 - constants only
        db.execute("DELETE FROM postings WHERE fragment = ?", (number,))
        db.execute("DELETE FROM fragments WHERE fragment = ?", (number,))
