"""One commit to the SQLite store: all of it, or nothing."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from everfind_core.errors import IndexLockedError
from everfind_core.index.sqlite_schema import FRAGMENTS, GENERATION, GONE, ROWS, first_address
from everfind_indexer.store.sqlite.fragments import Row, write_fragment

_REMOVED: Final = f"SELECT count(*), ifnull(sum({GONE}), 0) FROM removals WHERE address >= ? AND address < ?"  # noqa: S608 - constants only


def fact(db: sqlite3.Connection, name: str) -> int:
    """One of the numbers that are true of the whole file."""
    (value,) = db.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
    return int(value)


class Transaction:
    """What one commit does; ``generation`` is what readers see after it."""

    def __init__(self, db: sqlite3.Connection, generation: int) -> None:
        self.db = db
        self.generation = generation
        self.changed = False

    def add(self, rows: Sequence[Row]) -> None:
        """Add rows, as one fragment."""
        if rows:
            number = fact(self.db, FRAGMENTS) + 1
            write_fragment(self.db, number, self.generation, rows)
            self.db.execute("UPDATE facts SET value = ? WHERE name = ?", (number, FRAGMENTS))
            self._count(len(rows))

    def remove(self, addresses: Iterable[int]) -> None:
        """Let live rows be no part of this generation; a fragment that has lost all its rows goes with them."""
        gone = sorted(addresses)
        self.db.executemany("INSERT INTO removals VALUES (?, ?)", ((address, self.generation) for address in gone))
        for number in sorted({address >> 32 for address in gone}):
            borders = (first_address(number), first_address(number + 1))
            count, checksum = self.db.execute(_REMOVED, borders).fetchone()
            self.db.execute("UPDATE fragments SET gone = ? WHERE fragment = ?", (checksum, number))
            self.db.execute(
                "UPDATE fragments SET removed = ? WHERE fragment = ? AND rows = ?", (self.generation, number, count)
            )
        if gone:
            self._count(-len(gone))

    def retire(self, number: int) -> None:
        """Let a fragment be no part of this generation."""
        borders = (first_address(number), first_address(number + 1))
        removed, _ = self.db.execute(_REMOVED, borders).fetchone()
        (rows,) = self.db.execute("SELECT rows FROM fragments WHERE fragment = ?", (number,)).fetchone()
        self.db.execute("UPDATE fragments SET removed = ? WHERE fragment = ?", (self.generation, number))
        self._count(removed - rows)

    def _count(self, more: int) -> None:
        """Note that the newest generation has so many rows more."""
        self.db.execute("UPDATE facts SET value = value + ? WHERE name = ?", (more, ROWS))
        self.changed = True


@contextmanager
def committing(db: sqlite3.Connection, directory: Path, generation: int) -> Iterator[Transaction]:
    """A commit after ``generation``; where the block changes nothing, there is none.

    Raises:
        IndexLockedError: another process committed meanwhile.
    """
    db.execute("BEGIN IMMEDIATE")
    try:
        _check_unchanged(db, directory, generation)
        commit = Transaction(db, generation + 1)
        yield commit
        if commit.changed:
            db.execute("UPDATE facts SET value = ? WHERE name = ?", (commit.generation, GENERATION))
            db.execute("INSERT INTO generations VALUES (?, ?)", (commit.generation, time.time()))
        db.execute("COMMIT")
    except BaseException:  # an interruption leaves no open transaction
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _check_unchanged(db: sqlite3.Connection, directory: Path, generation: int) -> None:
    if fact(db, GENERATION) != generation:
        raise IndexLockedError(
            f"another process changed the index in {directory} during this write",
            hint="Let it end, then run `everfind index` again; nothing that was committed is lost.",
        )
