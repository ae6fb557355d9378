"""The reading side of the store: any number of processes read the table that one indexer writes.

It is an ordinary LanceDB table, read through pylance, the library below LanceDB: importing ``lancedb`` costs a second
(a REST client that a local table never needs), ``lance`` a fifth of that, and a query is no slower.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from everfind_core.ports import ChunkReader

os.environ.setdefault("LANCE_LOG", "error")  # read when lance is imported; its warnings are for its developers


RESIDENT_BYTES: Final = 384 << 20
"""What a reader keeps in memory at most, unless told otherwise."""


def open_reader(directory: Path, resident_bytes: int = RESIDENT_BYTES) -> ChunkReader:
    """The store in ``directory``, for reading; nothing is ever written there.

    Once it is asked again it keeps rows and vectors in memory, at most ``resident_bytes`` of them.

    Raises:
        IndexMissingError: there is no table.
        IndexIncompatibleError: the table has other columns.
        IndexDamagedError: it cannot be read.
        StorageError: its files may not be read.
    """
    from everfind_searcher.store.reader import LanceChunkReader

    return LanceChunkReader(directory, resident_bytes)
