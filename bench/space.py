"""What an index takes on the disk, against its texts and vectors alone; and what fewer bits a number cost in recall."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

import lance
import numpy as np
import numpy.typing as npt

from bench import corpora
from bench.figures import Figure
from bench.searching import QUESTIONS
from everfind_core.files.disk_use import bytes_below
from everfind_core.index.directory import current_index
from everfind_core.index.store_schema import TABLE_DIRECTORY, TEXT
from everfind_core.model import Folder, IndexRequest, InputKind, Vectors
from everfind_core.ports import Embedder
from everfind_embedder import EmbedderSettings, open_embedder
from everfind_indexer.engine import IndexEngine
from everfind_indexer.settings import IndexerSettings
from everfind_indexer.store import open_writer
from everfind_indexer.syntax import SyntaxChunker

VECTOR_BYTES = 768
MOST = 1.5
NEAREST = 10


def measure(*, quick: bool = False) -> Iterator[Figure]:
    """An index of code as it lies after maintenance; the same texts' vectors in single, half and eight-bit numbers."""
    with tempfile.TemporaryDirectory() as scratch:
        base = Path(scratch)
        corpus = corpora.stdlib(base / "code", files=5 if quick else 100, every=5)
        settings = IndexerSettings(base / "index", (Folder("code", str(corpus)),))
        with contextlib.closing(open_embedder(EmbedderSettings())) as embedder:
            IndexEngine(settings, embedder, SyntaxChunker(), open_writer).index(IndexRequest(), lambda _event: None)
            directory = current_index(settings.index_directory).directory
            texts: list[str] = (
                lance.dataset(str(directory / TABLE_DIRECTORY)).to_table(columns=[TEXT])[TEXT].to_pylist()
            )
            yield from _disk(directory, embedder, texts)
            yield from _recall(embedder, texts)


def _disk(directory: Path, embedder: Embedder, texts: list[str]) -> Iterator[Figure]:
    alone = sum(len(text.encode()) for text in texts) + VECTOR_BYTES * len(texts)
    note = f"{len(texts):,} chunks"
    yield Figure("disk after a run / (text + 768 bytes a chunk)", bytes_below(directory) / alone, "×", note=note)
    with contextlib.closing(open_writer(directory, embedder.model().dimensions)) as writer:
        writer.purge()
    yield Figure("  the same without versions before", bytes_below(directory) / alone, "×", MOST, note=note)


def _recall(embedder: Embedder, texts: list[str]) -> Iterator[Figure]:
    """Of the ten nearest by vectors in single precision, the share that is found; as near as the tenth is as good."""
    single = embedder.embed(texts, InputKind.DOCUMENT)
    queries = embedder.embed(QUESTIONS, InputKind.QUERY)
    exact = queries @ single.T
    tenth = np.partition(exact, -NEAREST, axis=1)[:, -NEAREST]
    for name, vectors in (("half precision", single.astype(np.float16)), ("eight bits", _eight_bits(single))):
        found = np.argsort(-(queries @ vectors.astype(np.float32).T), axis=1)[:, :NEAREST]
        near = np.take_along_axis(exact, found, axis=1) >= tenth[:, None]
        yield Figure(f"recall@10 of vectors in {name}", float(near.mean()), "", 0.99, at_most=False)


def _eight_bits(vectors: Vectors) -> npt.NDArray[np.float32]:
    """Each vector as whole numbers times a scale of its own, and back."""
    scales = np.abs(vectors).max(axis=1, keepdims=True) / 127
    shortened: npt.NDArray[np.float32] = np.rint(vectors / scales) * scales
    return shortened
