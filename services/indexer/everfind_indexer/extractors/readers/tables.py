"""Rows of cells as a Markdown table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def markdown_table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The lines of a table whose first row is its header; empty rows are left out, a single column becomes lines."""
    written = [row for row in rows if any(row)]
    width = max((len(row) for row in written), default=0)
    if width < 2:
        yield from (row[0] for row in written)
        return
    for number, row in enumerate(written):
        cells = [*(cell.replace("|", "\\|") for cell in row), *[""] * (width - len(row))]
        yield f"| {' | '.join(cells)} |"
        if not number:
            yield f"|{' --- |' * width}"
