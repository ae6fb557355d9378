"""One generation of the SQLite store: all that a query reads comes from the same commit."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

import numpy as np

from everfind_core.index.sqlite_schema import COLUMNS, NAMES, TERMS, TEXTS, chunk_of, first_address
from everfind_core.index.vector_codec import VectorCodec, decoded
from everfind_core.model import FileRef, Filters, Vector, Vectors
from everfind_core.ports import Labels, ScoredChunk, StoredChunk
from everfind_core.text.lexical import Need
from everfind_searcher.store.best import Rows, Scored, best
from everfind_searcher.store.bm25 import Find, Mask, Scores, highest, tokens_of
from everfind_searcher.store.copies import OFFSETS
from everfind_searcher.store.exact import Selection, asked_vector, nearest_of_parts
from everfind_searcher.store.quoting import quoting
from everfind_searcher.store.resident import ResidentRows
from everfind_searcher.store.sqlite.version import SqliteVersion, shared_chunks, stored_postings

_ROWS_A_QUERY: Final = 500
_SHORT: Final = ", ".join(COLUMNS)


class SqliteSnapshot:
    """A :class:`~everfind_core.ports.ChunkSnapshot` of one generation. Thread-safe.

    Vectors are always compared exactly: those in memory where all of them are there, else one fragment after another.
    """

    def __init__(self, version: SqliteVersion, resident: ResidentRows) -> None:
        self._version = version
        self._resident = resident

    def generation(self) -> int:
        """The store's generation."""
        return self._version.number

    def semantic(self, vector: Vector, limit: int, where: Filters) -> Sequence[ScoredChunk]:
        """The nearest chunks by cosine, best first; ties by folder, path and line. A zero vector is near nothing.

        Raises:
            InvalidRequestError: ``vector`` has other dimensions than the table or is not finite, or a filter is wrong.
        """
        query = asked_vector(vector, self._version.codec.dimensions)
        if limit < 1 or not query.any():
            return ()
        if (whole := self._resident.whole(self._version)) is not None:
            return whole.semantic(query, limit, where)

        def find(count: int) -> Scored:
            return nearest_of_parts(self._selections(where), query, count)

        return best(find, self._chunks, limit, self._vectors)

    def lexical(self, terms: Sequence[str], limit: int, where: Filters) -> Sequence[ScoredChunk]:
        """The best chunks by BM25 over any of ``terms``, best first; ties by folder, path and line.

        A term counts once, however often it stands in ``terms``.
        """
        tokens = tokens_of(terms)
        if limit < 1 or not tokens:
            return ()
        whole = self._resident.whole(self._version)
        found = None if whole is None else whole.lexical(tokens, limit, where)
        if found is not None:
            return found
        scores = self._scores(TERMS, tokens, where)
        return best(lambda count: self._highest(scores, count), self._chunks, limit)

    def quoting(self, phrase: str, terms: Sequence[str], limit: int, where: Filters) -> Sequence[ScoredChunk]:
        """The chunks whose text has ``phrase`` word for word, best first as :meth:`lexical` has them; see the port."""
        tokens = tokens_of(terms)
        whole = self._resident.whole(self._version)
        found = None if whole is None else whole.quoting(phrase, tokens, limit, where)
        if found is not None:
            return found
        scorer = self._version.scorer(TERMS)
        passing = self._passing(where)

        def meeting(needs: Sequence[Need], most: int) -> Rows:
            with self._finds(TERMS) as finds:
                return scorer.meeting(finds, needs, passing, most)

        def score(rows: Rows) -> Scored:
            with self._finds(TERMS) as finds:
                return highest(scorer.scores(finds, tokens, scorer.mask(rows)), len(rows))

        return quoting(phrase, limit, meeting, lambda rows: self._chunks(self._version.addresses(rows)), score)

    def file_chunks(self, ref: FileRef) -> Sequence[StoredChunk]:
        """A file's chunks in order, vectors and terms included; empty if the store has none."""
        columns = f"address, {_SHORT}, {', '.join(TEXTS)}, data"
        with self._version.reading() as db:
            found = db.execute(
                f"SELECT {columns} FROM chunks JOIN texts USING (address) LEFT JOIN vectors USING (address) "  # noqa: S608 - constants only
                "WHERE folder = ? AND path = ?",
                (ref.folder, ref.path),
            ).fetchall()
        chunks = [_whole_chunk(ref, row[1:], self._version.codec) for row in found if self._is_live(row[0])]
        return sorted(chunks, key=lambda chunk: chunk.ordinal)

    def unembedded(self, refs: Collection[FileRef]) -> frozenset[FileRef]:
        """Those of these files of which a chunk waits for its vector."""
        statement = (
            "SELECT address FROM chunks WHERE folder = ? AND path = ? AND address NOT IN (SELECT address FROM vectors)"
        )
        with self._version.reading() as db:
            return frozenset(
                ref
                for ref in refs
                if any(self._is_live(address) for (address,) in db.execute(statement, (ref.folder, ref.path)))
            )

    def naming(self, tokens: Sequence[str], limit: int, where: Filters) -> Sequence[StoredChunk]:
        """Chunks whose names hold any of ``tokens``, by folder, path and line; see the port."""
        wanted = tokens_of(tokens)
        if limit < 1 or not wanted:
            return ()
        addresses, _ = self._highest(self._scores(NAMES, wanted, where), limit)
        found = self._read(addresses, "text, symbols")
        return sorted(found, key=lambda chunk: (chunk.ref, chunk.start_line, chunk.ordinal))

    def count(self, where: Filters) -> int:
        """How many rows pass ``where``."""
        return sum(int(mask.sum()) for mask in self._version.passing(where).values())

    def labels(self, where: Filters) -> Labels:
        """What the rows that pass ``where`` have that a filter can name; see the port."""
        values: tuple[set[str], ...] = (set(), set(), set(), set(), set())
        count = 0
        for row in self._passing_rows(where):
            count += 1
            for known, value in zip(values, row, strict=True):
                known.add(value)
        languages, kinds, statuses, dates, paths = values
        return Labels.of(count, languages=languages, kinds=kinds, statuses=statuses, dates=dates, paths=paths)

    def _passing_rows(self, where: Filters) -> Iterator[tuple[str, ...]]:
        """Language, kind, status, date and path of the rows that pass."""
        statement = "SELECT address, language, kind, status, date, path FROM chunks WHERE address >= ? AND address < ?"
        masks = self._version.passing(where)
        with self._version.reading() as db:
            for number, mask in masks.items():
                borders = (first_address(number), first_address(number + 1))
                for address, *row in db.execute(statement, borders):
                    if mask[address & OFFSETS]:
                        yield tuple(row)

    def _scores(self, field: int, tokens: Sequence[str], where: Filters) -> Scores:
        """Of all rows, numbered through all fragments."""
        with self._finds(field) as finds:
            return self._version.scorer(field).scores(finds, tokens, self._passing(where))

    def _highest(self, scores: Scores, count: int) -> Scored:
        rows, chosen = highest(scores, count)
        return self._version.addresses(rows), chosen

    def _passing(self, where: Filters) -> Mask:
        """The rows that pass, of all fragments one after another."""
        return np.concatenate([np.zeros(0, bool), *self._version.passing(where).values()])

    @contextmanager
    def _finds(self, field: int) -> Iterator[Sequence[Find]]:
        """What gives the rows of each fragment that a term of a field stands in."""
        with self._version.reading() as db:
            yield [partial(stored_postings, db, number, field) for number in self._version.parts]

    def _selections(self, where: Filters) -> Iterator[Selection]:
        """The rows that pass, with their vectors: of one fragment at a time."""
        addresses = self._version.rows(where)
        fragments = addresses >> np.uint64(32)
        for number in np.unique(fragments).tolist():
            own = addresses[fragments == number]
            yield Selection.of(self._version.vectors(number), own, (own & np.uint64(OFFSETS)).astype(np.int32))

    def _chunks(self, addresses: Rows) -> list[StoredChunk]:
        """The rows at ``addresses``, in that order: from memory, and those that are not there from the file."""
        found = self._resident.chunks(self._version, addresses)
        missing = [position for position, chunk in enumerate(found) if chunk is None]
        if missing:
            for position, chunk in zip(missing, self._read(addresses[missing], "text"), strict=True):
                found[position] = chunk
        return [chunk for chunk in found if chunk is not None]

    def _vectors(self, addresses: Rows) -> Vectors:
        """Those of the rows at ``addresses``, in that order, from the file."""
        wanted: list[int] = addresses.tolist()
        stored: dict[int, bytes] = {}
        with self._version.reading() as db:
            for start in range(0, len(wanted), _ROWS_A_QUERY):
                part = wanted[start : start + _ROWS_A_QUERY]
                marks = ", ".join("?" * len(part))
                stored |= db.execute(f"SELECT address, data FROM vectors WHERE address IN ({marks})", part)  # noqa: S608 - marks only
        joined = b"".join(stored[address] for address in wanted)
        return decoded(self._version.codec.from_bytes(joined)).astype(np.float32)

    def _read(self, addresses: Rows, texts: str) -> list[StoredChunk]:
        """The rows at ``addresses``, in that order, from the file."""
        wanted: list[int] = addresses.tolist()
        rows: dict[int, Sequence[Any]] = {}
        with self._version.reading() as db:
            for start in range(0, len(wanted), _ROWS_A_QUERY):
                part = wanted[start : start + _ROWS_A_QUERY]
                rows |= _rows_at(db, part, texts)
            return shared_chunks([rows[address] for address in wanted])

    def _is_live(self, address: int) -> bool:
        part = self._version.parts.get(address >> 32)
        return part is not None and bool(part.live[address & OFFSETS])


def _rows_at(db: sqlite3.Connection, addresses: Sequence[int], texts: str) -> dict[int, Sequence[Any]]:
    marks = ", ".join("?" * len(addresses))
    statement = f"SELECT address, {_SHORT}, {texts} FROM chunks JOIN texts USING (address) WHERE address IN ({marks})"  # noqa: S608 - constants only
    return {address: row for address, *row in db.execute(statement, addresses)}


def _whole_chunk(ref: FileRef, row: Sequence[Any], codec: VectorCodec) -> StoredChunk:
    middle = len(COLUMNS)
    vector = None if row[-1] is None else decoded(codec.from_bytes(row[-1]))[0]
    return chunk_of(row[:middle], ref, row[middle:-1], vector)
