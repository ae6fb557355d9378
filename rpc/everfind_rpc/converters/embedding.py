"""Batches of texts or tokens, vectors, reranking, and the tokenizer's way to its callers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from everfind.embedder.v1 import embedder_service_pb2 as embedder_pb
from everfind_core.errors import InvalidRequestError, UnavailableError
from everfind_core.model import InputKind, RerankRequest, Vectors
from everfind_core.ports import TokenIds
from everfind_rpc.converters.wire import EnumTable, check_sendable, check_texts

INPUT_KINDS = EnumTable(
    {InputKind.DOCUMENT: embedder_pb.INPUT_KIND_DOCUMENT, InputKind.QUERY: embedder_pb.INPUT_KIND_QUERY}
)

TOKENIZER_PART_BYTES = 1 << 20

_TOKEN_DTYPE = np.dtype("<i4")
_VECTOR_DTYPE = np.dtype("<f4")


@dataclass(frozen=True, slots=True)
class TextInput:
    """A batch of texts."""

    texts: tuple[str, ...]
    kind: InputKind


@dataclass(frozen=True, slots=True)
class TokenInput:
    """A batch of documents as token ids, int64 of shape (tokens,) each."""

    sequences: tuple[TokenIds, ...]


EmbedInput: TypeAlias = TextInput | TokenInput


@dataclass(frozen=True, slots=True)
class TokenizerFile:
    """A model's tokenizer: the bytes of its ``tokenizer.json``, or an estimate in UTF-8 bytes a token."""

    model_identity: str
    content: bytes = b""
    bytes_per_token: float = 0.0


def embed_request_to_proto(batch: EmbedInput, workspace: str = "") -> embedder_pb.EmbedRequest:
    """A batch as a message.

    Raises:
        InvalidRequestError: a text is not valid Unicode, or a token id has more than 32 bits.
    """
    if isinstance(batch, TextInput):
        check_texts(batch.texts, "texts")
        return embedder_pb.EmbedRequest(
            workspace=workspace,
            kind=INPUT_KINDS.to_proto(batch.kind),
            texts=embedder_pb.TextBatch(texts=batch.texts),
        )
    return embedder_pb.EmbedRequest(
        workspace=workspace,
        kind=embedder_pb.INPUT_KIND_DOCUMENT,
        tokens=embedder_pb.TokenBatch(ids=_packed(batch.sequences), lengths=[len(ids) for ids in batch.sequences]),
    )


def embed_request_from_proto(message: embedder_pb.EmbedRequest) -> EmbedInput:
    """A batch from its message.

    Raises:
        InvalidRequestError: there is no input, its kind is missing or wrong, or token ids and lengths do not add up.
    """
    which = message.WhichOneof("input")
    if which is None:
        raise InvalidRequestError.of("input", "there are neither texts nor tokens")
    if which == "texts":
        return TextInput(tuple(message.texts.texts), INPUT_KINDS.of_request(message.kind, "kind"))
    if INPUT_KINDS.of_request(message.kind, "kind", InputKind.DOCUMENT) is not InputKind.DOCUMENT:
        raise InvalidRequestError.of("kind", "tokens are documents", hint="Send a query as text.")
    return TokenInput(_unpacked(message.tokens))


def vectors_to_proto(vectors: Vectors, model_identity: str) -> embedder_pb.EmbedResponse:
    """Vectors of shape (rows, dimensions) as a message."""
    rows, dimensions = vectors.shape
    return embedder_pb.EmbedResponse(
        vectors=vectors.astype(_VECTOR_DTYPE, copy=False).tobytes(),
        rows=rows,
        dimensions=dimensions,
        model_identity=model_identity,
    )


def vectors_from_proto(message: embedder_pb.EmbedResponse) -> Vectors:
    """Vectors of shape (rows, dimensions) from their message.

    Raises:
        UnavailableError: the bytes are not that many.
    """
    expected = message.rows * message.dimensions * _VECTOR_DTYPE.itemsize
    if message.rows < 0 or message.dimensions < 0 or len(message.vectors) != expected:
        raise UnavailableError(
            f"the embedder answered {len(message.vectors)} bytes for "
            f"{message.rows} vectors of {message.dimensions} dimensions",
            hint="Check that the address is an everfind embedder of this version.",
        )
    flat = np.frombuffer(message.vectors, dtype=_VECTOR_DTYPE)
    return flat.reshape(message.rows, message.dimensions).astype(np.float32)


def rerank_request_to_proto(request: RerankRequest) -> embedder_pb.RerankRequest:
    """A request to rerank as a message.

    Raises:
        InvalidRequestError: it cannot be sent.
    """
    check_sendable(request)
    return embedder_pb.RerankRequest(workspace=request.workspace, query=request.query, texts=request.texts)


def rerank_request_from_proto(message: embedder_pb.RerankRequest) -> RerankRequest:
    """A request to rerank from its message."""
    return RerankRequest(query=message.query, texts=tuple(message.texts), workspace=message.workspace)


def tokenizer_to_parts(tokenizer: TokenizerFile) -> Iterator[embedder_pb.GetTokenizerResponse]:
    """A tokenizer as the parts of a stream: the header, then at most 1 MiB a part."""
    content = tokenizer.content
    known = embedder_pb.TOKENIZER_FORMAT_TOKENIZERS_JSON
    yield embedder_pb.GetTokenizerResponse(
        header=embedder_pb.TokenizerHeader(
            format=known if content else embedder_pb.TOKENIZER_FORMAT_ESTIMATE,
            model_identity=tokenizer.model_identity,
            sha256=hashlib.sha256(content).hexdigest(),
            size_bytes=len(content),
            bytes_per_token=tokenizer.bytes_per_token,
        )
    )
    for start in range(0, len(content), TOKENIZER_PART_BYTES):
        yield embedder_pb.GetTokenizerResponse(data=content[start : start + TOKENIZER_PART_BYTES])


def tokenizer_from_parts(parts: Iterable[embedder_pb.GetTokenizerResponse]) -> TokenizerFile:
    """A tokenizer from the parts of a stream.

    Raises:
        UnavailableError: the parts are not what their header says.
    """
    header: embedder_pb.TokenizerHeader | None = None
    content = bytearray()
    for part in parts:
        if part.WhichOneof("part") == "header":
            header = part.header
        content += part.data
    if header is None or hashlib.sha256(content).hexdigest() != header.sha256:
        raise UnavailableError(
            "the embedder's tokenizer did not arrive whole",
            hint="Try again; if it stays, check that the address is an everfind embedder of this version.",
        )
    return TokenizerFile(header.model_identity, bytes(content), header.bytes_per_token)


def _packed(sequences: Sequence[TokenIds]) -> bytes:
    if not sequences:
        return b""
    ids = np.concatenate(sequences)
    if ids.size and not 0 <= int(ids.min()) <= int(ids.max()) <= np.iinfo(np.int32).max:
        raise InvalidRequestError.of("tokens", "a token id is negative or has more than 32 bits")
    return ids.astype(_TOKEN_DTYPE).tobytes()


def _unpacked(batch: embedder_pb.TokenBatch) -> tuple[TokenIds, ...]:
    lengths = list(batch.lengths)
    count, rest = divmod(len(batch.ids), _TOKEN_DTYPE.itemsize)
    if any(length < 0 for length in lengths):
        raise InvalidRequestError.of("tokens.lengths", "a length is negative")
    if rest or sum(lengths) != count:
        raise InvalidRequestError.of(
            "tokens.lengths", f"they add up to {sum(lengths)} tokens, and ids holds {len(batch.ids)} bytes, 4 a token"
        )
    ids = np.frombuffer(batch.ids, dtype=_TOKEN_DTYPE).astype(np.int64)
    if ids.size and int(ids.min()) < 0:
        raise InvalidRequestError.of("tokens.ids", "a token id is negative")
    ends = np.cumsum(lengths, dtype=np.int64)
    return tuple(ids[end - length : end] for length, end in zip(lengths, ends.tolist(), strict=True))
