"""The questions of a reader, each asked of the store's newest snapshot."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

from everfind_core.errors import IndexDamagedError
from everfind_core.model import FileRef, Filters, Vector
from everfind_core.ports import ChunkSnapshot, Labels, ScoredChunk, StoredChunk

_T = TypeVar("_T")


class SnapshotReader(ABC):
    """A :class:`~everfind_core.ports.ChunkReader` that answers as its snapshots do."""

    @abstractmethod
    def snapshot(self) -> ChunkSnapshot:
        """The store's newest generation."""

    def reopened(self) -> ChunkSnapshot:
        """The same after something of the one before went away."""
        return self.snapshot()

    def semantic(self, vector: Vector, limit: int, where: Filters) -> Sequence[ScoredChunk]:
        """See :meth:`everfind_core.ports.ChunkSnapshot.semantic`."""
        return self._ask(lambda snapshot: snapshot.semantic(vector, limit, where))

    def lexical(self, terms: Sequence[str], limit: int, where: Filters) -> Sequence[ScoredChunk]:
        """See :meth:`everfind_core.ports.ChunkSnapshot.lexical`."""
        return self._ask(lambda snapshot: snapshot.lexical(terms, limit, where))

    def quoting(self, phrase: str, terms: Sequence[str], limit: int, where: Filters) -> Sequence[ScoredChunk]:
        """See :meth:`everfind_core.ports.ChunkSnapshot.quoting`."""
        return self._ask(lambda snapshot: snapshot.quoting(phrase, terms, limit, where))

    def file_chunks(self, ref: FileRef) -> Sequence[StoredChunk]:
        """See :meth:`everfind_core.ports.ChunkSnapshot.file_chunks`."""
        return self._ask(lambda snapshot: snapshot.file_chunks(ref))

    def unembedded(self, refs: Collection[FileRef]) -> frozenset[FileRef]:
        """See :meth:`everfind_core.ports.ChunkSnapshot.unembedded`."""
        return self._ask(lambda snapshot: snapshot.unembedded(refs))

    def naming(self, tokens: Sequence[str], limit: int, where: Filters) -> Sequence[StoredChunk]:
        """See :meth:`everfind_core.ports.ChunkSnapshot.naming`."""
        return self._ask(lambda snapshot: snapshot.naming(tokens, limit, where))

    def count(self, where: Filters) -> int:
        """See :meth:`everfind_core.ports.ChunkSnapshot.count`."""
        return self._ask(lambda snapshot: snapshot.count(where))

    def labels(self, where: Filters) -> Labels:
        """See :meth:`everfind_core.ports.ChunkSnapshot.labels`."""
        return self._ask(lambda snapshot: snapshot.labels(where))

    def _ask(self, question: Callable[[ChunkSnapshot], _T]) -> _T:
        """Ask the newest generation; once more if a part of it was replaced and dropped meanwhile."""
        try:
            return question(self.snapshot())
        except IndexDamagedError:
            return question(self.reopened())
