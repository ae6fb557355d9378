"""Make a large index of a small one: rows that are mixtures of two real ones, in text, terms and vector alike."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np

from everfind_core.index.store_schema import TABLE_DIRECTORY
from everfind_core.model import FileRef
from everfind_core.ports import FileChunks, StoredChunk
from everfind_indexer.store import open_writer
from everfind_searcher.store.rows import chunks

_FILES_A_COMMIT = 20


def grow(index: Path, rows: int) -> int:
    """Add files to the table in ``index`` until it has about ``rows`` rows; gives how many it has.

    A mixture has the first half of one real chunk and the second half of another, so that terms keep their
    frequencies, and the mean of both vectors.
    """
    import lance  # after the store's package, which tells it what to log

    real = chunks(lance.dataset(str(index / TABLE_DIRECTORY)).to_table())
    dimensions = next(len(chunk.vector) for chunk in real if chunk.vector is not None)
    writer = open_writer(index, dimensions)
    total = len(real)
    files = _mixed_files(real)
    while total < rows:
        batch = list(islice(files, _FILES_A_COMMIT))
        writer.replace(batch)
        writer.maintain(finish=False)
        total += sum(len(file.chunks) for file in batch)
    writer.maintain(finish=True)
    writer.close()
    return total


def _mixed_files(real: Sequence[StoredChunk]) -> Iterator[FileChunks]:
    """One file after the other, without end: the same files again and again, each time mixed with other chunks."""
    choose = random.Random(1)
    by_file: dict[FileRef, list[StoredChunk]] = defaultdict(list)
    for chunk in real:
        by_file[chunk.ref].append(chunk)
    turn = 0
    while True:
        turn += 1
        for ref, own in by_file.items():
            mixed = FileRef(ref.folder, f"mixed{turn}/{ref.path}")
            yield FileChunks(mixed, tuple(_mixture(mixed, one, choose.choice(real), turn) for one in own))


def _mixture(ref: FileRef, one: StoredChunk, other: StoredChunk, turn: int) -> StoredChunk:
    vectors = [chunk.vector for chunk in (one, other) if chunk.vector is not None]
    mean = np.stack(vectors).astype(np.float32).mean(axis=0)
    return replace(
        one,
        ref=ref,
        chunk_id=f"{one.chunk_id}-{turn}",
        embedding_key=f"{one.embedding_key}-{turn}",
        text=_halves(one.text, other.text, "\n"),
        terms=_halves(one.terms, other.terms, " "),
        vector=mean / np.linalg.norm(mean),
    )


def _halves(one: str, other: str, separator: str) -> str:
    head, tail = one.split(separator), other.split(separator)
    return separator.join(head[: len(head) // 2] + tail[len(tail) // 2 :])
