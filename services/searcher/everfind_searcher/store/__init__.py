"""The reading side of the store: any number of processes read the table that one indexer writes.

As a rule it is an ordinary LanceDB table, read through pylance, the library below LanceDB: importing ``lancedb`` costs
a second (a REST client that a local table never needs), ``lance`` a fifth of that, and a query is no slower. Where
LanceDB cannot be loaded it is a SQLite file.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from everfind_core.index.directory import backend_of
from everfind_core.index.store_backends import StoreBackend, cannot_load, load_problem

if TYPE_CHECKING:
    from everfind_core.ports import ChunkReader

os.environ.setdefault("LANCE_LOG", "error")  # read when lance is imported; its warnings are for its developers


RESIDENT_BYTES: Final = 384 << 20
"""What a reader keeps in memory at most, unless told otherwise."""


def open_reader(
    directory: Path, resident_bytes: int = RESIDENT_BYTES, backend: StoreBackend | None = None
) -> ChunkReader:
    """The store in ``directory``, for reading; nothing is ever written there.

    It is of the kind that the index's manifest names, unless ``backend`` says another. Once it is asked again it keeps
    rows and vectors in memory, at most ``resident_bytes`` of them.

    Raises:
        IndexMissingError: there is no table.
        IndexIncompatibleError: the table has other columns, or its library cannot be loaded here.
        IndexDamagedError: it cannot be read.
        StorageError: its files may not be read.
    """
    if (backend or backend_of(directory)) is StoreBackend.SQLITE:
        from everfind_searcher.store.sqlite.reader import SqliteChunkReader

        return SqliteChunkReader(directory, resident_bytes)
    if problem := load_problem(_load):
        raise cannot_load(directory, problem)
    from everfind_searcher.store.reader import LanceChunkReader

    return LanceChunkReader(directory, resident_bytes)


def _load() -> None:
    import lance  # noqa: F401 - whether it can be is all that is asked
