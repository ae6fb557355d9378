"""Small indexes for the store's tests."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from everfind_core.model import FileRef, Filters
from everfind_core.ports import FileChunks, ScoredChunk, StoredChunk

DIMENSIONS = 16
EVERYTHING = Filters()

HOSTILE_NAMES = (
    "don't.py",
    'say "hi".py',
    "x' OR 1=1 --",
    "'); DROP TABLE chunks; --",
    "100%_done.md",
    "100X_done.md",
    "100%Xdone.md",
    "2026_06_16.md",
    "2026-06-16.md",
    "back\\slash\\'.txt",
    "nul\0byte",
    "new\nline\r.py",
    "tab\t space .py",
    "emoji 😀.md",
    "cafe\u0301.txt",
    "caf\u00e9.txt",
    "README.md",
    "readme.md",
    "a[1]/.gitignore",
    "a1/.gitignore",
    "%FF raw",
    "$(rm -rf)`x`",
    "日本語/設計.md",
    "*",
    "?",
)


def unit(*parts: object) -> npt.NDArray[np.float32]:
    """A unit vector that depends on ``parts`` only."""
    seed = int.from_bytes(hashlib.blake2b(repr(parts).encode(), digest_size=8).digest(), "big")
    vector = np.random.default_rng(seed).normal(size=DIMENSIONS).astype(np.float32)
    return vector / np.float32(np.linalg.norm(vector))


def chunk(ref: FileRef, ordinal: int, text: str, *, tag: str = "", has_vector: bool = True) -> StoredChunk:
    """Chunk ``ordinal`` of a file, ten lines long, whose terms are the words of ``text``."""
    key = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
    return StoredChunk(
        chunk_id=f"{ref.folder}\0{ref.path}\0{ordinal}\0{tag}",
        ref=ref,
        ordinal=ordinal,
        start_line=ordinal * 10 + 1,
        end_line=ordinal * 10 + 10,
        text=text,
        terms=text,
        embedding_key=key,
        content_hash=f"hash {ref.path} {tag}",
        tokens=len(text.split()),
        vector=unit(text) if has_vector else None,
    )


def file(folder: str, path: str, *texts: str, tag: str = "", has_vectors: bool = True, **fields: str) -> FileChunks:
    """A file with one chunk a text; ``fields`` go to every chunk."""
    ref = FileRef(folder, path)
    chunks = (chunk(ref, n, text, tag=tag, has_vector=has_vectors) for n, text in enumerate(texts))
    return FileChunks(ref, tuple(replace(c, **fields) for c in chunks))  # type: ignore[arg-type]  # fields are texts


def random_texts(count: int, seed: int, words: int = 12) -> list[str]:
    """Texts over a small vocabulary with a long tail."""
    choose = random.Random(seed)
    vocabulary = [f"w{n}" for n in range(400)]
    weights = [1 / (n + 1) for n in range(400)]
    return [" ".join(choose.choices(vocabulary, weights, k=choose.randint(3, words))) for _ in range(count)]


def places(found: Sequence[ScoredChunk]) -> list[tuple[str, str, int]]:
    """Where the found chunks are, in their order."""
    return [(f.chunk.ref.folder, f.chunk.ref.path, f.chunk.ordinal) for f in found]


def with_vectors(found: Sequence[ScoredChunk]) -> list[tuple[StoredChunk, float, list[float]]]:
    """All of what was found, in a form that compares its vectors, too."""
    return [(f.chunk, f.score, [] if f.vector is None else f.vector().tolist()) for f in found]


def paths(found: Sequence[ScoredChunk]) -> set[str]:
    """The paths of the found chunks."""
    return {f.chunk.ref.path for f in found}
