"""Searches whose hits come as one block of Markdown."""

from __future__ import annotations

from everfind.searcher.v1 import searcher_service_pb2 as pb
from everfind_core.errors import InvalidRequestError
from everfind_core.model import GatherAnswer, GatherRequest, Passage
from everfind_rpc.converters.hits import hit_from_proto, hit_to_proto
from everfind_rpc.converters.search import (
    search_answer_from_proto,
    search_answer_to_proto,
    search_request_from_proto,
    search_request_to_proto,
)
from everfind_rpc.converters.wire import check_sendable


def gather_request_to_proto(request: GatherRequest) -> pb.GatherRequest:
    """A request to gather as a message; the workspace stands outside of its search.

    Raises:
        InvalidRequestError: it cannot be sent.
    """
    search = search_request_to_proto(request.search)
    check_sendable(request)
    search.ClearField("workspace")
    return pb.GatherRequest(workspace=request.search.workspace, search=search, context_lines=request.context_lines)


def gather_request_from_proto(message: pb.GatherRequest) -> GatherRequest:
    """A request to gather from its message.

    Raises:
        InvalidRequestError: its search is of another workspace, or has an unknown mode.
    """
    search = pb.SearchRequest()
    search.CopyFrom(message.search)
    if search.workspace not in {"", message.workspace}:
        raise InvalidRequestError.of(
            "search.workspace", f"{search.workspace!r} is not the request's own", hint="Leave it empty."
        )
    search.workspace = message.workspace
    return GatherRequest(search=search_request_from_proto(search), context_lines=message.context_lines)


def passage_to_proto(passage: Passage) -> pb.Passage:
    """A passage as a message."""
    return pb.Passage(
        hit=hit_to_proto(passage.hit),
        start_line=passage.start_line,
        end_line=passage.end_line,
        text=passage.text,
        changed=passage.changed,
        extracted_from=passage.extracted_from,
    )


def passage_from_proto(message: pb.Passage) -> Passage:
    """A passage from its message."""
    return Passage(
        hit=hit_from_proto(message.hit),
        start_line=message.start_line,
        end_line=message.end_line,
        text=message.text,
        changed=message.changed,
        extracted_from=message.extracted_from,
    )


def gather_answer_to_proto(answer: GatherAnswer) -> pb.GatherResponse:
    """A gathered answer as a message."""
    return pb.GatherResponse(
        answer=search_answer_to_proto(answer.answer),
        passages=[passage_to_proto(passage) for passage in answer.passages],
        markdown=answer.markdown,
    )


def gather_answer_from_proto(message: pb.GatherResponse) -> GatherAnswer:
    """A gathered answer from its message."""
    return GatherAnswer(
        answer=search_answer_from_proto(message.answer),
        passages=tuple(passage_from_proto(passage) for passage in message.passages),
        markdown=message.markdown,
    )
