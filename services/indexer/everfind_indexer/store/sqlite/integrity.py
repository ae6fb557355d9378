"""Whether the SQLite store's file is whole: by SQLite's own check, and by what was noted of each fragment."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from everfind_core.index.sqlite_files import UNREADABLE, opened_for_reading
from everfind_core.index.sqlite_schema import DATABASE, FRAGMENTS, GENERATION, GONE, OLDEST, ROWS, first_address
from everfind_indexer.store.sqlite.fragments import Row, digest_of, live_rows, rows_of_fragment
from everfind_indexer.store.sqlite.transactions import fact

_SHOWN = 10

Damage = tuple[str, str]
"""A file in the index's directory, and what is wrong with it."""


def table_damage(index: Path) -> list[Damage]:
    """Whatever is wrong with the newest generation, of which all is read.

    Raises:
        IndexDamagedError: the file cannot even be opened.
        StorageError: it may not be read.
    """
    with opened_for_reading(index) as db:
        found = [problem for (problem,) in db.execute(f"PRAGMA integrity_check({_SHOWN})") if problem != "ok"]
        if not found:
            found += _contradictions(db)
        numbers = [number for (number,) in db.execute("SELECT fragment FROM fragments WHERE removed IS NULL")]
        lost = [number for number in numbers if whole_rows(db, number) is None]
    if lost:
        found.append(f"does not hold what was written in {len(lost):,} of {len(numbers):,} fragments")
    return [(DATABASE, problem) for problem in found]


def whole_rows(db: sqlite3.Connection, number: int) -> list[Row] | None:
    """The live rows of a fragment; None where anything of it is not as it was written."""
    try:
        found = list(rows_of_fragment(db, number))
        rows = [row for _, row in found]
        count, gone, lengths, digest = db.execute(
            "SELECT rows, gone, lengths, digest FROM fragments WHERE fragment = ?", (number,)
        ).fetchone()
        postings = db.execute(
            "SELECT field, term, data FROM postings WHERE fragment = ? ORDER BY field, term", (number,)
        )
        if len(rows) != count or digest_of(rows, lengths, postings) != digest:
            return None
        borders = (first_address(number), first_address(number + 1))
        removed = db.execute(
            f"SELECT address, {GONE} FROM removals WHERE address >= ? AND address < ?",  # noqa: S608 - constants only
            borders,
        ).fetchall()
    except (sqlite3.Error, *UNREADABLE):
        return None
    if sum(checksum for _, checksum in removed) != gone:
        return None
    absent = {address for address, _ in removed}
    return [row for address, row in found if address not in absent]


def _contradictions(db: sqlite3.Connection) -> Iterator[str]:
    """What the file says of itself and is not so."""
    (newest,) = db.execute("SELECT ifnull(max(fragment), 0) FROM fragments").fetchone()
    generation = fact(db, GENERATION)
    (later,) = db.execute(
        "SELECT count(*) FROM fragments WHERE added > :g OR removed > :g OR typeof(removed) NOT IN ('null', 'integer')",
        {"g": generation},
    ).fetchone()
    if newest > fact(db, FRAGMENTS) or later or not 1 <= fact(db, OLDEST) <= generation:
        yield "says of its generations what cannot be"
    rows = sum(live for live, _ in live_rows(db).values())
    if rows != fact(db, ROWS):
        yield f"has {rows:,} rows where {fact(db, ROWS):,} were written"
