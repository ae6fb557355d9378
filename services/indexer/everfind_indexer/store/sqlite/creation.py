"""The SQLite store's file, made whole or not at all; and whether one is of this everfind."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from pathlib import Path

from everfind_core.errors import IndexIncompatibleError
from everfind_core.index.json_files import storage_error
from everfind_core.index.manifest import REBUILD_HINT
from everfind_core.index.sqlite_files import sqlite_errors
from everfind_core.index.sqlite_schema import (
    DATABASE,
    FORMAT,
    FRAGMENTS,
    GENERATION,
    OLDEST,
    ROWS,
    SCHEMA,
    codec_of,
    right_schema,
    schema_of,
    vector_facts,
)
from everfind_core.index.vector_codec import VectorCodec
from everfind_indexer.store.sqlite.transactions import fact

_UNFINISHED = f"{DATABASE}.new"


def create_table(directory: Path, codec: VectorCodec) -> None:
    """Make an empty store in ``directory`` for vectors that are stored by ``codec``.

    Raises:
        StorageError: it cannot be written.
    """
    made = directory / _UNFINISHED
    try:
        for left in directory.glob(f"{_UNFINISHED}*"):
            left.unlink()
        with (
            sqlite_errors(directory, write=True),
            contextlib.closing(sqlite3.connect(made, isolation_level=None)) as db,
        ):
            db.execute("PRAGMA auto_vacuum = INCREMENTAL")
            db.executescript(f"BEGIN; {SCHEMA} COMMIT;")
            facts = {GENERATION: 1, OLDEST: 1, FRAGMENTS: 0, ROWS: 0, "format": FORMAT, **vector_facts(codec)}
            db.execute("BEGIN")
            db.executemany("INSERT INTO facts VALUES (?, ?)", facts.items())
            db.execute("INSERT INTO generations VALUES (1, ?)", (time.time(),))
            db.execute("COMMIT")
        made.replace(directory / DATABASE)
    except OSError as error:
        raise storage_error(error, directory) from error


def check_table(db: sqlite3.Connection, directory: Path, codec: VectorCodec) -> None:
    """Refuse a file that another everfind made, or for other vectors.

    Raises:
        IndexIncompatibleError: it is one.
    """
    if fact(db, "format") != FORMAT or codec_of(db) != codec or schema_of(db) != right_schema():
        raise IndexIncompatibleError(
            f"the table in {directory} has other columns or vectors than this everfind writes",
            hint=REBUILD_HINT,
        )
