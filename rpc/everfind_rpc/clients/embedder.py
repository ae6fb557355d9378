"""An embedder on another machine; tokens are counted on this one, with the model's own tokenizer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from everfind.embedder.v1 import embedder_service_pb2 as pb
from everfind.embedder.v1.embedder_service_pb2_grpc import EmbedderServiceStub
from everfind_core.cancellation import Cancellation
from everfind_core.errors import ModelUnusableError
from everfind_core.model import InputKind, ModelInfo, Vectors
from everfind_core.ports import TokenIds
from everfind_rpc.channel import EMBED_SECONDS, READ_SECONDS, Connection
from everfind_rpc.clients.calls import Calls
from everfind_rpc.converters.embedding import (
    EmbedInput,
    TextInput,
    TokenInput,
    embed_request_to_proto,
    tokenizer_from_parts,
    vectors_from_proto,
)
from everfind_rpc.converters.models import model_from_proto
from everfind_rpc.tokenizer import EstimateTokenizer, FileTokenizer

SERVICE = pb.DESCRIPTOR.services_by_name["EmbedderService"]

BATCH_BYTES = 4 << 20
"""Input of one call at most, far below what a message may hold."""

BATCH_TEXTS = 64
"""Texts of one call at most: a few seconds of one core, so that a busy embedder stays far from the call's deadline."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Known:
    """What the server said of itself."""

    model: ModelInfo
    batch: int


class RemoteEmbedder:
    """Implements :class:`everfind_core.ports.Embedder` over a connection, which its owner closes.

    Vectors are taken only if they are of the model that :meth:`model` last gave. When others arrive, calls fail until
    it is asked again, so that whoever writes an index compares it with the new one first.
    """

    def __init__(self, connection: Connection) -> None:
        self._calls = Calls(connection)
        self._stub = EmbedderServiceStub(connection.channel)
        self._guard = threading.Lock()
        self._known: _Known | None = None
        self._changed = False
        self._tokenizer: tuple[str, FileTokenizer | EstimateTokenizer] | None = None

    def model(self) -> ModelInfo:
        """See :meth:`everfind_core.ports.Embedder.model`."""
        with self._guard:
            if self._changed:
                self._known = None
                self._changed = False
        return self._about().model

    def tokenizer(self) -> FileTokenizer | EstimateTokenizer:
        """See :meth:`everfind_core.ports.Embedder.tokenizer`."""
        identity = self.model().identity
        with self._guard:
            if self._tokenizer is None or self._tokenizer[0] != identity:
                self._tokenizer = identity, self._fetch_tokenizer(identity)
            return self._tokenizer[1]

    def embed(self, texts: Sequence[str], kind: InputKind, *, cancel: Cancellation | None = None) -> Vectors:
        """See :meth:`everfind_core.ports.Embedder.embed`."""
        batches = _batches(texts, self._about().batch, lambda text: 4 * len(text))
        return self._embed((TextInput(tuple(batch), kind) for batch in batches), cancel)

    def embed_tokens(self, sequences: Sequence[TokenIds], *, cancel: Cancellation | None = None) -> Vectors:
        """See :meth:`everfind_core.ports.Embedder.embed_tokens`."""
        batches = _batches(sequences, self._about().batch, lambda ids: 4 * len(ids))
        return self._embed((TokenInput(tuple(batch)) for batch in batches), cancel)

    def close(self) -> None:
        """Nothing to do: the connection is its owner's."""

    def _about(self) -> _Known:
        with self._guard:
            if self._known is None:
                answer = self._calls.unary(self._stub.GetModel, pb.GetModelRequest(), seconds=READ_SECONDS)
                self._known = _Known(model_from_proto(answer.model), max(1, min(answer.max_batch_texts, BATCH_TEXTS)))
            return self._known

    def _embed(self, batches: Iterator[EmbedInput], cancel: Cancellation | None) -> Vectors:
        model = self._about().model
        parts = [np.empty((0, model.dimensions), np.float32)]
        for batch in batches:
            message = embed_request_to_proto(batch)
            answer = self._calls.unary(self._stub.Embed, message, seconds=EMBED_SECONDS, cancel=cancel)
            if answer.model_identity != model.identity:
                self._changed = True
                raise _changed(model.identity, answer.model_identity)
            parts.append(vectors_from_proto(answer))
        return np.concatenate(parts)

    def _fetch_tokenizer(self, identity: str) -> FileTokenizer | EstimateTokenizer:
        parts = self._calls.stream(self._stub.GetTokenizer, pb.GetTokenizerRequest(), seconds=EMBED_SECONDS)
        file = tokenizer_from_parts(parts)
        if file.model_identity != identity:
            self._changed = True
            raise _changed(identity, file.model_identity)
        if not file.content:
            return EstimateTokenizer(file.bytes_per_token)
        return FileTokenizer(file.content, source=identity)


def _changed(before: str, after: str) -> ModelUnusableError:
    return ModelUnusableError(
        f"the embedder changed its model from {before} to {after}",
        hint="Try again; an index of the old model then asks to be rebuilt.",
    )


def _batches(items: Sequence[T], most: int, size: Callable[[T], int]) -> Iterator[Sequence[T]]:
    """``items`` in order, in pieces that one call may carry."""
    start, held = 0, 0
    for end, item in enumerate(items):
        if end > start and (end - start >= most or held + size(item) > BATCH_BYTES):
            yield items[start:end]
            start, held = end, 0
        held += size(item)
    if items[start:]:
        yield items[start:]
