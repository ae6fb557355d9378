"""What an index holds, to compare one with another."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def content_of(index_directory: Path) -> list[tuple[Any, ...]]:
    """The rows of the only index below a directory, without what depends on the order of commits."""
    import lance

    (table,) = index_directory.glob("indexes/*/chunks.lance")
    columns = ["folder", "path", "ordinal", "start_line", "end_line", "text", "terms", "embedding_key"]
    rows = lance.dataset(str(table)).to_table(columns=columns)
    return sorted(zip(*(rows[name].to_pylist() for name in columns), strict=True))
