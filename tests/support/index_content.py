"""What an index holds, to compare one with another."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from everfind_core.index.directory import current_index
from everfind_core.index.sqlite_schema import DATABASE
from everfind_core.index.store_backends import StoreBackend
from everfind_core.index.store_schema import FILE_ID, NUMBER_COLUMNS, STRING_COLUMNS, TABLE_DIRECTORY, VECTOR
from everfind_indexer.store.sqlite.fragments import LIVE

FIRST = ("folder", "path", "ordinal", "start_line", "end_line", "text", "terms", "embedding_key")


def content_of(index_directory: Path) -> list[tuple[Any, ...]]:
    """All that the rows of the index that answers hold, but for vectors; in no order of commits."""
    location = current_index(index_directory)
    columns = [*FIRST, *(name for name in (*STRING_COLUMNS, *NUMBER_COLUMNS) if name not in (*FIRST, FILE_ID))]
    if location.manifest.store is StoreBackend.SQLITE:
        with closing(sqlite3.connect(location.directory / DATABASE)) as db:
            wanted = f"SELECT {', '.join(columns)} FROM chunks JOIN texts USING (address) WHERE {LIVE}"
            return sorted(db.execute(wanted))
    import lance

    rows = lance.dataset(str(location.directory / TABLE_DIRECTORY)).to_table(columns=columns)
    return sorted(zip(*(rows[name].to_pylist() for name in columns), strict=True))


def vectors_of(index_directory: Path) -> dict[str, npt.NDArray[np.floating]]:
    """The vector of each row of the index that answers, a LanceDB table of vectors in half precision, by chunk id."""
    import lance

    rows = lance.dataset(str(current_index(index_directory).directory / TABLE_DIRECTORY)).to_table()
    vectors = rows[VECTOR].combine_chunks().flatten().to_numpy().reshape(rows.num_rows, -1)
    return dict(zip(rows["chunk_id"].to_pylist(), vectors, strict=True))
