"""One version of the table: all that a query reads comes from the same commit."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
from lance.query import BooleanQuery, FullTextOperator, FullTextQuery, MatchQuery, Occur

from everfind_core.index.store_errors import LIBRARY_ERRORS, panics_are_damage
from everfind_core.index.store_schema import (
    DATE,
    FILE_ID,
    FOLDER,
    HIT_COLUMNS,
    KIND,
    LANGUAGE,
    METRIC,
    NAMES,
    NUMBER_COLUMNS,
    PATH,
    PROBES,
    REFINE_FACTOR,
    STATUS,
    STRING_COLUMNS,
    SYMBOLS,
    TERMS,
    VECTOR,
    file_id,
    lance_compares,
    sql_in,
    sql_string,
)
from everfind_core.index.vector_codec import VectorCodec
from everfind_core.model import FileRef, Filters, Vector, Vectors
from everfind_core.ports import Labels, ScoredChunk, StoredChunk
from everfind_core.text.lexical import Need
from everfind_searcher.store.best import Rows, Scored, best
from everfind_searcher.store.bm25 import tokens_of
from everfind_searcher.store.copies import Addresses
from everfind_searcher.store.errors import translate
from everfind_searcher.store.exact import asked_vector, cosines, nearest, nearest_of_parts
from everfind_searcher.store.filters import condition
from everfind_searcher.store.in_memory import rounded
from everfind_searcher.store.lance_version import ADDRESS, LanceVersion
from everfind_searcher.store.quoting import quoting
from everfind_searcher.store.resident import ResidentRows
from everfind_searcher.store.rows import chunks, vectors

_DISTANCE: Final = "_distance"
_SCORE: Final = "_score"


class LanceSnapshot:
    """A :class:`~everfind_core.ports.ChunkSnapshot` of one version. Thread-safe.

    The store says which rows match. What stands in them comes from ``resident`` where it has them, and how well they
    match where it has all of them. ``codec`` has stored the table's vectors: each look at a schema keeps some memory,
    so that it is the reader's, once a version.
    """

    def __init__(self, version: LanceVersion, resident: ResidentRows, *, codec: VectorCodec) -> None:
        self._version = version
        self._codec = codec
        self._resident = resident

    def generation(self) -> int:
        """The table's version."""
        return self._version.dataset.version

    def semantic(self, vector: Vector, limit: int, where: Filters) -> Sequence[ScoredChunk]:
        """The nearest chunks by cosine, best first; ties by folder, path and line. A zero vector is near nothing.

        Raises:
            InvalidRequestError: ``vector`` has other dimensions than the table or is not finite, or a filter is wrong.
        """
        query = asked_vector(vector, self._codec.dimensions)
        if limit < 1 or not query.any():
            return ()
        matching = condition(where)
        if (whole := self._resident.whole(self._version)) is not None:
            return whole.semantic(query, limit, where)

        seen: dict[int, Vector] = {}

        def find(count: int) -> Scored:
            if not lance_compares(self._codec):
                return nearest_of_parts(self._version.vectors(matching), query, count)
            near = {"column": VECTOR, "q": query, "k": REFINE_FACTOR * count, "metric": METRIC, "nprobes": PROBES}
            found = self._scan(columns=[_DISTANCE], nearest=near, filter=matching, prefilter=True)
            return self._compare(found[ADDRESS].to_numpy(), query, count, seen)

        return best(find, self._chunks, limit, lambda rows: self._vectors(rows, seen))

    def lexical(self, terms: Sequence[str], limit: int, where: Filters) -> Sequence[ScoredChunk]:
        """The best chunks by BM25 over any of ``terms``, best first; ties by folder, path and line.

        A term counts once, however often it stands in ``terms``.
        """
        tokens = tokens_of(terms)
        if limit < 1 or not tokens:
            return ()
        matching = condition(where)
        if whole := self._resident.whole(self._version):
            found = whole.lexical(tokens, limit, where)
            if found is not None:
                return found

        def find(count: int) -> Scored:
            query = MatchQuery(" ".join(tokens), TERMS)
            found = self._scan(columns=[_SCORE], full_text_query=query, limit=count, filter=matching, prefilter=True)
            return found[ADDRESS].to_numpy(), found[_SCORE].to_numpy()

        return best(find, self._chunks, limit)

    def quoting(self, phrase: str, terms: Sequence[str], limit: int, where: Filters) -> Sequence[ScoredChunk]:
        """The chunks whose text has ``phrase`` word for word, best first as :meth:`lexical` has them; see the port."""
        tokens = tokens_of(terms)
        matching = condition(where)
        if whole := self._resident.whole(self._version):
            found = whole.quoting(phrase, tokens, limit, where)
            if found is not None:
                return found

        def meeting(needs: Sequence[Need], most: int) -> Rows:
            query = needing(needs)
            found = self._scan(columns=[_SCORE], full_text_query=query, limit=most, filter=matching, prefilter=True)
            rows: Rows = found[ADDRESS].to_numpy()
            return rows

        def score(rows: Rows) -> Scored:
            return self._score_of(rows, tokens)

        return quoting(phrase, limit, meeting, self._chunks, score)

    def file_chunks(self, ref: FileRef) -> Sequence[StoredChunk]:
        """A file's chunks in order, vectors and terms included; empty if the store has none."""
        rows = self._scan(
            columns=[*STRING_COLUMNS, *NUMBER_COLUMNS, VECTOR], filter=f"{FILE_ID} = {sql_string(file_id(ref))}"
        )
        return sorted(chunks(rows), key=lambda chunk: chunk.ordinal)

    def unembedded(self, refs: Collection[FileRef]) -> frozenset[FileRef]:
        """Those of these files of which a chunk waits for its vector."""
        if not refs:
            return frozenset()
        files = sql_in(FILE_ID, [file_id(ref) for ref in refs])
        rows = self._scan(columns=[FOLDER, PATH], filter=f"{files} AND {VECTOR} IS NULL")
        return frozenset(map(FileRef, rows[FOLDER].to_pylist(), rows[PATH].to_pylist()))

    def naming(self, tokens: Sequence[str], limit: int, where: Filters) -> Sequence[StoredChunk]:
        """Chunks whose names hold any of ``tokens``, by folder, path and line; see the port."""
        text = " ".join(dict.fromkeys(tokens))
        if limit < 1 or not text.strip():
            return ()
        found = self._scan(
            columns=[*HIT_COLUMNS, SYMBOLS],
            full_text_query=MatchQuery(text, NAMES),
            limit=limit,
            filter=condition(where),
            prefilter=True,
        )
        return sorted(chunks(found), key=lambda chunk: (chunk.ref, chunk.start_line, chunk.ordinal))

    def count(self, where: Filters) -> int:
        """How many rows pass ``where``."""
        return int(self._scan(columns=[], filter=condition(where)).num_rows)

    def labels(self, where: Filters) -> Labels:
        """What the rows that pass ``where`` have that a filter can name; see the port."""
        rows = self._scan(columns=[LANGUAGE, KIND, STATUS, DATE, PATH], filter=condition(where))
        languages, kinds, statuses, dates, paths = (
            rows[name].unique().to_pylist() for name in (LANGUAGE, KIND, STATUS, DATE, PATH)
        )
        return Labels.of(rows.num_rows, languages=languages, kinds=kinds, statuses=statuses, dates=dates, paths=paths)

    def _compare(self, addresses: Addresses, query: Vector, count: int, seen: dict[int, Vector]) -> Scored:
        """The ``count`` rows nearest to ``query`` by their exact vectors: the store found them by quantized ones."""
        compared = self._vectors(addresses, seen)
        lengths = np.linalg.norm(compared, axis=1)
        return nearest(addresses, cosines(compared, lengths, rounded(query)), count)

    def _vectors(self, addresses: Rows, seen: dict[int, Vector]) -> Vectors:
        """Those of the rows at ``addresses``, in that order: from memory, else from the store, once each (``seen``)."""
        found = np.zeros((len(addresses), self._codec.dimensions), dtype=np.float32)
        missing = ~self._resident.vectors(self._version, addresses, into=found)
        if missing.any():
            wanted = addresses[missing]
            unread = wanted[[address not in seen for address in wanted.tolist()]]
            if len(unread):
                seen.update(zip(unread.tolist(), vectors(self._stored(unread, [VECTOR])), strict=True))
            found[missing] = [seen[address] for address in wanted.tolist()]
        return found

    def _chunks(self, addresses: Rows) -> list[StoredChunk]:
        """The rows at ``addresses``, in that order: from memory, and those that are not there from the store."""
        found = self._resident.chunks(self._version, addresses)
        missing = [position for position, chunk in enumerate(found) if chunk is None]
        if missing:
            for position, chunk in zip(
                missing, chunks(self._stored(addresses[missing], list(HIT_COLUMNS))), strict=True
            ):
                found[position] = chunk
        return [chunk for chunk in found if chunk is not None]

    def _score_of(self, addresses: Rows, tokens: Sequence[str]) -> Scored:
        """Those of the rows at ``addresses`` that match ``tokens``, with their scores, in no order."""
        if not len(addresses) or not tokens:
            return np.zeros(0, np.uint64), np.zeros(0, np.float32)
        query = MatchQuery(" ".join(tokens), TERMS)
        found = self._scan(
            columns=[_SCORE],
            full_text_query=query,
            limit=len(addresses),
            filter=_among(addresses),
            prefilter=True,
        )
        return found[ADDRESS].to_numpy(), found[_SCORE].to_numpy()

    def _stored(self, addresses: Addresses, columns: list[str]) -> pa.Table:
        """Columns of the rows at ``addresses``, in that order, from the store."""
        rows = self._scan(columns=columns, filter=_among(addresses))
        read = rows[ADDRESS].to_numpy()
        by_address = np.argsort(read)
        return rows.take(by_address[np.searchsorted(read[by_address], addresses)]).drop_columns([ADDRESS])

    def _scan(self, **options: Any) -> pa.Table:
        try:
            with panics_are_damage(self._version.directory):
                scanner = self._version.dataset.scanner(
                    with_row_address=True,
                    disable_scoring_autoprojection=True,  # no column that was not asked for
                    **options,
                )
                return scanner.to_table()
        except LIBRARY_ERRORS as error:
            raise translate(error, self._version.directory) from error


def _among(addresses: Addresses) -> str:
    """The condition that a row is at one of ``addresses``."""
    return f"{ADDRESS} IN ({', '.join(map(str, addresses.tolist()))})"


def needing(needs: Sequence[Need]) -> FullTextQuery:
    """Finds the rows that have, for each of ``needs``, all terms of one way."""
    return BooleanQuery([(Occur.MUST, _one_of(need)) for need in needs])


def _one_of(need: Need) -> FullTextQuery:
    ways = [MatchQuery(" ".join(way), TERMS, operator=FullTextOperator.AND) for way in need]
    return BooleanQuery([(Occur.SHOULD, way) for way in ways])
