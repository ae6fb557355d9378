"""The files that wait for their vectors, and in bounded memory what it takes to embed them without cutting them again.

What does not fit is looked at anew when its turn comes, as are files of a run that was interrupted.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from everfind_core.model import FileRef, FileState
from everfind_core.ports import ChunkWriter, FileChunks
from everfind_indexer.running.preparing import PreparedFile

if TYPE_CHECKING:
    import numpy.typing as npt

    from everfind_core.ports import TokenIds

REMEMBERED_BYTES = 64 * 1024 * 1024
_ROW_BYTES = 200
"""What a row takes in memory beyond its tokens and its text."""


@dataclass(frozen=True, slots=True)
class _Remembered:
    """A prepared file without its rows, which the store has.

    ``lengths`` cut ``token_ids`` into rows, of which one of length -1 has none, but its text.
    """

    state: FileState
    token_ids: npt.NDArray[np.unsignedinteger]
    lengths: tuple[int, ...]
    texts: tuple[str, ...]
    context_tokens: tuple[int, ...]
    overlap_tokens: int

    @classmethod
    def of(cls, file: PreparedFile) -> _Remembered:
        there = [ids for ids in file.token_ids if ids is not None]
        joined = np.concatenate([np.zeros(0, np.int64), *there])
        return cls(
            state=replace(file.state, unembedded=0),
            token_ids=joined.astype(np.min_scalar_type(int(joined.max(initial=0)))),
            lengths=tuple(-1 if ids is None else len(ids) for ids in file.token_ids),
            texts=tuple(
                "" if ids is not None else text for ids, text in zip(file.token_ids, file.embedded_texts, strict=True)
            ),
            context_tokens=file.context_tokens,
            overlap_tokens=file.overlap_tokens,
        )

    @property
    def size(self) -> int:
        """In bytes, about."""
        return self.token_ids.nbytes + sum(map(len, self.texts)) + _ROW_BYTES * len(self.lengths)

    def with_rows(self, file: FileChunks) -> PreparedFile:
        """The prepared file, with these rows."""
        return PreparedFile(
            state=self.state,
            rows=file.chunks,
            token_ids=self._cut(),
            embedded_texts=self.texts,
            context_tokens=self.context_tokens,
            overlap_tokens=self.overlap_tokens,
            fresh=False,
        )

    def _cut(self) -> tuple[TokenIds | None, ...]:
        ids = self.token_ids.astype(np.int64)
        ends = np.cumsum(np.maximum(self.lengths, 0)).tolist()
        return tuple(
            None if length < 0 else ids[end - length : end] for length, end in zip(self.lengths, ends, strict=True)
        )


class Backlog:
    """Files that wait, in their order."""

    def __init__(self, store: ChunkWriter) -> None:
        self._store = store
        self._files: OrderedDict[FileRef, _Remembered | None] = OrderedDict()
        self._size = 0

    def __contains__(self, ref: object) -> bool:
        return ref in self._files

    def remembers(self, ref: FileRef) -> bool:
        """Whether a file need not be looked at again."""
        return self._files.get(ref) is not None

    def add(self, file: PreparedFile) -> None:
        """Put a file at the end."""
        remembered = _Remembered.of(file)
        fits = self._size + remembered.size <= REMEMBERED_BYTES
        self._files[file.state.ref] = remembered if fits else None
        self._size += remembered.size if fits else 0

    def first(self, tokens: int) -> list[FileRef]:
        """The first files, as far as they are remembered: one, and more as long as they have fewer tokens than that."""
        found: list[FileRef] = []
        for ref, file in self._files.items():
            if file is None or tokens <= 0:
                break
            found.append(ref)
            tokens -= file.state.tokens
        return found

    def take(self, refs: Sequence[FileRef]) -> list[PreparedFile]:
        """Remembered files as they were prepared, with their rows from the store; they wait here no longer."""
        files = [file for ref in refs if (file := self._files.pop(ref)) is not None]
        self._size -= sum(file.size for file in files)
        rows = self._store.file_chunks(refs)
        return [file.with_rows(FileChunks(ref, rows[ref])) for ref, file in zip(refs, files, strict=True)]
