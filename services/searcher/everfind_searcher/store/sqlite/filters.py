"""Search filters as one condition of SQLite, applied before anything is ranked."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from everfind_core.files.globs import FileGlobs, compile_file_globs
from everfind_core.index.store_schema import check_text
from everfind_core.model import FileRef, Filters

_Part = tuple[str, Sequence[str]]
"""A condition, and the values of its marks."""


@dataclass(frozen=True, slots=True)
class Condition:
    """What a row must meet; ``functions`` of folder and path are called by it, by their names."""

    sql: str
    values: tuple[str, ...]
    functions: Mapping[str, Callable[[str, str], bool]]

    def addresses(self, db: sqlite3.Connection) -> list[int]:
        """The rows that meet it."""
        for name, function in self.functions.items():
            db.create_function(name, 2, function)
        found = db.execute(f"SELECT address FROM chunks WHERE {self.sql}", self.values)  # noqa: S608 - constants only
        return [address for (address,) in found]


def condition(where: Filters) -> Condition | None:
    """What a row must meet to pass ``where``; None if every row passes.

    A date filter keeps dated documents only. ``where.all_statuses`` is the engine's to turn into conditions.

    Raises:
        InvalidRequestError: a glob is malformed, or a value is no text.
    """
    parts = [*_memberships(where), *_dates(where)]
    functions: dict[str, Callable[[str, str], bool]] = {}
    for name, globs, sql in (("included", where.include, "included"), ("excluded", where.exclude, "NOT excluded")):
        for glob in globs:
            check_text(glob, field=f"filters.{name.removesuffix('d')}")
        if compiled := compile_file_globs(globs, field=f"filters.{name.removesuffix('d')}"):
            functions[name] = _matching(compiled)
            parts.append((f"{sql}(folder, path)", ()))
    if not parts:
        return None
    return Condition(
        " AND ".join(sql for sql, _ in parts), tuple(value for _, values in parts for value in values), functions
    )


def _matching(globs: FileGlobs) -> Callable[[str, str], bool]:
    """The rows of a file are asked for one after another."""
    return lru_cache(maxsize=1)(lambda folder, path: globs.matches(FileRef(folder, path)))


def _memberships(where: Filters) -> Iterator[_Part]:
    for column, field, values, negation in (
        ("folder", "folders", where.folders, ""),
        ("language", "languages", where.languages, ""),
        ("kind", "kinds", where.kinds, ""),
        ("status", "statuses", where.statuses, ""),
        ("status", "exclude_statuses", where.exclude_statuses, "NOT "),
    ):
        for value in values:
            check_text(value, field=f"filters.{field}")
        if values:
            yield f"{column} {negation}IN ({', '.join('?' * len(values))})", values


def _dates(where: Filters) -> Iterator[_Part]:
    """ISO 8601 sorts as text."""
    for value, field in ((where.since, "since"), (where.before, "before")):
        check_text(value or "", field=f"filters.{field}")
    if where.since or where.before:
        yield "date <> ''", ()
    if where.since:
        yield "date >= ?", (where.since,)
    if where.before:
        yield "date < ?", (where.before,)
