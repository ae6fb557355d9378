"""Rows of the table as chunks and vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from everfind_core.index.store_schema import (
    CONTENT_HASH,
    DATE,
    FOLDER,
    HEADING,
    KIND,
    LANGUAGE,
    NAMES,
    PATH,
    STATUS,
    SUCCESSOR,
    SYMBOLS,
    TERMS,
    VECTOR,
)
from everfind_core.index.vector_codec import Stored, VectorCodec, decoded
from everfind_core.model import FileRef
from everfind_core.ports import StoredChunk
from everfind_searcher.store.postings import Postings

_REF: Final = "ref"
_FIELDS: Final = tuple(field.name for field in fields(StoredChunk))
"""In the order of the constructor: for hundreds of chunks a query, naming them costs more than all else here."""

_SHARED: Final = frozenset({FOLDER, PATH, CONTENT_HASH, KIND, LANGUAGE, HEADING, STATUS, DATE, SUCCESSOR})


def chunks(rows: pa.Table) -> list[StoredChunk]:
    """The rows as chunks; terms, names, symbols and vector only where they were read.

    What many rows share, their files above all, is one object.
    """
    columns = {name: _values(rows[name]) for name in rows.column_names if name != VECTOR}
    for name in _SHARED & columns.keys():
        columns[name] = _shared(columns[name])
    files = list(zip(columns[FOLDER], columns[PATH], strict=True))
    refs = {file: FileRef(*file) for file in set(files)}
    columns[_REF] = [refs[file] for file in files]
    for name in (TERMS, NAMES, SYMBOLS):
        columns.setdefault(name, [""] * rows.num_rows)
    columns[VECTOR] = _vectors_or_none(rows) if VECTOR in rows.column_names else [None] * rows.num_rows
    return list(map(StoredChunk, *(columns[name] for name in _FIELDS)))


def codec_of(schema: pa.Schema) -> VectorCodec | None:
    """What stored a table's vectors; None if no everfind of this format did."""
    column = schema.field(VECTOR).type
    if not pa.types.is_fixed_size_list(column):
        return None
    return VectorCodec.of_stored(_dtype(column.value_type), column.list_size)


def _dtype(stored: pa.DataType) -> np.dtype:
    """What numpy calls a type of Arrow, of which old versions ask pandas that need not be there."""
    found: np.dtype = pa.array([], stored).to_numpy(zero_copy_only=False).dtype
    return found


def stored_vectors(rows: pa.Table) -> Stored:
    """The rows' vectors as they are stored, of shape (rows, width); zero where a row has none."""
    column = rows[VECTOR].combine_chunks()
    width = column.type.list_size
    stored: Stored = np.zeros((len(column), width), _dtype(column.type.value_type))
    there = column.is_valid().to_numpy(zero_copy_only=False)
    stored[there] = column.flatten().to_numpy(zero_copy_only=False).reshape(-1, width)  # has none of the others
    return stored


def vectors(rows: pa.Table) -> npt.NDArray[np.floating]:
    """The same to compute with, of shape (rows, dimensions)."""
    return decoded(stored_vectors(rows))


def postings(rows: pa.Table) -> Postings:
    """Where the rows' terms stand, each row by its place in ``rows``."""
    tokens = pc.call_function("split_pattern", [rows[TERMS].combine_chunks()], pc.SplitPatternOptions(" "))
    owners = np.repeat(np.arange(rows.num_rows), np.diff(tokens.offsets.to_numpy()))
    # a row without terms is split into an empty one
    there = pc.call_function("not_equal", [tokens.flatten(), pa.scalar("")])
    lengths = np.bincount(owners[there.to_numpy(zero_copy_only=False)], minlength=rows.num_rows)
    told = tokens.flatten().filter(there).dictionary_encode()
    return Postings.counted(told.dictionary.to_pylist(), told.indices.to_numpy(), lengths)


def _shared(values: Sequence[str]) -> list[str]:
    """Equal values as the same object."""
    known: dict[str, str] = {}
    return list(map(known.setdefault, values, values))


def _values(column: pa.ChunkedArray) -> Sequence[Any]:
    """Python's own strings and numbers, many times faster than ``to_pylist``."""
    values: list[Any] = column.to_numpy(zero_copy_only=False).tolist()
    return values


def _vectors_or_none(rows: pa.Table) -> list[npt.NDArray[np.floating] | None]:
    present = rows[VECTOR].is_valid().to_pylist()
    return [vector if there else None for vector, there in zip(vectors(rows), present, strict=True)]
