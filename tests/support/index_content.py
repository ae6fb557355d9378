"""What an index holds, to compare one with another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from everfind_core.index_directory import current_index
from everfind_core.store_schema import TABLE_DIRECTORY


def content_of(index_directory: Path) -> list[tuple[Any, ...]]:
    """The rows of the index that answers, without what depends on the order of commits."""
    import lance

    table = current_index(index_directory).directory / TABLE_DIRECTORY
    columns = ["folder", "path", "ordinal", "start_line", "end_line", "text", "terms", "embedding_key"]
    rows = lance.dataset(str(table)).to_table(columns=columns)
    return sorted(zip(*(rows[name].to_pylist() for name in columns), strict=True))
