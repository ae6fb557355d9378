"""Engines that come up when first used: what a command does not need is not loaded."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from everfind_core.cancellation import Cancellation
    from everfind_core.model import Chunk, Document, InputKind, ModelInfo, Vectors
    from everfind_core.ports import Chunker, ChunkLimits, Embedder, TokenIds, Tokenizer

T = TypeVar("T")


class Late(Generic[T]):
    """Something made at the first use, once, whichever threads use it."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: list[T] = []

    def get(self) -> T:
        """It, made now if it was not."""
        if not self._made:
            with self._lock:
                if not self._made:
                    self._made.append(self._make())
        return self._made[0]

    def take(self) -> T | None:
        """It, if it was made; the next use makes another."""
        with self._lock:
            return self._made.pop() if self._made else None


class LateEmbedder:
    """An :class:`everfind_core.ports.Embedder` that is opened when something is embedded."""

    def __init__(self, open_embedder: Callable[[], Embedder]) -> None:
        self._embedder = Late(open_embedder)

    def model(self) -> ModelInfo:
        """See :meth:`everfind_core.ports.Embedder.model`."""
        return self._embedder.get().model()

    def tokenizer(self) -> Tokenizer:
        """See :meth:`everfind_core.ports.Embedder.tokenizer`."""
        return self._embedder.get().tokenizer()

    def embed(self, texts: Sequence[str], kind: InputKind, *, cancel: Cancellation | None = None) -> Vectors:
        """See :meth:`everfind_core.ports.Embedder.embed`."""
        return self._embedder.get().embed(texts, kind, cancel=cancel)

    def embed_tokens(self, sequences: Sequence[TokenIds], *, cancel: Cancellation | None = None) -> Vectors:
        """See :meth:`everfind_core.ports.Embedder.embed_tokens`."""
        return self._embedder.get().embed_tokens(sequences, cancel=cancel)

    def close(self) -> None:
        """See :meth:`everfind_core.ports.Embedder.close`."""
        if embedder := self._embedder.take():
            embedder.close()


class LateChunker:
    """A :class:`everfind_core.ports.Chunker` that is loaded when something is cut."""

    def __init__(self, open_chunker: Callable[[], Chunker]) -> None:
        self._chunker = Late(open_chunker)

    @property
    def revision(self) -> str:
        """See :attr:`everfind_core.ports.Chunker.revision`."""
        return self._chunker.get().revision

    def chunk(self, document: Document, tokenizer: Tokenizer, limits: ChunkLimits) -> Sequence[Chunk]:
        """See :meth:`everfind_core.ports.Chunker.chunk`."""
        return self._chunker.get().chunk(document, tokenizer, limits)
