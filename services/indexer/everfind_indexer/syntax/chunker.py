"""The chunker for everything: code by its syntax tree where there is a grammar, all else by lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from everfind_core.callgraph.symbols import REVISION as SYMBOLS_REVISION
from everfind_core.chunking import TextChunker, cut
from everfind_core.chunking.source import Source
from everfind_core.model import Chunk, Document, LineKind
from everfind_core.ports import ChunkLimits, Tokenizer
from everfind_indexer.syntax.grammars import LANGUAGES
from everfind_indexer.syntax.parsing import parse
from everfind_indexer.syntax.structure import analyse


class SyntaxChunker:
    """Cuts code at the borders of its syntax tree (:class:`everfind_core.ports.Chunker`)."""

    revision = f"syntax-4.{SYMBOLS_REVISION}+{TextChunker.revision}"

    def __init__(self) -> None:
        self._text = TextChunker()

    def chunk(self, document: Document, tokenizer: Tokenizer, limits: ChunkLimits) -> Sequence[Chunk]:
        """The chunks of ``document`` in line order; see :meth:`everfind_core.chunking.TextChunker.chunk`."""
        if document.kind is not LineKind.CODE or document.language not in LANGUAGES:
            return self._text.chunk(document, tokenizer, limits)
        source = Source.read(document.text, tokenizer)
        syntax = parse(source.lines, source.text, document.language)
        chunks = cut(document, source, analyse(source, syntax, document.language), tokenizer, limits)
        symbols = syntax.symbols.by_chunk([chunk.end_line for chunk in chunks])
        return [replace(chunk, symbols=part) for chunk, part in zip(chunks, symbols, strict=True)]
