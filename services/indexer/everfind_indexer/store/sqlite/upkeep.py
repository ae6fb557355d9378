"""Keep fragments few and without too many removed rows, and the file without too much free space.

Each commit adds a fragment, and a search looks each term up in each. So the end of a run joins small ones where they
are many, and a long run those that it made, in growing steps. Joining means to write their live rows as new fragments;
the old ones stay for readers of older generations, as long as those may last.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from everfind_core.index.sqlite_schema import OLDEST, first_address
from everfind_indexer.store.sqlite.fragments import (
    Row,
    drop_fragments,
    live_rows,
    rows_of_fragment,
)
from everfind_indexer.store.sqlite.transactions import Transaction

FRAGMENT_ROWS: Final = 10_000
FIRST_JOIN_ROWS: Final = 2_000
SMALL_ROWS: Final = 2_000
SMALL_FRAGMENTS: Final = 32
DEAD_SHARE: Final = 0.2
FREE_SHARE: Final = 0.2
KEEP_SECONDS: Final = 600.0
"""How long a generation outlives its replacement, for readers that still use it."""


def joined_in_a_run(db: sqlite3.Connection) -> Sequence[int]:
    """The small fragments, once their rows are enough to be worth joining between two commits."""
    rows = live_rows(db)
    small = [number for number, (live, _) in rows.items() if live < SMALL_ROWS]
    waiting = sum(rows[number][0] for number in small)
    step = min(max(FIRST_JOIN_ROWS, sum(live for live, _ in rows.values()) // 3), FRAGMENT_ROWS)
    return small if len(small) > 1 and waiting >= step else ()


def joined_at_the_end(db: sqlite3.Connection) -> Sequence[int]:
    """The fragments that the end of a run writes anew: small ones that are many, and those with much that is dead."""
    rows = live_rows(db)
    small = {number for number, (live, _) in rows.items() if live < SMALL_ROWS}
    dead = sum(removed for _, removed in rows.values())
    chosen: set[int] = set()
    if dead > DEAD_SHARE * (dead + sum(live for live, _ in rows.values())):
        chosen |= {number for number, (_, removed) in rows.items() if removed}
    if len(small) > SMALL_FRAGMENTS:
        chosen |= small
    return sorted(chosen)


def with_removed_rows(db: sqlite3.Connection) -> Sequence[int]:
    """The fragments in which a removed row lies beside live ones."""
    return [number for number, (_, removed) in live_rows(db).items() if removed]


def join(commit: Transaction, numbers: Sequence[int]) -> None:
    """Write the live rows of these fragments as new ones."""
    rows = _live(commit.db, numbers)
    while part := list(islice(rows, FRAGMENT_ROWS)):
        commit.add(part)
    for number in numbers:
        commit.retire(number)


def _live(db: sqlite3.Connection, numbers: Sequence[int]) -> Iterator[Row]:
    for number in numbers:
        borders = (first_address(number), first_address(number + 1))
        removed = db.execute("SELECT address FROM removals WHERE address >= ? AND address < ?", borders)
        gone = {address for (address,) in removed}
        yield from (row for address, row in list(rows_of_fragment(db, number)) if address not in gone)


def expired(db: sqlite3.Connection, keep_seconds: float) -> int:
    """The newest generation such that all before it were replaced longer ago than that; 0 if there is none."""
    since = time.time() - keep_seconds
    (found,) = db.execute("SELECT max(generation) FROM generations WHERE committed < ?", (since,)).fetchone()
    return int(found or 0)


def drop_old(db: sqlite3.Connection, oldest: int) -> None:
    """Within a transaction: drop what only generations before ``oldest`` need."""
    numbers = [n for (n,) in db.execute("SELECT fragment FROM fragments WHERE removed <= ?", (oldest,))]
    if numbers:
        drop_fragments(db, numbers)
        db.execute("UPDATE facts SET value = max(value, ?) WHERE name = ?", (oldest, OLDEST))
    db.execute("DELETE FROM generations WHERE generation < ?", (oldest,))


def give_back(db: sqlite3.Connection) -> None:
    """Give free pages back to the disk where they are a good share of the file; not within a transaction."""
    (pages,), (free,) = (db.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "freelist_count"))
    if free > FREE_SHARE * pages:
        db.executescript("PRAGMA incremental_vacuum")  # "execute" would take one step, which frees one page
