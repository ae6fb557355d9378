"""The reader: both arms over the newest version of the table."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import lance
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from lance.dataset import Session  # type: ignore[attr-defined]  # public, but lance imports it under this name
from lance.query import MatchQuery

from everfind_core.errors import EverfindError, IndexDamagedError, IndexIncompatibleError, InvalidRequestError
from everfind_core.index_directory import REBUILD_HINT
from everfind_core.model import FileRef, Filters
from everfind_core.ports import ScoredChunk, StoredChunk
from everfind_core.store_errors import LIBRARY_ERRORS
from everfind_core.store_schema import (
    FILE_ID,
    FOLDER,
    HIT_COLUMNS,
    METRIC,
    NAMES,
    NUMBER_COLUMNS,
    PATH,
    PROBES,
    REFINE_FACTOR,
    STRING_COLUMNS,
    SYMBOLS,
    TABLE_DIRECTORY,
    TERMS,
    VECTOR,
    file_id,
    sql_string,
)
from everfind_searcher.store.errors import missing, translate, vanished
from everfind_searcher.store.filters import condition

_INDEX_CACHE_BYTES: Final = 512 << 20
_METADATA_CACHE_BYTES: Final = 64 << 20
_SPARE: Final = 16
"""Rows read beyond the limit, so that rows of equal score are cut by name and not by chance."""

_MOST: Final = 4_096
"""Rows that are read at most where more of equal score stand at the limit."""

_DISTANCE: Final = "_distance"
_SCORE: Final = "_score"


class LanceChunkReader:
    """A :class:`~everfind_core.ports.ChunkReader` on a LanceDB table. Thread-safe; calls run in parallel."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory.absolute()
        self._guard = threading.Lock()
        self._session = Session(
            index_cache_size_bytes=_INDEX_CACHE_BYTES, metadata_cache_size_bytes=_METADATA_CACHE_BYTES
        )
        self._dataset = self._open()

    def generation(self) -> int:
        """The table's newest version."""
        return self._newest().version

    def semantic(self, vector: npt.NDArray[np.float32], limit: int, where: Filters) -> Sequence[ScoredChunk]:
        """The nearest chunks by cosine, best first; ties by folder, path and line. A zero vector is near nothing.

        Raises:
            InvalidRequestError: ``vector`` has other dimensions than the table or is not finite, or a filter is wrong.
        """
        query = np.asarray(vector, dtype=np.float32)
        if not np.isfinite(query).all():
            raise InvalidRequestError.of("vector", "holds a number that is not finite")
        if limit < 1 or not query.any():
            return ()
        self._check_dimensions(query)
        matching = condition(where)

        def find(count: int) -> pa.Table:
            return self._read(
                columns=[*HIT_COLUMNS, _DISTANCE],
                nearest={
                    "column": VECTOR,
                    "q": query,
                    "k": count,
                    "metric": METRIC,
                    "nprobes": PROBES,
                    "refine_factor": REFINE_FACTOR,
                },
                filter=matching,
                prefilter=True,
            )

        return _best(find, limit, _DISTANCE, lambda distance: 1.0 - distance)

    def lexical(self, terms: Sequence[str], limit: int, where: Filters) -> Sequence[ScoredChunk]:
        """The best chunks by BM25 over any of ``terms``, best first; ties by folder, path and line.

        A term counts once, however often it stands in ``terms``.
        """
        text = " ".join(dict.fromkeys(terms)).encode("utf-8", "replace").decode()
        if limit < 1 or not text.strip():
            return ()
        matching = condition(where)

        def find(count: int) -> pa.Table:
            return self._read(
                columns=[*HIT_COLUMNS, _SCORE],
                full_text_query=MatchQuery(text, TERMS),
                limit=count,
                filter=matching,
                prefilter=True,
            )

        return _best(find, limit, _SCORE, float)

    def file_chunks(self, ref: FileRef) -> Sequence[StoredChunk]:
        """A file's chunks in order, vectors and terms included; empty if the store has none."""
        rows = self._read(
            columns=[*STRING_COLUMNS, *NUMBER_COLUMNS, VECTOR], filter=f"{FILE_ID} = {sql_string(file_id(ref))}"
        )
        return sorted(_chunks(rows), key=lambda chunk: chunk.ordinal)

    def naming(self, tokens: Sequence[str], limit: int, where: Filters) -> Sequence[StoredChunk]:
        """Chunks whose names hold any of ``tokens``, by folder, path and line; see the port."""
        text = " ".join(dict.fromkeys(tokens))
        if limit < 1 or not text.strip():
            return ()
        rows = self._read(
            columns=[*HIT_COLUMNS, SYMBOLS],
            full_text_query=MatchQuery(text, NAMES),
            limit=limit,
            filter=condition(where),
            prefilter=True,
        )
        return sorted(_chunks(rows), key=lambda chunk: (chunk.ref, chunk.start_line, chunk.ordinal))

    def _check_dimensions(self, query: npt.NDArray[np.float32]) -> None:
        dimensions = self._dataset.schema.field(VECTOR).type.list_size
        if query.shape != (dimensions,):
            raise InvalidRequestError.of("vector", f"has shape {query.shape}, the index has {dimensions} numbers")

    def _read(self, **options: Any) -> pa.Table:
        """Run one scan; once more on the newest version if a file went away meanwhile."""
        dataset = self._newest()
        try:
            return dataset.scanner(**options).to_table()
        except LIBRARY_ERRORS as error:
            if not vanished(error):
                raise translate(error, self._directory) from error
        dataset = self._reopen()
        try:
            return dataset.scanner(**options).to_table()
        except LIBRARY_ERRORS as error:
            raise translate(error, self._directory) from error

    def _newest(self) -> lance.LanceDataset:
        dataset = self._dataset
        try:
            current = dataset.latest_version == dataset.version
        except LIBRARY_ERRORS:
            current = False
        return dataset if current else self._reopen()

    def _reopen(self) -> lance.LanceDataset:
        with self._guard:
            self._dataset = self._open()
            return self._dataset

    def _open(self) -> lance.LanceDataset:
        table = self._directory / TABLE_DIRECTORY
        try:
            dataset = lance.dataset(str(table), session=self._session)
        except LIBRARY_ERRORS as error:
            raise self._unopened(error, table) from error
        absent = {*STRING_COLUMNS, *NUMBER_COLUMNS, VECTOR} - set(dataset.schema.names)
        if absent:
            raise IndexIncompatibleError(
                f"the table in {self._directory} lacks the column {min(absent)}", hint=REBUILD_HINT
            )
        return dataset

    def _unopened(self, error: Exception, table: Path) -> EverfindError:
        translated = translate(error, self._directory, opening=True)
        written = (table / "data").is_dir() or (table / "_versions").is_dir()
        if isinstance(translated, IndexDamagedError) and not written:
            return missing(self._directory)
        return translated


def _best(
    find: Callable[[int], pa.Table], limit: int, score_column: str, to_score: Callable[[float], float]
) -> Sequence[ScoredChunk]:
    """The first ``limit`` rows by score, then by folder, path and line."""
    count = limit + _SPARE
    rows = find(count)
    while rows.num_rows == count < _MOST and rows[score_column][-1] == rows[score_column][limit - 1]:
        count = min(4 * count, _MOST)
        rows = find(count)
    scores = [to_score(raw) for raw in rows[score_column].to_pylist()]
    scored = [ScoredChunk(chunk, score) for chunk, score in zip(_chunks(rows), scores, strict=True)]
    return sorted(scored, key=_order)[:limit]


def _order(found: ScoredChunk) -> tuple[float, FileRef, int, int]:
    return (-found.score, found.chunk.ref, found.chunk.start_line, found.chunk.ordinal)


def _chunks(rows: pa.Table) -> list[StoredChunk]:
    """The rows as chunks; terms, names, symbols and vector only where they were read."""
    wanted = {*HIT_COLUMNS, NAMES, SYMBOLS}
    columns = {name: rows[name].to_pylist() for name in rows.column_names if name in wanted}
    folders, paths = columns.pop(FOLDER), columns.pop(PATH)
    columns[TERMS] = rows[TERMS].to_pylist() if TERMS in rows.column_names else [""] * rows.num_rows
    columns[VECTOR] = _vectors(rows) if VECTOR in rows.column_names else [None] * rows.num_rows
    refs = [FileRef(folder, path) for folder, path in zip(folders, paths, strict=True)]
    names = tuple(columns)
    return [
        StoredChunk(ref=ref, **dict(zip(names, values, strict=True)))
        for ref, values in zip(refs, zip(*columns.values(), strict=True), strict=True)
    ]


def _vectors(rows: pa.Table) -> list[npt.NDArray[np.float16] | None]:
    return [None if value is None else np.array(value, dtype=np.float16) for value in rows[VECTOR].to_pylist()]
