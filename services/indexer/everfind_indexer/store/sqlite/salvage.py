"""Takes what is whole of a SQLite store into a new one: of a damaged file, or of one that others write meanwhile."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from everfind_core.errors import IndexDamagedError
from everfind_core.index.sqlite_files import connect, opened_for_reading, sqlite_errors
from everfind_core.index.sqlite_schema import DATABASE, GENERATION, GONE, OLDEST, ROWS, codec_of
from everfind_indexer.store.sqlite.creation import create_table
from everfind_indexer.store.sqlite.fragments import drop_fragments, live_rows
from everfind_indexer.store.sqlite.integrity import whole_rows
from everfind_indexer.store.sqlite.transactions import committing, fact
from everfind_indexer.store.sqlite.upkeep import drop_old


def salvage_table(source: Path, target: Path) -> int:
    """Make the store in the index directory ``target`` of the whole fragments of the one in ``source``.

    Gives the generation that it is made of; 0 if none can be read: then there is no store in ``target``.

    Raises:
        StorageError: the new one cannot be written.
    """
    try:
        with opened_for_reading(source) as db:
            generation, codec = fact(db, GENERATION), codec_of(db)
            numbers = [number for (number,) in db.execute("SELECT fragment FROM fragments WHERE removed IS NULL")]
    except IndexDamagedError:
        return 0
    create_table(target, codec)
    with (
        opened_for_reading(source) as db,
        sqlite_errors(target, write=True),
        closing(_continued(target, generation)) as new,
    ):
        for number in numbers:
            if rows := whole_rows(db, number):
                with committing(new, target, fact(new, GENERATION)) as commit:
                    commit.add(rows)
    return generation


def _continued(target: Path, generation: int) -> sqlite3.Connection:
    """A new store whose generations go on after ``generation``, so that no catalog takes it for the one before."""
    db = connect(target, write=True)
    db.execute("UPDATE facts SET value = ? WHERE name = ?", (generation + 1, GENERATION))
    return db


def copy_generation(source: Path, target: Path, generation: int) -> None:
    """Make the store in ``target`` of one generation of that in ``source``, whatever is written there meanwhile.

    Raises:
        ValueError: there is no such generation any more.
        IndexDamagedError, StorageError: it cannot be read, or the copy not be written.
    """
    with opened_for_reading(source) as db, closing(sqlite3.connect(target / DATABASE)) as copy:
        db.backup(copy)
    with sqlite_errors(target, write=True), closing(connect(target, write=True)) as copy:
        there = fact(copy, OLDEST) <= generation <= fact(copy, GENERATION)
        if there:
            copy.execute("BEGIN IMMEDIATE")
            _rewind(copy, generation)
            drop_old(copy, generation)
            copy.execute("COMMIT")
            copy.execute("VACUUM")
            copy.execute("PRAGMA journal_mode = DELETE")  # leaves one file
    if not there:
        raise ValueError(f"generation {generation} is not there")


def _rewind(db: sqlite3.Connection, generation: int) -> None:
    """Undo what was committed after ``generation``."""
    drop_fragments(db, [n for (n,) in db.execute("SELECT fragment FROM fragments WHERE added > ?", (generation,))])
    db.execute("UPDATE fragments SET removed = NULL WHERE removed > ?", (generation,))
    db.execute("DELETE FROM removals WHERE generation > ?", (generation,))
    db.execute(
        f"UPDATE fragments SET gone = (SELECT ifnull(sum({GONE}), 0) FROM removals "  # noqa: S608 - constants only
        "WHERE address >= fragment << 32 AND address < (fragment + 1) << 32)"
    )
    db.execute("DELETE FROM generations WHERE generation > ?", (generation,))
    rows = sum(live for live, _ in live_rows(db).values())
    for name, value in ((GENERATION, generation), (ROWS, rows)):
        db.execute("UPDATE facts SET value = ? WHERE name = ?", (value, name))
