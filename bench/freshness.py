"""What a run costs that finds nothing changed; and files of a made-up corpus, for what needs many."""

from __future__ import annotations

import gc
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

import numpy as np

from bench.figures import Figure, run
from bench.indexing import environment, everfind
from everfind_core.model import FileRef, FileState, Folder
from everfind_core.ports import FileChunks, StoredChunk
from everfind_indexer.running.planning import plan
from everfind_indexer.settings import IndexerSettings
from everfind_indexer.sources import Sources

DIMENSIONS = 384
CHUNKS_A_FILE = 10
FILES_A_BATCH = 2_000
VOCABULARY = 20_000
TERMS_A_CHUNK = 40


def no_change(*, quick: bool = False) -> Iterator[Figure]:
    """A run over files that did not change, process start included, and what planning it holds in memory."""
    count = 2_000 if quick else 100_000
    with tempfile.TemporaryDirectory() as scratch:
        base = Path(scratch)
        _write_files(base / "corpus", count)
        env = environment(base / "home")
        run(everfind("add", str(base / "corpus")), env=env)
        run(everfind("index", "--json"), env=env)
        again = run(everfind("index", "--json"), env=env)
        yield Figure(
            f"no-change run over {count:,} files",
            again.wall,
            "s",
            3,
            note=f"CPU {again.cpu:.2f} s; peak {again.peak_mib:.0f} MiB",
        )
        yield Figure("planning: memory a file", _planning_bytes(base, base / "corpus", count), "bytes", 300)


def _write_files(corpus: Path, count: int) -> None:
    """Small files with few different texts, so that embedding them once costs next to nothing."""
    for number in range(count):
        file = corpus / f"d{number % 100:02}" / f"e{number // 100 % 20:02}" / f"file{number:06}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"text {number % 10}\n", encoding="ascii")


def _planning_bytes(base: Path, corpus: Path, count: int) -> float:
    """Bytes that discovery and planning hold for each file, of which all are known."""
    folder = Folder("bench", str(corpus))
    sources = Sources(IndexerSettings(base / "unused", (folder,)))
    gc.collect()
    tracemalloc.start()
    found = sources.discover(folder).files
    known = (
        FileState(FileRef("bench", f.path), f.size, f.mtime_ns, f.ctime_ns, f.inode, time.time_ns() * 2, "", 1)
        for f in found
    )
    made = plan(found, known)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert made.unchanged == count
    return held / count


def file_of(number: int, chance: np.random.Generator, *, mark: str = "") -> FileChunks:
    """A file of a made-up corpus: words by chance, and ``mark`` in each of its chunks."""
    ref = FileRef("bench", f"d{number % 100}/file{number}.py")
    vectors = chance.normal(size=(CHUNKS_A_FILE, DIMENSIONS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    words = (VOCABULARY * chance.random((CHUNKS_A_FILE, TERMS_A_CHUNK)) ** 3).astype(int)
    chunks = []
    for ordinal in range(CHUNKS_A_FILE):
        text = " ".join([f"w{word}" for word in words[ordinal]] + ([mark] if mark else []))
        key = blake2b(f"{number} {ordinal} {mark}".encode(), digest_size=16).hexdigest()
        chunks.append(
            StoredChunk(
                chunk_id=f"{number}-{ordinal}",
                ref=ref,
                ordinal=ordinal,
                start_line=10 * ordinal + 1,
                end_line=10 * ordinal + 10,
                text=text,
                terms=text,
                embedding_key=key,
                content_hash=key,
                tokens=TERMS_A_CHUNK,
                language="python",
                kind="function",
                vector=vectors[ordinal],
            )
        )
    return FileChunks(ref, tuple(chunks))
