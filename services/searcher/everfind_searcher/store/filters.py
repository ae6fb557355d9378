"""Search filters as one condition of the store, applied before anything is ranked."""

from __future__ import annotations

from collections.abc import Iterator

from everfind_core.files.globs import RUST, glob_regex, scoped
from everfind_core.index.store_schema import DATE, FOLDER, KIND, LANGUAGE, PATH, STATUS, sql_in, sql_string
from everfind_core.model import Filters


def condition(where: Filters) -> str | None:
    """What a row must meet to pass ``where``; None if every row passes.

    A date filter keeps dated documents only. ``where.all_statuses`` is the engine's to
    turn into conditions.

    Raises:
        InvalidRequestError: a glob is malformed, or a value is no text.
    """
    parts = [*_memberships(where), *_globs(where), *_dates(where)]
    return " AND ".join(f"({part})" for part in parts) or None


def _memberships(where: Filters) -> Iterator[str]:
    for column, field, values in (
        (FOLDER, "folders", where.folders),
        (LANGUAGE, "languages", where.languages),
        (KIND, "kinds", where.kinds),
        (STATUS, "statuses", where.statuses),
    ):
        if values:
            yield sql_in(column, values, field=f"filters.{field}")
    if where.exclude_statuses:
        yield f"NOT ({sql_in(STATUS, where.exclude_statuses, field='filters.exclude_statuses')})"


def _globs(where: Filters) -> Iterator[str]:
    if where.include:
        yield _any_glob(where.include, "filters.include")
    if where.exclude:
        yield f"NOT ({_any_glob(where.exclude, 'filters.exclude')})"


def _any_glob(globs: tuple[str, ...], field: str) -> str:
    return " OR ".join(_glob(*scoped(glob), field) for glob in globs)


def _glob(folder: str, glob: str, field: str) -> str:
    matching = f"regexp_like({PATH}, {sql_string(glob_regex(glob, RUST, field=field), field=field)})"
    return f"({FOLDER} = {sql_string(folder, field=field)} AND {matching})" if folder else matching


def _dates(where: Filters) -> Iterator[str]:
    """ISO 8601 sorts as text."""
    if where.since or where.before:
        yield f"{DATE} <> ''"
    if where.since:
        yield f"{DATE} >= {sql_string(where.since, field='filters.since')}"
    if where.before:
        yield f"{DATE} < {sql_string(where.before, field='filters.before')}"
