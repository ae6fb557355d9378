"""How large the table of chunks is on the disk."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from everfind_core.errors import IndexMissingError
from everfind_core.index_directory import current_index
from everfind_core.store_schema import TABLE_DIRECTORY

TABLE_DATA = "data"
"""Where in the table's directory its data files lie."""


def table_size(index_directory: str) -> tuple[int, int]:
    """Data files, and bytes of all files, of the current index's table; nothing before the first run.

    Raises:
        IndexDamagedError, IndexIncompatibleError: as :func:`current_index`.
    """
    try:
        table = current_index(Path(index_directory)).directory / TABLE_DIRECTORY
    except IndexMissingError:
        return 0, 0
    files = size = 0
    for root, _, names in os.walk(table):
        files += len(names) if Path(root) == table / TABLE_DATA else 0
        for name in names:
            with contextlib.suppress(OSError):  # it vanished meanwhile
                size += (Path(root) / name).lstat().st_size
    return files, size
