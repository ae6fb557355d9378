"""The chunker for text without a syntax tree: analyse lines, pack them, assemble chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from everfind_core.chunking import (
    asciidoc,
    code,
    config,
    html_source,
    markdown,
    org,
    prose,
    records,
    restructured,
)
from everfind_core.chunking.assembly import Assembly
from everfind_core.chunking.limits import body_cap
from everfind_core.chunking.packer import Ints, pack
from everfind_core.chunking.source import Source, line_units, word_units
from everfind_core.chunking.structure import Structure
from everfind_core.model import Chunk, Document, LineKind
from everfind_core.ports import ChunkLimits, Tokenizer

_UNSLICEABLE_CAP = 0.9

Analyser = Callable[[Sequence[str]], Structure]

_BY_KIND: dict[LineKind, Analyser] = {
    LineKind.MARKDOWN: markdown.analyse,
    LineKind.PROSE: prose.analyse,
    LineKind.CONFIG: config.analyse,
}
_BY_LANGUAGE: dict[tuple[LineKind, str], Analyser] = {
    (LineKind.PROSE, "restructuredtext"): restructured.analyse,
    (LineKind.PROSE, "asciidoc"): asciidoc.analyse,
    (LineKind.PROSE, "org"): org.analyse,
    (LineKind.CONFIG, "csv"): records.analyse,
}


class TextChunker:
    """Cuts prose, markup, code and configuration by their lines (:class:`everfind_core.ports.Chunker`)."""

    revision = "lines-8"

    def chunk(self, document: Document, tokenizer: Tokenizer, limits: ChunkLimits) -> Sequence[Chunk]:
        """The chunks of ``document`` in line order; every line that is not blank is in one.

        Token ids come along if the tokenizer is sliceable. A tokenizer that is not counts each chunk again, and chunks
        are packed a tenth smaller, since a line may have more tokens alone than inside the file.
        """
        source = Source.read(document.text, tokenizer)
        return cut(document, source, _analyse(document, source), tokenizer, limits)


def cut(
    document: Document, source: Source, structure: Structure, tokenizer: Tokenizer, limits: ChunkLimits
) -> Sequence[Chunk]:
    """The chunks of ``document``, whose lines are ``source``, by the ``structure`` that an analyser found in them."""
    cap = body_cap(limits)
    if document.kind is LineKind.CONFIG:
        limits = replace(limits, overlap=0)
    if not tokenizer.sliceable:
        cap = max(1, int(_UNSLICEABLE_CAP * cap))
    assembly = Assembly(document, source, structure, tokenizer, limits)
    return list(_chunks(source, structure, assembly, cap))


def _analyse(document: Document, source: Source) -> Structure:
    if document.kind is LineKind.CODE:
        return code.analyse(source.lines, source.text, source.starts, document.language)
    if document.kind is LineKind.PROSE and document.language == "html":
        return html_source.analyse(source.lines, source.text, source.starts.tolist())
    analyse = _BY_LANGUAGE.get((document.kind, document.language)) or _BY_KIND[document.kind]
    structure = analyse(source.lines)
    # In a notebook the code is no illustration of the words.
    return replace(structure, code=frozenset()) if document.extracted_from == "notebook" else structure


def _chunks(source: Source, structure: Structure, assembly: Assembly, cap: int) -> Iterator[Chunk]:
    strengths = np.asarray(structure.strengths, dtype=np.int64)
    weights = source.weights()
    huge = np.flatnonzero(weights > cap)
    for first, beyond in _runs(structure.preamble, huge, len(source.lines)):
        if beyond - first == 1 and weights[first] > cap:
            yield from _slices(source, first, assembly, cap)
            continue
        units, numbers = line_units(source, weights, strengths, first, beyond)
        earliest = 0
        for start, end in pack(units, cap):
            yield from assembly.lines(int(numbers[start]), int(numbers[end - 1]), int(numbers[earliest]))
            earliest = start


def _runs(preamble: int, huge: Ints, count: int) -> Iterator[tuple[int, int]]:
    """Ranges of lines that are packed apart: front matter, each huge line, and what stands between them."""
    borders = {0, preamble, count}
    for line in huge.tolist():
        borders |= {line, line + 1}
    return pairwise(sorted(borders))


def _slices(source: Source, line: int, assembly: Assembly, cap: int) -> Iterator[Chunk]:
    units, offsets = word_units(source, line, cap)
    ends = np.append(offsets, len(source.lines[line]))
    for start, end in pack(units, cap):
        yield from assembly.slice(line, int(offsets[start]), int(ends[end]))
