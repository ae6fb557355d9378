"""An answer as text for a model: short, and saying what is missing from it and how to get it.

It is what a token budget counts, so the searcher packs an answer by the text that whoever asked will read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from everfind_core.files.paths import printable, shown_path
from everfind_core.text.numbers import by_reason, count

if TYPE_CHECKING:
    from everfind_core.model import Coverage, FurtherFile, GatherAnswer, Hit, Passage, SearchAnswer

FURTHER_HEADING = "Further files, each by its best place:"

_FENCE = re.compile(r"^\s*(`{3,})", re.MULTILINE)


def search_text(answer: SearchAnswer) -> str:
    """Each hit under a heading with its place, and what else there is to know."""
    blocks = [hit_text(hit, n, len(answer.hits)) for n, hit in enumerate(answer.hits, start=1)]
    return "\n".join([*blocks, *_remarks(answer)])


def gather_text(answer: GatherAnswer) -> str:
    """The Markdown block, and what else there is to know."""
    return "\n".join([*([answer.markdown] if answer.passages else []), *_remarks(answer.answer)])


def hit_text(hit: Hit, position: int, total: int) -> str:
    """One hit under its heading: place, what it is, why it is there."""
    facts = [shown_path(f"{hit.folder}/{hit.path}:{hit.start_line}-{hit.end_line}")]
    if hit.symbol or hit.heading:
        facts.append(printable(hit.symbol or hit.heading))
    if hit.lifecycle:
        facts.append(f"[{shown_path(hit.lifecycle)}]")
    facts.append(hit.label)
    if hit.relation is not None and hit.relation_path:
        facts.append(f"of {shown_path(hit.relation_path)}")
    return _block(facts, hit, hit.text, position, total)


def passage_text(passage: Passage, position: int, total: int) -> str:
    """One passage under its heading: place, score, why it is there, and what the lines around it are."""
    hit = passage.hit
    facts = [
        printable(hit.folder),
        printable(hit.path),
        f"lines {passage.start_line}-{passage.end_line}",
        f"score {hit.score:.3f}",
        f"[{hit.label}]",
        *([f"[{printable(hit.lifecycle)}]"] if hit.lifecycle else []),
    ]
    if hit.page:
        facts.append(f"page {hit.page}")
    if passage.extracted_from:
        facts.append(f"text extracted from {passage.extracted_from}")
    if hit.symbol or hit.heading:
        facts.append(printable(hit.symbol or hit.heading))
    if passage.changed:
        facts.append("changed since it was indexed")
    return _block(facts, hit, passage.text, position, total) + "\n"


def further_list(files: Iterable[FurtherFile]) -> str:
    """A Markdown list under a line that says what it is; empty where there are none."""
    items = [further_item(file) for file in files]
    return "\n".join([FURTHER_HEADING, *items]) if items else ""


def further_item(file: FurtherFile) -> str:
    """The line of the list that names this file."""
    return f"- {further_place(file)}-{file.end_line} {further_title(file)}".rstrip()


def further_place(file: FurtherFile) -> str:
    """``folder/path:line``."""
    return f"{shown_path(f'{file.folder}/{file.path}')}:{file.start_line}"


def further_title(file: FurtherFile) -> str:
    """The symbol or the headings of its best place."""
    return printable(file.symbol or file.heading)


def _block(facts: Iterable[str], hit: Hit, text: str, position: int, total: int) -> str:
    """The text between fences that it does not hold itself, under a heading."""
    fence = "`" * (1 + max((len(f) for f in _FENCE.findall(text)), default=2))
    language = hit.language if hit.language.isalnum() else ""
    return f"### [{position}/{total}] {' · '.join(facts)}\n{fence}{language}\n{text}\n{fence}"


def semantic_part(coverage: Coverage) -> str:
    """Which part is found by meaning yet; empty if all is."""
    if not coverage.unembedded:
        return ""
    done = coverage.chunks - coverage.unembedded
    if not done:
        return "no chunk has a vector yet; all are found by their words alone until an index run has embedded them"
    return (
        f"only {done:,} of {count(coverage.chunks, 'chunk')} have vectors yet; the rest is found by its words alone "
        "until an index run has embedded it"
    )


def _remarks(answer: SearchAnswer) -> list[str]:
    """What a reader of the hits must know besides: why there are none, what is missing, what may be stale."""
    found = [further_list(answer.further)] if answer.further else []
    if not answer.hits:
        found.append(_nothing(answer))
    elif answer.next_cursor:
        found.append(f"{count(answer.left_out, 'more hit')}; next page: cursor={answer.next_cursor!r}")
    elif answer.left_out:
        found.append(f"{count(answer.left_out, 'more hit')} did not fit into max_tokens")
    if answer.hidden.count:
        hidden = answer.hidden
        best = f", the best is {shown_path(hidden.best_path)}" if hidden.best_path else ""
        found.append(
            f"{count(hidden.count, 'file')} hidden ({by_reason(hidden.by_rule)}){best}; include_hidden=true shows them"
        )
    if part := semantic_part(answer.coverage):
        found.append(f"{part[0].upper()}{part[1:]}.")
    elif answer.staleness.stale or answer.staleness.pending:
        found.append("Some files changed since they were indexed; the index tool brings them up to date.")
    return found + [f"warning: {warning}" for warning in answer.warnings]


def _nothing(answer: SearchAnswer) -> str:
    coverage = answer.coverage
    what = "Nothing relevant found"
    if answer.abstained is not None:
        what += f" (best score {answer.abstained.best_score:.2f}, threshold {answer.abstained.threshold:.2f})"
    if answer.unmatched:
        what = f"Nothing to search: {printable(answer.unmatched)}"
    if answer.left_out:
        what = f"{count(answer.left_out, 'hit')} did not fit into max_tokens"
    skipped = by_reason(coverage.skipped)
    return (
        f"{what}; searched {count(coverage.files, 'file')}, {count(coverage.chunks, 'chunk')}"
        + (f"; not in the index: {skipped}" if skipped else "")
        + (f"; {count(coverage.pending, 'file')} not up to date" if coverage.pending else "")
        + "."
    )
