"""What both sides of the SQLite store agree on: its tables, a row's form, and how postings are packed.

All of an index's chunks lie in one file, ``<directory>/chunks.sqlite``. As in the Lance table, rows lie in fragments,
which never change: a commit adds one and marks old rows as removed, each in its generation, so that a reader asks for
the rows of one generation and needs no transaction that lasts. Upkeep writes the live rows of several fragments as one
new one. What was removed ten minutes ago or more is then dropped.
"""

from __future__ import annotations

import contextlib
import functools
import sqlite3
import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from everfind_core.index.vector_codec import VectorCodec
from everfind_core.model import FileRef
from everfind_core.ports import StoredChunk

DATABASE: Final = "chunks.sqlite"
FORMAT: Final = 1

FRAGMENT_BITS: Final = 32
"""An address is its fragment's number, then so many bits for the row's place in it."""

COLUMNS: Final = (
    "chunk_id", "folder", "path", "ordinal", "start_line", "end_line", "embedding_key", "content_hash", "tokens",
    "symbol", "kind", "language", "heading", "status", "date", "successor", "page",
)  # fmt: skip
"""Of a chunk, what is short."""

TEXTS: Final = ("text", "terms", "names", "symbols")
FIELDS: Final = ("terms", "names")
"""What is found by its tokens, by their number in ``postings``."""

TERMS: Final = 0
NAMES: Final = 1

SCHEMA: Final = f"""
CREATE TABLE facts (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE generations (generation INTEGER PRIMARY KEY, committed REAL NOT NULL);
CREATE TABLE fragments (
    fragment INTEGER PRIMARY KEY, added INTEGER NOT NULL, removed INTEGER, rows INTEGER NOT NULL,
    gone INTEGER NOT NULL, lengths BLOB NOT NULL, digest BLOB NOT NULL
);
CREATE TABLE removals (address INTEGER PRIMARY KEY, generation INTEGER NOT NULL);
CREATE TABLE chunks (address INTEGER PRIMARY KEY, {", ".join(f"{name} NOT NULL" for name in COLUMNS)});
CREATE TABLE texts (address INTEGER PRIMARY KEY, {", ".join(f"{name} TEXT NOT NULL" for name in TEXTS)});
CREATE TABLE vectors (address INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE postings (
    fragment INTEGER NOT NULL, field INTEGER NOT NULL, term TEXT NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (fragment, field, term)
) WITHOUT ROWID;
CREATE INDEX chunks_by_file ON chunks (folder, path, language, kind, status, date);
CREATE INDEX chunks_by_key ON chunks (embedding_key);
"""

GENERATION: Final = "generation"
OLDEST: Final = "oldest"
"""The oldest generation of which no row is dropped yet."""

DIMENSIONS: Final = "dimensions"
BITS: Final = "bits"
"""Of a number of a vector; a file that does not say has 16."""

FRAGMENTS: Final = "fragments"
"""How many fragments there ever were; so no number is given twice."""

ROWS: Final = "rows"
"""How many rows the newest generation has."""

GONE: Final = "((address & 4294967295) + 1) * 65537 + generation"
"""What a removal adds to its fragment's ``gone``, so that a changed one is noticed."""

_MOST_COUNT: Final = (1 << 16) - 1

Postings = tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint16]]
"""Places in a fragment that a term stands in, ascending, and how often it does."""


def schema_of(db: sqlite3.Connection) -> Sequence[tuple[str, ...]]:
    """All that is defined in a file, to compare with what should be."""
    return db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name").fetchall()


@functools.cache
def right_schema() -> Sequence[tuple[str, ...]]:
    """What :func:`schema_of` gives for a file of this everfind."""
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        db.executescript(SCHEMA)
        return schema_of(db)


def vector_facts(codec: VectorCodec) -> Mapping[str, int]:
    """What a file says of its vectors."""
    return {DIMENSIONS: codec.dimensions, BITS: codec.bits}


def codec_of(db: sqlite3.Connection) -> VectorCodec:
    """What stored a file's vectors."""
    facts: dict[str, int] = dict(db.execute("SELECT name, value FROM facts WHERE name IN (?, ?)", (DIMENSIONS, BITS)))
    return VectorCodec.of_bits(facts.get(BITS, 16), facts[DIMENSIONS])


def first_address(fragment: int) -> int:
    """The address of a fragment's first row; those of all its rows lie below ``first_address(fragment + 1)``."""
    return fragment << FRAGMENT_BITS


def values_of(chunk: StoredChunk) -> tuple[Any, ...]:
    """A chunk's short values, in the order of ``COLUMNS``."""
    return (
        chunk.chunk_id, chunk.ref.folder, chunk.ref.path, chunk.ordinal, chunk.start_line, chunk.end_line,
        chunk.embedding_key, chunk.content_hash, chunk.tokens, chunk.symbol, chunk.kind, chunk.language, chunk.heading,
        chunk.status, chunk.date, chunk.successor, chunk.page,
    )  # fmt: skip


def chunk_of(
    values: Sequence[Any], ref: FileRef, texts: Sequence[str], vector: npt.NDArray[np.floating] | None = None
) -> StoredChunk:
    """The chunk whose ``values`` and ``texts`` are in the order of ``COLUMNS`` and ``TEXTS``."""
    (
        chunk_id, _, _, ordinal, start_line, end_line, key, content_hash, tokens,
        symbol, kind, language, heading, status, date, successor, page,
    ) = values  # fmt: skip
    text, terms, names, symbols = texts
    return StoredChunk(
        chunk_id, ref, ordinal, start_line, end_line, text, terms, key, content_hash, tokens,
        symbol, kind, language, heading, status, date, successor, page, names, symbols, vector,
    )  # fmt: skip


def pack_postings(places: Sequence[int], counts: Sequence[int]) -> bytes:
    """Places and counts of a term, as they are stored."""
    return struct.pack(f"<{len(places)}I{len(counts)}H", *places, *(min(count, _MOST_COUNT) for count in counts))


def unpack_postings(data: bytes) -> Postings:
    """The same as arrays; raises ValueError where it is no such thing."""
    number, rest = divmod(len(data), 6)
    if rest:
        raise ValueError("no postings")
    places = np.frombuffer(data, "<u4", number)
    return places, np.frombuffer(data, "<u2", number, 4 * number)


def pack_lengths(lengths: Sequence[Sequence[int]]) -> bytes:
    """The number of tokens of each row, for each of ``FIELDS``."""
    return np.array(lengths, "<u4").tobytes()


def unpack_lengths(data: bytes) -> npt.NDArray[np.uint32]:
    """The same of shape (fields, rows); raises ValueError where it is no such thing."""
    return np.frombuffer(data, "<u4").reshape(len(FIELDS), -1)
