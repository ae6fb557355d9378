"""From a range of lines to a chunk: text, context, overlap, symbol, tokens."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from everfind_core.chunking.source import Source
from everfind_core.chunking.structure import BLANK, STRUCTURAL, Label, Structure, Trail, column_of
from everfind_core.model import Chunk, Document
from everfind_core.ports import ChunkLimits, TokenIds, Tokenizer

CONTEXT_TOKENS = 40
"""A context never counts more."""

FEWEST_WORDS = 20
"""Tokens of prose that can stand for a chunk most of which is code."""

_SEPARATOR = " > "


@dataclass(frozen=True, slots=True)
class _Piece:
    """Lines ``first`` to ``last`` (from 0), and before them, from line ``start`` on, ``overlap`` repeated tokens.

    ``tokens`` are those of ``text``; ``said`` is what of it is embedded, if not all, and ``ids`` are that one's tokens.
    """

    start: int
    first: int
    last: int
    text: str
    tokens: int
    ids: TokenIds
    overlap: int
    said: str | None = None


@dataclass(frozen=True, slots=True)
class Assembly:
    """Makes one document's chunks."""

    document: Document
    source: Source
    structure: Structure
    tokenizer: Tokenizer
    limits: ChunkLimits
    _context_ids: dict[str, TokenIds] = field(default_factory=dict)

    def lines(self, first: int, last: int, earliest: int) -> Iterator[Chunk]:
        """The chunk of lines ``first`` to ``last``, neither blank; its overlap starts after line ``earliest``.

        More than one only where a tokenizer that is not sliceable counts more for it than the hard limit. There is no
        overlap with such a tokenizer: what stands before may have been cut once more.
        """
        overlaps = self.tokenizer.sliceable
        for overlapping, with_context in ((overlaps, True), (False, True), (False, False)):
            chunk = self._lines(first, last, earliest if overlapping else first, with_context=with_context)
            if chunk.tokens <= self.limits.hard:
                yield chunk
                return
        if first == last:
            yield from self.slice(first, 0, len(self.source.lines[first]))
            return
        middle = (first + last + 1) // 2
        yield from self._trimmed(first, middle - 1)
        yield from self._trimmed(middle, last)

    def slice(self, line: int, start: int, end: int) -> Iterator[Chunk]:
        """The chunk of characters ``start`` to ``end`` of one line; more than one if it has too many tokens."""
        text = self.source.lines[line][start:end]
        ids = self.tokenizer.encode(text).ids
        if len(ids) > self.limits.hard and end - start > 1:
            middle = (start + end) // 2
            yield from self.slice(line, start, middle)
            yield from self.slice(line, middle, end)
            return
        piece = _Piece(line, line, line, text, len(ids), ids, 0)
        chunk = self._chunk(piece, self._context(line, len(ids)))
        yield chunk if chunk.tokens <= self.limits.hard else self._chunk(piece, "")

    def _trimmed(self, first: int, last: int) -> Iterator[Chunk]:
        strengths = self.structure.strengths
        while first <= last and strengths[first] == BLANK:
            first += 1
        while last >= first and strengths[last] == BLANK:
            last -= 1
        if first <= last:
            yield from self.lines(first, last, first)

    def _lines(self, first: int, last: int, earliest: int, *, with_context: bool) -> Chunk:
        body = int(self.source.first_token[last + 1] - self.source.first_token[first])
        context = self._context(first, body) if with_context else ""
        room = min(self.limits.overlap, self.limits.hard - body - len(self._encoded(context)))
        start = self._overlap_start(first, earliest, room)
        text = "\n".join(self.source.lines[start : last + 1])
        overlap = int(self.source.first_token[first] - self.source.first_token[start])
        ids = self.source.ids(start, last)
        piece = _Piece(start, first, last, text, len(ids), ids, overlap)
        return self._chunk(self._said(piece), context)

    def _said(self, piece: _Piece) -> _Piece:
        """``piece`` with what of it is embedded: no furniture of pages, and no code that would drown its words.

        Code does where there are enough words, but fewer than tokens of code.
        """
        if not self.structure.furniture and not self.structure.code:
            return piece
        lines = range(piece.start, piece.last + 1)
        said = [line for line in lines if line not in self.structure.furniture]
        words = [line for line in said if line not in self.structure.code]
        if len(words) < len(said) and FEWEST_WORDS <= len(self._ids(words)) < piece.tokens / 2:
            said = words
        if len(said) == len(lines):
            return piece
        ids = self._ids(said)
        if not len(ids):
            return piece
        return replace(piece, ids=ids, said="\n".join(self.source.lines[line] for line in said))

    def _ids(self, lines: Sequence[int]) -> TokenIds:
        return np.concatenate([self.source.ids(line, line) for line in lines]) if lines else self._encoded("")

    def _overlap_start(self, first: int, earliest: int, room: int) -> int:
        """The line from which a chunk repeats what stands before it: whole lines of the same section, never all."""
        strengths, first_token = self.structure.strengths, self.source.first_token
        start = first
        if strengths[first] >= STRUCTURAL:
            return start
        for line in range(first - 1, earliest, -1):
            repeated = first_token[first] - first_token[line]
            if repeated > room:
                break
            if strengths[line] != BLANK and repeated:
                start = line
            if strengths[line] >= STRUCTURAL:
                break
        return start

    def _chunk(self, piece: _Piece, context: str) -> Chunk:
        context_ids = self._encoded(context)
        ids = np.concatenate((context_ids, piece.ids)) if self.tokenizer.sliceable else None
        whole = f"{context}\n{piece.text}" if context else piece.text
        symbol, kind = self._symbol(piece.first, piece.last)
        return Chunk(
            start_line=piece.start + 1,
            end_line=piece.last + 1,
            text=piece.text,
            tokens=len(self.tokenizer.encode(whole)) if ids is None else len(context_ids) + piece.tokens,
            context=context,
            context_tokens=len(context_ids),
            overlap_tokens=piece.overlap,
            symbol=symbol,
            kind=kind,
            heading=self._heading(piece.first),
            page=bisect_right(self.document.page_starts, piece.start + 1),
            token_ids=ids,
            said=piece.said,
        )

    def _trail(self, line: int) -> Trail:
        return self.structure.trail_at(line, column_of(self.source.lines[line]))

    def _context(self, line: int, body: int) -> str:
        """What encloses ``line``, outermost first; the outermost go where there is no room beside ``body`` tokens."""
        room = min(CONTEXT_TOKENS, self.limits.hard - body)
        texts = [label.text for label in self._trail(line) if label.text]
        while texts:
            context = _SEPARATOR.join(texts)
            if len(self._encoded(context)) <= room:
                return context
            del texts[0]
        return ""

    def _encoded(self, context: str) -> TokenIds:
        ids = self._context_ids.get(context)
        if ids is None:
            ids = self._context_ids[context] = self.tokenizer.encode(context).ids
        return ids

    def _heading(self, first: int) -> str:
        """The breadcrumb of the section that line ``first`` stands in or starts; empty in code."""
        labels = [*self._trail(first), *self.structure.labels_in(first, first + 1)]
        return _SEPARATOR.join(label.text for label in labels if label.text and not label.symbol)

    def _symbol(self, first: int, last: int) -> tuple[str, str]:
        """Name and kind of the definition that the lines start with, hold as their only one, or go on with."""
        inside = [label for label in self.structure.labels_in(first, last + 1) if label.symbol]
        if inside and (len(inside) == 1 or self._starts(inside[0], first)):
            return inside[0].symbol, inside[0].kind
        enclosing = [label for label in self._trail(first) if label.symbol]
        if inside or not enclosing:
            return "", ""
        return enclosing[-1].symbol, enclosing[-1].kind

    def _starts(self, label: Label, first: int) -> bool:
        return label in self.structure.labels_in(first, first + 1)
