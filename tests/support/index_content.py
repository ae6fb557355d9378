"""What an index holds, to compare one with another."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from everfind_core.index.directory import current_index
from everfind_core.index.sqlite_schema import DATABASE
from everfind_core.index.store_backends import StoreBackend
from everfind_core.index.store_schema import TABLE_DIRECTORY
from everfind_indexer.store.sqlite.fragments import LIVE


def content_of(index_directory: Path) -> list[tuple[Any, ...]]:
    """The rows of the index that answers, without what depends on the order of commits."""
    location = current_index(index_directory)
    columns = ["folder", "path", "ordinal", "start_line", "end_line", "text", "terms", "embedding_key"]
    if location.manifest.store is StoreBackend.SQLITE:
        with closing(sqlite3.connect(location.directory / DATABASE)) as db:
            wanted = f"SELECT {', '.join(columns)} FROM chunks JOIN texts USING (address) WHERE {LIVE}"
            return sorted(db.execute(wanted))
    import lance

    rows = lance.dataset(str(location.directory / TABLE_DIRECTORY)).to_table(columns=columns)
    return sorted(zip(*(rows[name].to_pylist() for name in columns), strict=True))
