"""The searcher over gRPC."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from everfind.searcher.v1 import searcher_service_pb2 as pb
from everfind_core.model import SearchRequest, WorkspaceStatus
from everfind_core.ports import Searcher
from everfind_rpc.auth import Scope
from everfind_rpc.converters.gathering import gather_answer_to_proto, gather_request_from_proto
from everfind_rpc.converters.related import related_answer_to_proto, related_request_from_proto
from everfind_rpc.converters.search import search_answer_to_proto, search_request_from_proto
from everfind_rpc.converters.status import workspace_status_to_proto
from everfind_rpc.serving.access import in_workspace, limited_related, limited_search, limited_status
from everfind_rpc.serving.service import Call, Service, Unary

_SEARCH = frozenset({Scope.SEARCH})


def searcher_service(searcher: Searcher, status: Callable[[], WorkspaceStatus]) -> Service:
    """The service of a searcher; ``status`` tells what it sees of its index."""
    servicer = SearcherServicer(searcher, status)
    service = Service(
        pb.DESCRIPTOR.services_by_name["SearcherService"],
        {
            "Search": Unary(pb.SearchRequest, servicer.search, _SEARCH),
            "Gather": Unary(pb.GatherRequest, servicer.gather, _SEARCH),
            "FindRelated": Unary(pb.FindRelatedRequest, servicer.find_related, _SEARCH),
            "GetStatus": Unary(pb.GetStatusRequest, servicer.get_status, _SEARCH),
        },
        measure=lambda metrics: metrics.watch_index(status),
    )
    return in_workspace(service, lambda: (one.folder for one in status().folders))


class SearcherServicer:
    """Answers the calls of ``everfind.searcher.v1.SearcherService``."""

    def __init__(self, searcher: Searcher, status: Callable[[], WorkspaceStatus]) -> None:
        self._searcher = searcher
        self._status = status

    def search(self, request: pb.SearchRequest, call: Call) -> pb.SearchResponse:
        """The best chunks for a question."""
        asked = self._limited(search_request_from_proto(request), call)
        return search_answer_to_proto(self._searcher.search(asked, cancel=call.cancel))

    def gather(self, request: pb.GatherRequest, call: Call) -> pb.GatherResponse:
        """A search whose hits come with their surroundings."""
        asked = gather_request_from_proto(request)
        limited = replace(asked, search=self._limited(asked.search, call))
        return gather_answer_to_proto(self._searcher.gather(limited, cancel=call.cancel))

    def find_related(self, request: pb.FindRelatedRequest, call: Call) -> pb.FindRelatedResponse:
        """What is related to a symbol or place."""
        asked = related_request_from_proto(request)
        if call.principal.folders is not None:
            asked = limited_related(call.principal, asked, (f.folder.name for f in self._status().folders))
        return related_answer_to_proto(self._searcher.related(asked, cancel=call.cancel))

    def get_status(self, _request: pb.GetStatusRequest, call: Call) -> pb.GetStatusResponse:
        """What this searcher sees of the index."""
        status = limited_status(call.principal, self._status())
        return pb.GetStatusResponse(status=workspace_status_to_proto(status))

    def _limited(self, request: SearchRequest, call: Call) -> SearchRequest:
        if call.principal.folders is None:
            return request
        return limited_search(call.principal, request, (f.folder.name for f in self._status().folders))
