"""What an index takes on the disk and in memory, and what fewer bits a number of its vectors save and cost."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import lance
import numpy as np
import numpy.typing as npt

from bench import corpora
from bench.figures import Figure, percentile
from bench.growth import grow
from bench.searching import QUESTIONS
from everfind_core.files.disk_use import bytes_below
from everfind_core.index.directory import current_index
from everfind_core.index.store_schema import KIND, TABLE_DIRECTORY, TEXT
from everfind_core.index.vector_codec import VectorCodec, decoded
from everfind_core.index.vector_types import VectorType
from everfind_core.model import Filters, Folder, IndexRequest, InputKind, Vectors
from everfind_core.ports import Embedder
from everfind_embedder import EmbedderSettings, open_embedder
from everfind_indexer.engine import IndexEngine
from everfind_indexer.settings import IndexerSettings, KeptVectors
from everfind_indexer.store import open_writer
from everfind_indexer.syntax import SyntaxChunker
from everfind_searcher.store import open_reader
from everfind_searcher.store.lance_version import LanceVersion

VECTOR_BYTES = 768
MOST = 1.5
NEAREST = 10
FILTERED = "method"
SCANNED = 20_000


@dataclass(frozen=True, slots=True)
class Questions:
    """Their vectors, and those of texts in single precision."""

    vectors: Vectors
    exact: Mapping[str, npt.NDArray[np.float32]]

    @classmethod
    def of(cls, embedder: Embedder, texts: Sequence[str]) -> Questions:
        """All questions, and these texts."""
        exact = dict(zip(texts, embedder.embed(texts, InputKind.DOCUMENT), strict=True))
        return cls(embedder.embed(QUESTIONS, InputKind.QUERY), exact)


def measure(*, quick: bool = False) -> Iterator[Figure]:
    """An index of code as it lies after maintenance, and its rebuild with vectors of the other type."""
    with tempfile.TemporaryDirectory() as scratch:
        base = Path(scratch)
        corpus = corpora.stdlib(base / "code", files=5 if quick else 100, every=5)
        settings = IndexerSettings(
            base / "index", (Folder("code", str(corpus)),), kept_vectors=KeptVectors(base / "kept")
        )
        with contextlib.closing(open_embedder(EmbedderSettings())) as embedder:
            asked: Questions | None = None
            for kind in VectorType:
                engine = IndexEngine(replace(settings, vector_type=kind), embedder, SyntaxChunker(), open_writer)
                engine.index(IndexRequest(rebuild=True), lambda _event: None)
                directory = current_index(settings.index_directory).directory
                rows = _rows(directory)
                asked = asked or Questions.of(embedder, rows[TEXT].to_pylist())
                yield from _space(directory, embedder.model().dimensions, rows, kind)
                yield from _recall(rows, asked, kind)
                yield from _beyond_memory(directory, asked, kind, rows.num_rows if quick else SCANNED)


def _rows(directory: Path) -> Any:
    return lance.dataset(str(directory / TABLE_DIRECTORY)).to_table(columns=[TEXT, KIND])


def _space(directory: Path, dimensions: int, rows: Any, kind: VectorType) -> Iterator[Figure]:
    count = rows.num_rows
    alone = sum(len(text.encode()) for text in rows[TEXT].to_pylist()) + VECTOR_BYTES * count
    note = f"{kind}, {count:,} chunks"
    yield Figure("disk after a run / (text + 768 bytes a chunk)", bytes_below(directory) / alone, "×", note=note)
    with contextlib.closing(open_writer(directory, dimensions)) as writer:
        writer.purge()
    yield Figure("  the same without versions before", bytes_below(directory) / alone, "×", MOST, note=note)
    yield Figure("  bytes a chunk on the disk", bytes_below(directory) / count, "bytes", note=note)
    version = LanceVersion(lance.dataset(str(directory / TABLE_DIRECTORY)), directory)
    held = sum(version.copy(one.number).size for one in version.fragments())
    yield Figure("  bytes a chunk in memory", held / count, "bytes", note=note)


def _recall(rows: Any, asked: Questions, kind: VectorType) -> Iterator[Figure]:
    """Of the ten nearest by single precision, the share found by what is stored; as near as the tenth is as good."""
    single = np.stack([asked.exact[text] for text in rows[TEXT].to_pylist()])
    codec = VectorCodec(kind, single.shape[1])
    stored = decoded(codec.from_bytes(b"".join(codec.encode(one).tobytes() for one in single))).astype(np.float32)
    stored /= np.linalg.norm(stored, axis=1, keepdims=True)
    passing = np.array(rows[KIND].to_pylist()) == FILTERED
    for name, which in (("", np.ones(len(single), bool)), (" among methods", passing)):
        exact = asked.vectors @ single[which].T
        tenth = np.partition(exact, -NEAREST, axis=1)[:, -NEAREST]
        found = np.argsort(-(asked.vectors @ stored[which].T), axis=1)[:, :NEAREST]
        near = np.take_along_axis(exact, found, axis=1) >= tenth[:, None]
        note = f"{kind}, {which.sum():,} chunks"
        yield Figure(f"recall@10{name}", float(near.mean()), "", 0.99, at_most=False, note=note)


def _beyond_memory(directory: Path, asked: Questions, kind: VectorType, size: int) -> Iterator[Figure]:
    """CPU time of the semantic arm where nothing is in memory, over mixtures; in proportion to the chunks for int8."""
    rows = grow(directory, size)
    reader = open_reader(directory, 0)
    reader.semantic(asked.vectors[0], NEAREST, Filters())
    for name, where in (("", Filters()), (" among methods", Filters(kinds=(FILTERED,)))):
        times = []
        for vector in asked.vectors[:20]:
            start = time.process_time()
            reader.semantic(vector, NEAREST, where)
            times.append(1e3 * (time.process_time() - start))
        note = f"{kind}, {rows:,} chunks"
        yield Figure(f"nearest ten{name}, none in memory, CPU", percentile(times, 0.5), "ms", note=note)
