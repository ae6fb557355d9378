"""The lexical arm of the SQLite store: BM25 as Lance computes it, over postings of our own.

Robertson's weights with k1 1.2 and b 0.75, an inverse document frequency that is never below zero, and a term of the
query counted once. What was removed counts in no statistic.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from everfind_core.sqlite_schema import Postings, first_address, unpack_postings
from everfind_searcher.store.best import Scored
from everfind_searcher.store.sqlite.version import Mask, Part

K1: Final = 1.2
B: Final = 0.75


def score(
    db: sqlite3.Connection,
    parts: Mapping[int, Part],
    passing: Mapping[int, Mask],
    *,
    field: int,
    tokens: Sequence[str],
    count: int,
) -> Scored:
    """The ``count`` rows that match ``tokens`` best, of those that pass; statistics are of all rows."""
    rows = sum(int(part.live.sum()) for part in parts.values())
    total = sum(int(part.lengths[field][part.live].sum()) for part in parts.values())
    average = total / rows if rows and total else 1.0
    sums = {number: np.zeros(len(part.live), dtype=np.float64) for number, part in parts.items()}
    for token in tokens:
        found = {number: postings for number in parts if (postings := _postings(db, number, field, token))}
        frequency = sum(int(parts[number].live[places].sum()) for number, (places, _) in found.items())
        weight = (K1 + 1) * np.log1p((rows - frequency + 0.5) / (frequency + 0.5))
        for number, (places, counts) in found.items():
            lengths = parts[number].lengths[field][places]
            sums[number][places] += weight * counts / (counts + K1 * (1 - B + B * lengths / average))
    return _highest(sums, passing, count)


def _postings(db: sqlite3.Connection, fragment: int, field: int, token: str) -> Postings | None:
    statement = "SELECT data FROM postings WHERE fragment = ? AND field = ? AND term = ?"
    found = db.execute(statement, (fragment, field, token)).fetchone()
    return None if found is None else unpack_postings(found[0])


def _highest(sums: Mapping[int, npt.NDArray[np.float64]], passing: Mapping[int, Mask], count: int) -> Scored:
    addresses, scores = [np.zeros(0, np.uint64)], [np.zeros(0, np.float32)]
    for number, values in sums.items():
        places = np.flatnonzero((values > 0) & passing[number])
        addresses.append(places.astype(np.uint64) + np.uint64(first_address(number)))
        scores.append(values[places].astype(np.float32))
    found, likely = np.concatenate(addresses), np.concatenate(scores)
    first = np.argsort(-likely, kind="stable")[:count]
    return found[first], likely[first]
