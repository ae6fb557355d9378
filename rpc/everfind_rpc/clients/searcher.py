"""A searcher on another machine. What a single search does not need is loaded by the calls that do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from everfind.searcher.v1 import searcher_service_pb2 as pb
from everfind.searcher.v1.searcher_service_pb2_grpc import SearcherServiceStub
from everfind_rpc.channel import SEARCH_SECONDS, STATUS_SECONDS, Connection
from everfind_rpc.clients.calls import Calls
from everfind_rpc.converters.search import search_answer_from_proto, search_request_to_proto

if TYPE_CHECKING:
    from everfind_core.cancellation import Cancellation
    from everfind_core.model import (
        GatherAnswer,
        GatherRequest,
        RelatedAnswer,
        RelatedRequest,
        SearchAnswer,
        SearchRequest,
        WorkspaceStatus,
    )

SERVICE = pb.DESCRIPTOR.services_by_name["SearcherService"]


class RemoteSearcher:
    """Implements :class:`everfind_core.ports.Searcher` over a connection, which its owner closes.

    It asks for ``workspace`` where a request names no other.
    """

    def __init__(self, connection: Connection, workspace: str = "") -> None:
        self._calls = Calls(connection, workspace)
        self._stub = SearcherServiceStub(connection.channel)

    def search(self, request: SearchRequest, *, cancel: Cancellation | None = None) -> SearchAnswer:
        """See :meth:`everfind_core.ports.Searcher.search`."""
        message = search_request_to_proto(request)
        seconds = SEARCH_SECONDS + request.wait_seconds
        return search_answer_from_proto(self._calls.unary(self._stub.Search, message, seconds=seconds, cancel=cancel))

    def gather(self, request: GatherRequest, *, cancel: Cancellation | None = None) -> GatherAnswer:
        """See :meth:`everfind_core.ports.Searcher.gather`."""
        from everfind_rpc.converters.gathering import gather_answer_from_proto, gather_request_to_proto

        message = gather_request_to_proto(request)
        seconds = SEARCH_SECONDS + request.search.wait_seconds
        return gather_answer_from_proto(self._calls.unary(self._stub.Gather, message, seconds=seconds, cancel=cancel))

    def related(self, request: RelatedRequest, *, cancel: Cancellation | None = None) -> RelatedAnswer:
        """See :meth:`everfind_core.ports.Searcher.related`."""
        from everfind_rpc.converters.related import related_answer_from_proto, related_request_to_proto

        message = related_request_to_proto(request)
        answer = self._calls.unary(self._stub.FindRelated, message, seconds=SEARCH_SECONDS, cancel=cancel)
        return related_answer_from_proto(answer)

    def status(self) -> WorkspaceStatus:
        """What the searcher sees of the index."""
        from everfind_rpc.converters.status import workspace_status_from_proto

        answer = self._calls.unary(self._stub.GetStatus, pb.GetStatusRequest(), seconds=STATUS_SECONDS)
        return workspace_status_from_proto(answer.status)

    def close(self) -> None:
        """Nothing to do: the connection is its owner's."""
