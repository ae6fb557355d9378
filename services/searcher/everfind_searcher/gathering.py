"""Hits with their surroundings, as one Markdown block ready for a context window."""

from __future__ import annotations

import re

from everfind_core.errors import FileNotIndexableError, FolderNotFoundError, FolderUnusableError
from everfind_core.model import GatherAnswer, Hit, Passage, ReadFileRequest, SearchAnswer
from everfind_core.paths import printable
from everfind_core.ports import SourceReader

_FENCE = re.compile(r"^\s*(`{3,})", re.MULTILINE)


def gather(answer: SearchAnswer, source: SourceReader, context_lines: int) -> GatherAnswer:
    """The answer with ``context_lines`` of source around each hit; a changed file keeps the indexed text."""
    passages = tuple(_passage(hit, source, context_lines) for hit in answer.hits)
    return GatherAnswer(answer, passages, _markdown(answer, passages))


def _passage(hit: Hit, source: SourceReader, context_lines: int) -> Passage:
    stored = Passage(hit, hit.start_line, hit.end_line, hit.text)
    if not context_lines:
        return stored
    start = max(1, hit.start_line - context_lines)
    try:
        read = source.read_file(ReadFileRequest(hit.folder, hit.path, start, hit.end_line + context_lines))
    except (FileNotIndexableError, FolderNotFoundError, FolderUnusableError):
        return Passage(hit, hit.start_line, hit.end_line, hit.text, changed=True)
    if not read.indexed:
        return Passage(hit, hit.start_line, hit.end_line, hit.text, changed=True)
    return Passage(hit, read.start_line, read.end_line, read.text, extracted_from=read.extracted_from)


def _markdown(answer: SearchAnswer, passages: tuple[Passage, ...]) -> str:
    if not passages:
        return f"No relevant results for {printable(answer.query)!r} in {answer.coverage.files:,} files.\n"
    return "\n".join(_block(passage, n, len(passages)) for n, passage in enumerate(passages, start=1))


def _block(passage: Passage, position: int, count: int) -> str:
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
    fence = "`" * (1 + max((len(f) for f in _FENCE.findall(passage.text)), default=2))
    language = hit.language if hit.language.isalnum() else ""
    return f"### [{position}/{count}] {' · '.join(facts)}\n{fence}{language}\n{passage.text}\n{fence}\n"
