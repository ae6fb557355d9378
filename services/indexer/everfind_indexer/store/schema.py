"""The table's columns as Arrow types, and files' chunks as rows of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.ma  # Arrow's first array needs it; numpy's own late import of it can recurse for ever in two threads
import numpy.typing as npt
import pyarrow as pa

from everfind_core.index.store_schema import (
    CHUNK_ID,
    COMPRESSED_COLUMNS,
    DATE,
    FILE_ID,
    FOLDER,
    NUMBER_COLUMNS,
    PATH,
    STATUS,
    STRING_COLUMNS,
    SUCCESSOR,
    VECTOR,
    file_id,
)
from everfind_core.index.vector_codec import VectorCodec, decoded
from everfind_core.lifecycle import Fate, join_refs
from everfind_core.model import FileRef
from everfind_core.ports import FileChunks, StoredChunk
from everfind_indexer.store.encoding import encoded

_PRIMARY_KEY = {"lance-schema:unenforced-primary-key": "true"}
_READ_BACK = tuple(name for name in (*STRING_COLUMNS, *NUMBER_COLUMNS) if name != FILE_ID)
_COMPRESSED = {"lance-encoding:compression": "zstd", "lance-encoding:structural-encoding": "miniblock"}
"""Some rows at a time, not each alone: a third smaller, and reading a row costs the same."""


def table_schema(codec: VectorCodec) -> pa.Schema:
    """The schema of a table whose vectors are stored by ``codec``."""
    return pa.schema(
        [pa.field(name, pa.string(), nullable=False, metadata=_metadata(name)) for name in STRING_COLUMNS]
        + [pa.field(name, pa.int32(), nullable=False) for name in NUMBER_COLUMNS]
        + [pa.field(VECTOR, _vector_type(codec), nullable=True)]
    )


def _vector_type(codec: VectorCodec) -> pa.FixedSizeListType:
    return pa.list_(pa.from_numpy_dtype(codec.dtype), codec.width)


def _metadata(column: str) -> dict[str, str] | None:
    if column == CHUNK_ID:
        return _PRIMARY_KEY
    return _COMPRESSED if column in COMPRESSED_COLUMNS else None


def to_table(files: Iterable[FileChunks], codec: VectorCodec) -> pa.Table:
    """The rows of ``files`` in their order, their vectors stored by ``codec``.

    Raises:
        InternalError: a vector has other dimensions than the table, or a number that is not finite.
    """
    rows = [(file, chunk) for file in files for chunk in file.chunks]
    derived = {
        FILE_ID: [file_id(file.ref) for file, _ in rows],
        FOLDER: [file.ref.folder for file, _ in rows],
        PATH: [file.ref.path for file, _ in rows],
    }
    chunks = [chunk for _, chunk in rows]
    schema = table_schema(codec)
    columns = [
        _vectors(chunks, codec) if field.name == VECTOR else pa.array(_values(field.name, chunks, derived), field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def to_files(rows: pa.Table, codec: VectorCodec) -> dict[FileRef, tuple[StoredChunk, ...]]:
    """Whole rows of the table as chunks, by file and in order."""
    columns: dict[str, Sequence[Any]] = {name: rows[name].to_numpy().tolist() for name in _READ_BACK}
    columns["ref"] = list(map(FileRef, columns[FOLDER], columns[PATH]))
    columns[VECTOR] = _vectors_or_none(rows, codec)
    files: dict[FileRef, list[StoredChunk]] = defaultdict(list)
    for chunk in map(StoredChunk, *(columns[field.name] for field in fields(StoredChunk))):
        files[chunk.ref].append(chunk)
    return {ref: tuple(sorted(chunks, key=lambda chunk: chunk.ordinal)) for ref, chunks in files.items()}


def vectors_there(rows: pa.Table, codec: VectorCodec) -> npt.NDArray[np.floating]:
    """The vectors of those rows that have one, of shape (those rows, dimensions)."""
    numbers = rows[VECTOR].combine_chunks().flatten().to_numpy(zero_copy_only=False)
    return decoded(numbers.reshape(-1, codec.width))


def _vectors_or_none(rows: pa.Table, codec: VectorCodec) -> list[npt.NDArray[np.floating] | None]:
    present = iter(vectors_there(rows, codec))
    return [next(present) if there else None for there in rows[VECTOR].is_valid().to_pylist()]


def restated(rows: pa.Table, fates: Mapping[str, Fate]) -> pa.Table:
    """Rows of the table with the fates of their files, which are given by file id."""
    of_rows = [fates[one] for one in rows[FILE_ID].to_pylist()]
    columns = {
        STATUS: [fate.status for fate in of_rows],
        DATE: [fate.date for fate in of_rows],
        SUCCESSOR: [join_refs(fate.successors) for fate in of_rows],
    }
    for name, values in columns.items():
        place = rows.schema.get_field_index(name)
        rows = rows.set_column(place, rows.schema.field(place), pa.array(values, pa.string()))
    return rows


def _values(column: str, chunks: Sequence[StoredChunk], derived: dict[str, list[str]]) -> list[Any]:
    return derived[column] if column in derived else [getattr(chunk, column) for chunk in chunks]


def _vectors(chunks: Sequence[StoredChunk], codec: VectorCodec) -> pa.Array:
    stored = [encoded(chunk, codec) for chunk in chunks]
    absent = np.zeros(codec.width, codec.dtype)
    numbers = np.array([absent if one is None else one for one in stored], codec.dtype).reshape(-1)
    missing = [one is None for one in stored]
    mask = pa.array(missing) if any(missing) else None
    return pa.FixedSizeListArray.from_arrays(pa.array(numbers), type=_vector_type(codec), mask=mask)
