"""What a directory takes on the disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


def files_below(directory: Path) -> Iterator[tuple[Path, int]]:
    """Each file below ``directory`` with its size in bytes; those that vanish meanwhile are left out."""
    for root, _, names in os.walk(directory):
        for name in names:
            path = Path(root) / name
            try:
                yield path, path.lstat().st_size
            except OSError:
                continue


def bytes_below(directory: Path) -> int:
    """The sizes of all files below ``directory`` together."""
    return sum(size for _, size in files_below(directory))
