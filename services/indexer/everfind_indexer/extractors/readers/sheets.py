"""Spreadsheets (.xlsx, .xls, .xlsb, .ods): each sheet a heading and a table, values as they are shown."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Iterator

from python_calamine import CalamineWorkbook, PasswordError

from everfind_core.model import SkipReason
from everfind_core.ports import NotExtractedError
from everfind_indexer.extractors.readers.tables import markdown_table
from everfind_indexer.extractors.wire import Extracted

_DIGITS = 15
"""As many as a spreadsheet shows of a number: the sum of .1 and .2 is 0.3."""

Value = int | float | str | bool | dt.time | dt.date | dt.datetime | dt.timedelta


def read(raw: bytes) -> Extracted:
    """The text of all sheets in order."""
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(raw))
    except PasswordError as error:
        raise NotExtractedError(SkipReason.ENCRYPTED, "it needs a password") from error
    lines = [line for name in book.sheet_names for line in _sheet(book, name)]
    return Extracted("\n".join(lines), "xlsx")


def _sheet(book: CalamineWorkbook, name: str) -> Iterator[str]:
    """The lines of a sheet; the last one is blank. None if it is empty."""
    rows = [[_cell(value) for value in row] for row in book.get_sheet_by_name(name).iter_rows()]
    left = min((next((n for n, cell in enumerate(row) if cell), len(row)) for row in rows if any(row)), default=0)
    table = list(markdown_table([_trimmed(row[left:]) for row in rows]))
    if table:
        yield from (f"# {' '.join(name.split())}", "", *table, "")


def _trimmed(row: list[str]) -> list[str]:
    width = next((n for n in range(len(row), 0, -1) if row[n - 1]), 0)
    return row[:width]


def _cell(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).upper()  # as spreadsheets show it
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.{_DIGITS}g}"
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        return value.date().isoformat()
    return " ".join(str(value).split())
