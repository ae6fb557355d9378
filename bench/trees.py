"""Cutting code by its syntax tree, with symbols and calls: how fast, and how little beside embedding its chunks."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from bench import corpora
from bench.figures import Figure
from everfind_core.chunking import cut
from everfind_core.chunking.source import Source
from everfind_core.model import Chunk, Document, LineKind
from everfind_core.ports import ChunkLimits, Tokenizer
from everfind_embedder.loading.packaged import load_packaged
from everfind_indexer.extractors import Extraction
from everfind_indexer.settings import IndexerSettings
from everfind_indexer.syntax.parsing import parse
from everfind_indexer.syntax.structure import analyse

EVERY = 9
"""One file in so many of the standard library."""

EMBEDDED = 300
"""Chunks that are embedded, spread evenly: what all would take follows from their tokens."""

ROUNDS = 3

T = TypeVar("T")


def measure(*, quick: bool = False) -> Iterator[Figure]:
    """Bytes a second of a core, and the share of both in what cutting and embedding take together."""
    with tempfile.TemporaryDirectory() as scratch:
        documents = _documents(corpora.stdlib(Path(scratch) / "code", files=5 if quick else None, every=EVERY))
    model = load_packaged()
    limits = IndexerSettings(Path(scratch), ()).limits(model.info)[LineKind.CODE]
    sources = [Source.read(document.text, model.tokenizer) for document in documents]
    pairs = list(zip(documents, sources, strict=True))
    _cut(*pairs[0], model.tokenizer, limits)  # loads the grammar
    rounds = [_timed(lambda: _cut_all(pairs, model.tokenizer, limits)) for _ in range(ROUNDS)]
    chunks, seconds = min(rounds, key=lambda found: found[1])
    size = sum(len(document.text.encode()) for document in documents)
    yield Figure(
        "code: cut by syntax trees, symbols and calls included",
        size / 1e6 / seconds,
        "MB/s",
        2,
        at_most=False,
        note=f"{len(documents)} files, {size / 1e6:.2f} MB, {len(chunks)} chunks; best of {ROUNDS}: {seconds:.2f} s",
    )
    some = [c for c in chunks[:: max(1, len(chunks) // EMBEDDED)] if c.token_ids is not None]
    wrapped = [model.tokenizer.wrap(c.token_ids) for c in some if c.token_ids is not None]
    _, embedding = _timed(lambda: [model.encoder.run(np.stack([ids])) for ids in wrapped])
    whole = embedding * sum(c.tokens for c in chunks) / sum(c.tokens for c in some)
    yield Figure(
        "code: trees, symbols and calls / these and embedding, CPU",
        seconds / (seconds + whole),
        "ratio",
        0.1,
        note=f"embedding {whole:.1f} CPU-s by {len(some)} chunks",
    )


def _documents(corpus: Path) -> Sequence[Document]:
    with Extraction() as extraction:
        return [extraction.extract(path.name, path.read_bytes()) for path in sorted(corpus.rglob("*.py"))]


def _cut_all(pairs: Sequence[tuple[Document, Source]], tokenizer: Tokenizer, limits: ChunkLimits) -> list[Chunk]:
    return [chunk for document, source in pairs for chunk in _cut(document, source, tokenizer, limits)]


def _cut(document: Document, source: Source, tokenizer: Tokenizer, limits: ChunkLimits) -> Sequence[Chunk]:
    """As the chunker does, but for the tokens, which any way to cut needs."""
    syntax = parse(source.lines, source.text, document.language)
    chunks = cut(document, source, analyse(source, syntax, document.language), tokenizer, limits)
    syntax.symbols.by_chunk([chunk.end_line for chunk in chunks])
    return chunks


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    """What it gives, and the CPU seconds of this process."""
    start = time.process_time()
    return work(), time.process_time() - start
