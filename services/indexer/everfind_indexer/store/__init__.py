"""The writing side of the store: a LanceDB table in the index directory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from everfind_core.ports import ChunkWriter

os.environ.setdefault("LANCE_LOG", "error")  # read when lance is imported; its warnings are for its developers


def open_writer(directory: Path, dimensions: int) -> ChunkWriter:
    """The store in ``directory``, created there if absent, for vectors of ``dimensions`` numbers.

    The caller holds the index lock.

    Raises:
        IndexIncompatibleError: the table there has other columns or dimensions.
        IndexDamagedError: it cannot be read.
        StorageError: the directory cannot be written.
    """
    from everfind_indexer.store.writer import LanceChunkWriter

    return LanceChunkWriter(directory, dimensions)
