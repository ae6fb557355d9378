"""A search's hits: a table on a terminal, one line a hit in a pipe."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from everfind_core.answers.text_form import further_list, semantic_part
from everfind_core.files.paths import shown_path
from everfind_core.model import Hit, SearchAnswer
from everfind_core.text.numbers import by_reason, count
from everfind_gateway.render.further import further_lines
from everfind_gateway.render.links import file_url
from everfind_gateway.render.streams import emit, harmless, is_terminal, note, one_line

if TYPE_CHECKING:
    from rich.text import Text

_PREVIEW_LINES = 2
_PIPED_PREVIEW = 160
_MIN_TERM = 2
_SHORT_TERM = 3


def show_answer(answer: SearchAnswer) -> None:
    """Print the hits to stdout, and what else there is to know of the answer to stderr."""
    if answer.hits:
        terms = term_pattern(answer.query)
        emit(_table(answer.hits, terms) if is_terminal(sys.stdout) else _lines(answer.hits, terms))
    if answer.further:
        emit((further_list if is_terminal(sys.stdout) else further_lines)(answer.further))
    for line in remarks(answer):
        note(line)


def remarks(answer: SearchAnswer) -> list[str]:
    """What a reader of the hits must know besides: why there are none, what was hidden, what may be stale."""
    found = []
    if not answer.hits:
        found.append(_nothing_found(answer))
    if answer.hidden.count:
        best = f", the best is {shown_path(answer.hidden.best_path)}" if answer.hidden.best_path else ""
        rules = by_reason(answer.hidden.by_rule)
        found.append(f"{count(answer.hidden.count, 'file')} hidden ({rules}){best}; --all shows them")
    if part := semantic_part(answer.coverage):
        found.append(part)
    elif answer.staleness.stale or answer.staleness.pending:
        found.append("some files changed since they were indexed; run `everfind index`")
    return found + [f"warning: {warning}" for warning in answer.warnings]


def location(folder: str, path: str) -> str:
    """A file as `everfind cat` takes it: the folder's name, then the path below it."""
    return shown_path(f"{folder}/{path}")


def labels(hit: Hit) -> str:
    """Why it is there, and what its document's life says: ``[both 0.712] [superseded → auth.md; 2026-03-01]``."""
    return f"[{hit.label}] [{shown_path(hit.lifecycle)}]" if hit.lifecycle else f"[{hit.label}]"


def explanation(hit: Hit) -> str:
    """What a hit's score is the sum of, largest first: ``semantic +0.41, file stem +0.12``; empty if not asked for."""
    parts = sorted(hit.explain, key=lambda part: -abs(part.value))
    return ", ".join(f"{part.rule} {part.value:+.3f}" for part in parts)


def term_pattern(query: str) -> re.Pattern[str] | None:
    """Finds the query's words in a text, as the lexical arm understands them; None if it has none.

    Words that say nothing of what is asked are no help to the eye: they count where there is no other.
    """
    from everfind_core.text.lexical import query_terms  # an answer in JSON need not wait for it

    given = [term for term in query_terms(query) if len(term) >= _MIN_TERM or not term.isascii()]
    telling = [term for term in given if term not in _function_words()]
    terms = sorted(telling or given, key=len, reverse=True)
    return re.compile("|".join(map(_as_pattern, terms)), re.IGNORECASE) if terms else None


@lru_cache(maxsize=1)
def _function_words() -> frozenset[str]:
    from everfind_core.text.function_words import FUNCTION_WORDS
    from everfind_core.text.stemming import stem

    return frozenset(map(stem, FUNCTION_WORDS))


def _as_pattern(term: str) -> str:
    """A term is a stem: it may stand inside a word, but a short one only alone; a final ``i`` may have been a ``y``."""
    pattern = re.escape(term)
    if not (term.isascii() and term.isalpha()):
        return pattern
    if len(term) <= _SHORT_TERM:
        return rf"(?<![^\W\d_]){pattern}(?![^\W\d_])"
    return f"{pattern[:-1]}[iy]" if pattern.endswith("i") else pattern


def preview(text: str, terms: re.Pattern[str] | None, lines: int) -> list[str]:
    """The ``lines`` consecutive lines of ``text`` in which most different query words stand."""
    candidates = [line for line in (one_line(raw) for raw in text.splitlines()) if re.search(r"\w", line)]
    if not candidates:
        return [one_line(text)]
    if terms is None:
        return candidates[:lines]
    found = [{match.casefold() for match in terms.findall(line)} for line in candidates]
    starts = range(max(1, len(candidates) - lines + 1))
    best = max(starts, key=lambda start: (len(set().union(*found[start : start + lines])), len(found[start]), -start))
    return candidates[best : best + lines]


def around_match(line: str, terms: re.Pattern[str] | None, width: int) -> str:
    """``line``, cut to ``width`` characters around its first query word, with … where something is missing."""
    if len(line) <= width:
        return line
    match = terms.search(line) if terms is not None else None
    start = max(0, min(match.start() - width // 3, len(line) - width)) if match is not None else 0
    end = start + width
    head, tail = "…" if start else "", "…" if end < len(line) else ""
    return f"{head}{line[start + len(head) : end - len(tail)]}{tail}"


def _title(hit: Hit) -> str:
    """The symbol or the headings that a hit stands under."""
    return one_line(hit.symbol or hit.heading)


def _lines(hits: Iterable[Hit], terms: re.Pattern[str] | None) -> str:
    """``path:line<TAB>score<TAB>[label]<TAB>title<TAB>preview``, for grep, cut and awk; explained, a field more."""
    return "\n".join(
        "\t".join(
            (
                f"{location(hit.folder, hit.path)}:{hit.start_line}",
                f"{hit.score:.4f}",
                labels(hit),
                _title(hit),
                around_match(preview(hit.text, terms, 1)[0], terms, _PIPED_PREVIEW),
                *filter(None, [explanation(hit)]),
            )
        )
        for hit in hits
    )


def _table(hits: Iterable[Hit], terms: re.Pattern[str] | None) -> str:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=False)
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="bold")
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("match", no_wrap=True)
    table.add_column("path:line", overflow="fold", ratio=1)
    width = max(20, console.width - 30)
    for hit in hits:
        table.add_row(f"{hit.score:.4f}", Text(f"[{hit.label}]"), _cell(hit, terms, width))
    with console.capture() as capture:
        console.print(table)
    return capture.get()


def _cell(hit: Hit, terms: re.Pattern[str] | None, width: int) -> Text:
    from rich.style import Style
    from rich.text import Text

    cell = Text(no_wrap=False)
    place = f"{location(hit.folder, hit.path)}:{hit.start_line}"
    cell.append(place, Style(bold=True, color="cyan", link=file_url(hit.absolute_path, hit.start_line) or None))
    if hit.lifecycle:
        cell.append(f"  [{shown_path(hit.lifecycle)}]", Style(color="magenta"))
    title = _title(hit)
    if title:
        cell.append(f"  {around_match(title, terms, width)}", Style(dim=True))
    for line in preview(hit.text, terms, _PREVIEW_LINES):
        cell.append("\n")
        body = Text(around_match(line, terms, width))
        if terms is not None:
            body.highlight_regex(terms, Style(bold=True, color="yellow"))
        cell.append_text(body)
    if hit.explain:
        cell.append(f"\n{explanation(hit)}", Style(dim=True))
    return cell


def _nothing_found(answer: SearchAnswer) -> str:
    coverage = answer.coverage
    what = "no results"
    if answer.abstained is not None:
        what = (
            f"no relevant results (best {answer.abstained.best_score:.2f}, threshold {answer.abstained.threshold:.2f})"
        )
    if answer.unmatched:
        return harmless(f"no results: {answer.unmatched}")
    if answer.left_out:
        what = f"{count(answer.left_out, 'hit')} did not fit into the budget"
    searched = f"searched {count(coverage.files, 'file')}, {count(coverage.chunks, 'chunk')}"
    skipped = by_reason(coverage.skipped)
    return harmless(f"{what}: {searched}" + (f"; left out: {skipped}" if skipped else ""))
