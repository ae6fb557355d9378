"""Dates as documents write them, as ISO 8601: whole days, months or years."""

from __future__ import annotations

import datetime as dt
import re

_NAMES = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_MONTHS = {name[:length]: number for number, name in enumerate(_NAMES, start=1) for length in (3, 4, len(name))}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_NUMERIC = re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})(?:[-/.](\d{1,2}))?(?!\d)")
_COMPACT = re.compile(r"(?<!\d)(\d{4})(\d{2})(\d{2})(?!\d)")
_DAY_FIRST = re.compile(rf"(?<!\d)(\d{{1,2}})(?:st|nd|rd|th)?[-\s]+({_MONTH})\.?[-,\s]+(\d{{4}})(?!\d)", re.IGNORECASE)
_MONTH_FIRST = re.compile(rf"\b({_MONTH})\.?[-\s]+(?:(\d{{1,2}})(?:st|nd|rd|th)?,?\s+)?(\d{{4}})(?!\d)", re.IGNORECASE)


def iso_date(text: str) -> str:
    """The first date in ``text``: ``26-Oct-2000`` → ``2000-10-26``, ``June 1999`` → ``1999-06``; empty without one."""
    return _read(text)[0]


def without_date(text: str) -> str:
    """``text`` without the date that :func:`iso_date` finds in it."""
    found, start, end = _read(text)
    return f"{text[:start]} {text[end:]}" if found else text


def _read(text: str) -> tuple[str, int, int]:
    """The first date and where it stands."""
    if match := _NUMERIC.search(text) or _COMPACT.search(text):
        year, month, day = match.groups()
    elif match := _DAY_FIRST.search(text):
        day, name, year = match.groups()
        month = str(_MONTHS[name.lower()])
    elif match := _MONTH_FIRST.search(text):
        name, day, year = match.groups()
        month = str(_MONTHS[name.lower()])
    else:
        return "", 0, 0
    return _iso(int(year), int(month), int(day) if day else 0), match.start(), match.end()


def _iso(year: int, month: int, day: int) -> str:
    try:
        found = dt.date(year, month, day or 1).isoformat()
    except ValueError:
        return ""
    return found if day else found[:7]
