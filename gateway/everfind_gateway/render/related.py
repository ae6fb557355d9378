"""What is related: a table on a terminal, one line each in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from everfind_core.answers.text_form import semantic_part
from everfind_core.model import Hit, RelatedAnswer, RelatedHit
from everfind_core.text.numbers import count
from everfind_gateway.render.hits import around_match, location
from everfind_gateway.render.links import file_url
from everfind_gateway.render.streams import emit, harmless, is_terminal, note, one_line

_PREVIEW = 160


def show_related(answer: RelatedAnswer) -> None:
    """Print what is related to stdout; what it is related to, and what else there is to know, to stderr."""
    for target in answer.targets:
        note(f"target: {place_of(target)}  {one_line(target.symbol or target.heading)}".rstrip())
    if answer.related:
        emit(_table(answer.related) if is_terminal(sys.stdout) else "\n".join(map(_line, answer.related)))
    for remark in remarks(answer):
        note(remark)


def remarks(answer: RelatedAnswer) -> list[str]:
    """What a reader must know besides."""
    found = []
    if not answer.related:
        searched = f"searched {count(answer.coverage.files, 'file')}, {count(answer.coverage.chunks, 'chunk')}"
        found.append(f"nothing is related: {searched}")
    if answer.left_out:
        found.append(f"{answer.left_out:,} more; --limit shows up to 100")
    if part := semantic_part(answer.coverage):
        found.append(part)
    elif answer.staleness.stale or answer.staleness.pending:
        found.append("some files changed since they were indexed; run `everfind index`")
    return [*found, *(f"warning: {harmless(warning)}" for warning in answer.warnings)]


def place_of(hit: Hit, line: int = 0) -> str:
    """``folder/path:line``."""
    return f"{location(hit.folder, hit.path)}:{line or hit.start_line}"


def line_of(related: RelatedHit) -> int:
    """The line of the related chunk to look at."""
    return related.line or related.hit.start_line


def preview(related: RelatedHit) -> str:
    """That line's text."""
    lines = related.hit.text.split("\n")
    number = line_of(related) - related.hit.start_line
    return one_line(lines[number] if 0 <= number < len(lines) else lines[0])


def _line(related: RelatedHit) -> str:
    return "\t".join(
        (
            place_of(related.hit, line_of(related)),
            f"{related.confidence:.2f}",
            f"[{related.relation.value}]",
            one_line(related.symbol or related.hit.symbol),
            around_match(preview(related), None, _PREVIEW),
        )
    )


def _table(found: Iterable[RelatedHit]) -> str:
    from rich.console import Console
    from rich.style import Style
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=False)
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="bold")
    table.add_column("sure", justify="right", no_wrap=True)
    table.add_column("relation", no_wrap=True)
    table.add_column("path:line", overflow="fold", ratio=1)
    width = max(20, console.width - 24)
    for related in found:
        cell = Text(no_wrap=False)
        line = line_of(related)
        url = file_url(related.hit.absolute_path, line)
        cell.append(place_of(related.hit, line), Style(bold=True, color="cyan", link=url or None))
        symbol = one_line(related.symbol or related.hit.symbol)
        if symbol:
            cell.append(f"  {around_match(symbol, None, width)}", Style(dim=True))
        cell.append(f"\n{around_match(preview(related), None, width)}")
        table.add_row(f"{related.confidence:.2f}", Text(f"[{related.relation.value}]"), cell)
    with console.capture() as capture:
        console.print(table)
    return capture.get()
