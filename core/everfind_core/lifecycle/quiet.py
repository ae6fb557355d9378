"""A document without some of its lines, for cutting and embedding; its chunks then get them back.

What is embedded says nothing of a document's status, so that an edit of its status alone embeds nothing again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from everfind_core.model.chunks import Chunk, Document


def without_lines(document: Document, lines: frozenset[int]) -> tuple[Document, list[int]]:
    """The document without these lines (from 0) nor blank ones that follow blank ones then, and which lines are left.

    The document as it is where nothing else would be left, or where pages are counted by lines.
    """
    text = document.text.split("\n")
    kept: list[int] = []
    after_told = False
    for number, line in enumerate(text):
        doubled = after_told and not line.strip() and not (kept and text[kept[-1]].strip())
        after_told = number in lines or doubled
        if not after_told:
            kept.append(number)
    if not lines or document.page_starts or not any(text[number].strip() for number in kept):
        return document, list(range(len(text)))
    return replace(document, text="\n".join(text[number] for number in kept)), kept


def with_lines(chunks: Sequence[Chunk], text: str, kept: Sequence[int]) -> list[Chunk]:
    """``chunks`` of a document without lines, with the line numbers and the lines of its whole ``text``.

    A line that was left out belongs to the chunk with the line before it, at the start of the text to the first.
    """
    lines = text.split("\n")
    if len(kept) == len(lines):
        return list(chunks)
    return [_whole(chunk, lines, kept) for chunk in chunks]


def _whole(chunk: Chunk, lines: Sequence[str], kept: Sequence[int]) -> Chunk:
    first, last = kept[chunk.start_line - 1], kept[chunk.end_line - 1]
    if not any(lines[number].strip() for number in kept[: chunk.start_line - 1]):
        first = next(number for number, line in enumerate(lines) if line.strip())
    following = next((number for number in kept[chunk.end_line :] if lines[number].strip()), len(lines))
    while following - 1 > last and not lines[following - 1].strip():
        following -= 1
    last = max(last, following - 1)
    if last - first == chunk.end_line - chunk.start_line:
        return replace(chunk, start_line=first + 1, end_line=last + 1)
    return replace(chunk, start_line=first + 1, end_line=last + 1, text="\n".join(lines[first : last + 1]))
