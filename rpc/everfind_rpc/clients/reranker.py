"""The reranker of an embedder on another machine."""

from __future__ import annotations

from collections.abc import Sequence

from everfind.embedder.v1 import embedder_service_pb2 as pb
from everfind.embedder.v1.embedder_service_pb2_grpc import EmbedderServiceStub
from everfind_core.cancellation import Cancellation
from everfind_core.errors import UnavailableError
from everfind_core.model import RerankRequest
from everfind_rpc.channel import EMBED_SECONDS, READ_SECONDS, Connection
from everfind_rpc.clients.calls import Calls
from everfind_rpc.converters.embedding import rerank_request_to_proto


class RemoteReranker:
    """Implements :class:`everfind_core.ports.Reranker` over a connection, which its owner closes."""

    def __init__(self, connection: Connection) -> None:
        self._calls = Calls(connection)
        self._stub = EmbedderServiceStub(connection.channel)

    @property
    def identity(self) -> str:
        """The model's id and revision; empty if the embedder has no reranker."""
        return self._about().reranker

    @property
    def endpoint(self) -> str:
        """The address that the embedder sends queries and texts to; empty when they stay there."""
        return self._about().reranker_endpoint

    def rerank(self, request: RerankRequest, *, cancel: Cancellation | None = None) -> Sequence[float]:
        """See :meth:`everfind_core.ports.Reranker.rerank`."""
        message = rerank_request_to_proto(request)
        answer = self._calls.unary(self._stub.Rerank, message, seconds=EMBED_SECONDS, cancel=cancel)
        if len(answer.scores) != len(request.texts):
            raise UnavailableError(
                f"the embedder gave {len(answer.scores)} scores for {len(request.texts)} texts",
                hint="Check that the address is an everfind embedder of this version.",
            )
        return list(answer.scores)

    def close(self) -> None:
        """Nothing to do: the connection is its owner's."""

    def _about(self) -> pb.GetModelResponse:
        return self._calls.unary(self._stub.GetModel, pb.GetModelRequest(), seconds=READ_SECONDS)
