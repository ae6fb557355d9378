"""Fakes of the ports: small, fast, and as strict as the real ones."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from everfind_core.cancellation import Cancellation
from everfind_core.errors import InvalidRequestError
from everfind_core.lifecycle import Fate, join_refs, split_refs
from everfind_core.model import FileRef, InputKind, ModelInfo, TokenSpans, Vectors
from everfind_core.ports import FileChunks, StoredChunk, TokenIds

DIMENSIONS = 32
MODEL = ModelInfo(id="fake", revision="1", dimensions=DIMENSIONS, max_tokens=256, pooling="mean")
_WORD = re.compile(r"\w+|[^\w\s]")


class FakeTokenizer:
    """Words and punctuation; an id is a hash of the word."""

    sliceable = True

    def encode(self, text: str) -> TokenSpans:
        found = list(_WORD.finditer(text))
        ids = [int.from_bytes(blake2b(m.group().encode(), digest_size=3).digest(), "big") for m in found]
        return TokenSpans(np.array(ids, np.int64), np.array([m.start() for m in found], np.int64))


@dataclass
class FakeEmbedder:
    """A bag of hashed tokens as a unit vector: equal texts are equal, similar ones near. Records what it embedded."""

    embedded: int = 0
    calls: int = 0
    fail_after: int | None = None
    info: ModelInfo = MODEL

    def model(self) -> ModelInfo:
        return self.info

    def tokenizer(self) -> FakeTokenizer:
        return FakeTokenizer()

    def embed(self, texts: Sequence[str], kind: InputKind, *, cancel: Cancellation | None = None) -> Vectors:
        return self._vectors([self.tokenizer().encode(text).ids for text in texts], cancel)

    def embed_tokens(self, sequences: Sequence[TokenIds], *, cancel: Cancellation | None = None) -> Vectors:
        for n, sequence in enumerate(sequences):
            if len(sequence) > self.info.text_budget:
                raise InvalidRequestError.of(f"sequences[{n}]", "too long")
        return self._vectors(sequences, cancel)

    def _vectors(self, sequences: Sequence[TokenIds], cancel: Cancellation | None) -> Vectors:
        if cancel:
            cancel.check()
        self.calls += 1
        if self.fail_after is not None and self.calls > self.fail_after:
            raise RuntimeError("the embedder broke")
        self.embedded += len(sequences)
        rows = np.zeros((len(sequences), self.info.dimensions), np.float32)
        for row, ids in zip(rows, sequences, strict=True):
            np.add.at(row, np.asarray(ids) % self.info.dimensions, 1.0)
            row[0] += 1e-3
        return rows / np.linalg.norm(rows, axis=1, keepdims=True) if len(rows) else rows

    def close(self) -> None:
        pass


@dataclass
class MemoryStore:
    """A ChunkWriter in memory; each change is one generation."""

    rows: dict[FileRef, tuple[StoredChunk, ...]] = field(default_factory=dict)
    version: int = 1
    commits: list[list[FileRef]] = field(default_factory=list)
    lookups: int = 0
    settled: int = 1

    def replace(self, files: Sequence[FileChunks]) -> None:
        assert len({f.ref for f in files}) == len(files)
        for file in files:
            self.rows[file.ref] = file.chunks
            if not file.chunks:
                del self.rows[file.ref]
        self.commits.append([f.ref for f in files])
        self.version += 1

    def restate(self, fates: Mapping[FileRef, Fate]) -> None:
        for ref, fate in fates.items():
            successor = join_refs(fate.successors)
            self.rows[ref] = tuple(
                replace(row, status=fate.status, date=fate.date, successor=successor) for row in self.rows.get(ref, ())
            )
        self.version += 1

    def delete_folder(self, folder: str) -> None:
        self.rows = {ref: rows for ref, rows in self.rows.items() if ref.folder != folder}
        self.version += 1

    def vectors(self, keys: Iterable[str]) -> Mapping[str, npt.NDArray[np.floating]]:
        self.lookups += 1
        wanted = set(keys)
        return {
            row.embedding_key: row.vector
            for rows in self.rows.values()
            for row in rows
            if row.embedding_key in wanted and row.vector is not None
        }

    def embedding_keys(self, folder: str = "") -> Iterable[str]:
        chosen = [row for ref, rows in self.rows.items() if folder in ("", ref.folder) for row in rows]
        return [row.embedding_key for row in chosen if row.vector is not None]

    def purge(self) -> None:
        pass

    def sample_vectors(self, most: int) -> npt.NDArray[np.floating]:
        found = [row.vector for rows in self.rows.values() for row in rows if row.vector is not None]
        return np.stack(found[:most]) if found else np.empty((0, DIMENSIONS), np.float32)

    def chunk_counts(self) -> Mapping[FileRef, tuple[int, str]]:
        return {ref: (len(rows), rows[0].content_hash) for ref, rows in self.rows.items()}

    def fates(self) -> Mapping[FileRef, Fate]:
        found = {
            ref: Fate(rows[0].status, rows[0].date, split_refs(rows[0].successor)) for ref, rows in self.rows.items()
        }
        return {ref: fate for ref, fate in found.items() if fate != Fate()}

    def file_chunks(self, refs: Collection[FileRef]) -> Mapping[FileRef, tuple[StoredChunk, ...]]:
        return {ref: self.rows[ref] for ref in refs if ref in self.rows}

    def unembedded(self) -> Mapping[FileRef, int]:
        waiting = {ref: sum(row.vector is None for row in rows) for ref, rows in self.rows.items()}
        return {ref: count for ref, count in waiting.items() if count}

    def generation(self) -> int:
        return self.version

    def maintain(self, *, finish: bool, exact: bool = False) -> None:
        """Like the real store's, a change of its own, if anything was committed since the last."""
        if finish and self.version != self.settled:
            self.version += 1
            self.settled = self.version

    def close(self) -> None:
        pass
