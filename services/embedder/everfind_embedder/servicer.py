"""The embedder over gRPC."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from everfind.embedder.v1 import embedder_service_pb2 as pb
from everfind_core.errors import InvalidRequestError, ModelUnusableError
from everfind_core.model import InputKind, Vectors
from everfind_core.ports import Embedder, Reranker
from everfind_rpc.auth import Scope
from everfind_rpc.converters.embedding import (
    EmbedInput,
    TextInput,
    TokenizerFile,
    embed_request_from_proto,
    rerank_request_from_proto,
    tokenizer_to_parts,
    vectors_to_proto,
)
from everfind_rpc.converters.models import model_to_proto
from everfind_rpc.serving.handlers import Slots
from everfind_rpc.serving.metrics import Measurable
from everfind_rpc.serving.service import Call, Service, Stream, Unary
from everfind_rpc.tokenizer import EstimateTokenizer, FileTokenizer

MAX_BATCH_TEXTS = 512
DOCUMENT_CALLS = 12
"""Of a server with the usual number of threads."""

_ANY = frozenset({Scope.SEARCH, Scope.INDEX})


def embedder_service(
    embedder: Embedder, reranker: Reranker | None = None, *, document_calls: int = DOCUMENT_CALLS
) -> Service:
    """The service of an embedder, and of a reranker where there is one.

    At most ``document_calls`` calls that embed documents are under way, so that others find a thread.
    """
    servicer = EmbedderServicer(embedder, reranker, document_calls)
    return Service(
        pb.DESCRIPTOR.services_by_name["EmbedderService"],
        {
            "GetModel": Unary(pb.GetModelRequest, servicer.get_model, _ANY),
            "GetTokenizer": Stream(pb.GetTokenizerRequest, servicer.get_tokenizer, _ANY),
            "Embed": Unary(pb.EmbedRequest, servicer.embed, _ANY),
            "Rerank": Unary(pb.RerankRequest, servicer.rerank, _ANY),
        },
        measure=embedder.measure if isinstance(embedder, Measurable) else lambda _metrics: None,
    )


class EmbedderServicer:
    """Answers the calls of ``everfind.embedder.v1.EmbedderService``."""

    def __init__(self, embedder: Embedder, reranker: Reranker | None, document_calls: int) -> None:
        self._embedder = embedder
        self._reranker = reranker
        self._document_calls = Slots(document_calls, "calls that embed documents")

    def get_model(self, _request: pb.GetModelRequest, _call: Call) -> pb.GetModelResponse:
        """Which model this is, and which one reranks."""
        return pb.GetModelResponse(
            model=model_to_proto(self._embedder.model()),
            max_batch_texts=MAX_BATCH_TEXTS,
            reranker=self._reranker.identity if self._reranker else "",
            reranker_endpoint=self._reranker.endpoint if self._reranker else "",
        )

    async def get_tokenizer(
        self, _request: pb.GetTokenizerRequest, _call: Call
    ) -> AsyncIterator[pb.GetTokenizerResponse]:
        """The model's tokenizer."""
        for part in tokenizer_to_parts(await asyncio.to_thread(self._tokenizer_file)):
            yield part

    def embed(self, request: pb.EmbedRequest, call: Call) -> pb.EmbedResponse:
        """Vectors of a batch."""
        batch = embed_request_from_proto(request)
        size = len(batch.texts) if isinstance(batch, TextInput) else len(batch.sequences)
        if size > MAX_BATCH_TEXTS:
            raise InvalidRequestError.of("input", f"it holds {size} texts, at most {MAX_BATCH_TEXTS} are taken")
        if isinstance(batch, TextInput) and batch.kind is InputKind.QUERY:
            vectors = self._embedder.embed(batch.texts, batch.kind, cancel=call.cancel)
        else:
            with self._document_calls.held():
                vectors = self._embed_documents(batch, call)
        return vectors_to_proto(vectors, self._embedder.model().identity)

    def rerank(self, request: pb.RerankRequest, call: Call) -> pb.RerankResponse:
        """Scores of texts for a query."""
        if self._reranker is None:
            raise ModelUnusableError("no reranker is configured", hint="Configure one, or search without reranking.")
        wanted = rerank_request_from_proto(request)
        if len(wanted.texts) > MAX_BATCH_TEXTS:
            raise InvalidRequestError.of("texts", f"{len(wanted.texts)} texts, at most {MAX_BATCH_TEXTS} are taken")
        scores = self._reranker.rerank(wanted, cancel=call.cancel)
        return pb.RerankResponse(scores=scores, model_identity=self._reranker.identity)

    def _embed_documents(self, batch: EmbedInput, call: Call) -> Vectors:
        if isinstance(batch, TextInput):
            return self._embedder.embed(batch.texts, batch.kind, cancel=call.cancel)
        return self._embedder.embed_tokens(batch.sequences, cancel=call.cancel)

    def _tokenizer_file(self) -> TokenizerFile:
        identity = self._embedder.model().identity
        tokenizer = self._embedder.tokenizer()
        if isinstance(tokenizer, EstimateTokenizer):
            return TokenizerFile(identity, b"", tokenizer.bytes_per_token)
        if not isinstance(tokenizer, FileTokenizer):
            raise ModelUnusableError(
                f"the tokenizer of {identity} cannot be sent", hint="Count tokens at the embedder."
            )
        return TokenizerFile(identity, tokenizer.content)
