"""Comma- or tab-separated lines: one record a row, and the header row encloses all others."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

from everfind_core.chunking.headed import TableRows, headed, is_blank
from everfind_core.chunking.structure import BLANK, STRUCTURAL, Structure

_RECORD = STRUCTURAL + 10
_INSIDE = 4
_LONGEST_HEADER = 10_000
_DELIMITERS = "\t;,|"
_NUMBER = re.compile(r"[-+]?[\d.,:/%$€ -]+$")


def analyse(lines: Sequence[str]) -> Structure:
    """The structure of the ``lines`` of a table."""
    strengths: list[int] = []
    quoted = False  # inside a cell that goes over several lines
    for line in lines:
        strengths.append(BLANK if is_blank(line) else (_INSIDE if quoted else _RECORD))
        quoted ^= line.count('"') % 2 == 1
    first = next((n for n, line in enumerate(lines) if not is_blank(line)), len(lines))
    header = _header(lines[first]) if first < len(lines) else ()
    return headed(strengths, [], [TableRows(first + 1, len(lines), header)] if header else [])


def _header(line: str) -> Sequence[str]:
    """The cells of a header row: at least two, and none empty or a number; else none."""
    if len(line) > _LONGEST_HEADER:
        return ()
    delimiter = max(_DELIMITERS, key=line.count)
    try:
        cells = [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter), [])]
    except csv.Error:
        return ()
    return cells if len(cells) > 1 and not any(not cell or _NUMBER.match(cell) for cell in cells) else ()
