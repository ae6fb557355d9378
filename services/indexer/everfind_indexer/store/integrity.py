"""Whether the files of a table are whole, judged by their sizes: what a power cut or a bad copy leaves short."""

from __future__ import annotations

from pathlib import Path

import lance

from everfind_core.errors import IndexDamagedError
from everfind_core.index_directory import REBUILD_HINT


def check_files(dataset: lance.LanceDataset, table: Path) -> None:
    """Compare each data file with the size that its commit noted, and see that each deletion file is there.

    One stat a file: a table has one for thousands of rows.

    Raises:
        IndexDamagedError: one is absent or has another size.
    """
    for fragment in dataset.get_fragments():
        for file in fragment.data_files():
            _check_size(table / "data" / file.path, file.file_size_bytes)
        if deletions := fragment.deletion_file():
            _check_size(table / deletions, None)


def _check_size(path: Path, expected: int | None) -> None:
    try:
        found = path.stat().st_size
    except FileNotFoundError:
        found = -1
    if found < 1 or (expected is not None and found != expected):
        what = "is absent" if found < 0 else f"has {found:,} bytes instead of {expected or 'some':,}"
        raise IndexDamagedError(f"the index is damaged: {path} {what}", hint=REBUILD_HINT)
