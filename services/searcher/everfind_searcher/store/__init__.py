"""The reading side of the store: any number of processes read the table that one indexer writes.

It is an ordinary LanceDB table, read through pylance, the library below LanceDB: importing ``lancedb`` costs a second
(a REST client that a local table never needs), ``lance`` a fifth of that, and a query is no slower.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from everfind_core.ports import ChunkReader

os.environ.setdefault("LANCE_LOG", "error")  # read when lance is imported; its warnings are for its developers


def open_reader(directory: Path) -> ChunkReader:
    """The store in ``directory``, for reading; nothing is ever written there.

    Raises:
        IndexMissingError: there is no table.
        IndexIncompatibleError: the table has other columns.
        IndexDamagedError: it cannot be read.
        StorageError: its files may not be read.
    """
    from everfind_searcher.store.reader import LanceChunkReader

    return LanceChunkReader(directory)
