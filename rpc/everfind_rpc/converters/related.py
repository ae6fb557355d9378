"""What is related to a symbol or a place."""

from __future__ import annotations

from everfind.searcher.v1 import searcher_service_pb2 as pb
from everfind_core.model import RelatedAnswer, RelatedHit, RelatedRequest, Relation
from everfind_rpc.converters.coverage import coverage_from_proto, coverage_to_proto
from everfind_rpc.converters.hits import RELATIONS, hit_from_proto, hit_to_proto
from everfind_rpc.converters.search import (
    filters_from_proto,
    filters_to_proto,
    staleness_from_proto,
    staleness_to_proto,
)
from everfind_rpc.converters.wire import check_sendable


def related_request_to_proto(request: RelatedRequest) -> pb.FindRelatedRequest:
    """A request for what is related as a message.

    Raises:
        InvalidRequestError: it cannot be sent.
    """
    check_sendable(request)
    return pb.FindRelatedRequest(
        workspace=request.workspace,
        symbol=request.symbol,
        folder=request.folder,
        path=request.path,
        line=request.line,
        relations=[RELATIONS.to_proto(relation) for relation in request.relations],
        limit=request.limit,
        filters=filters_to_proto(request.filters),
        cursor=request.cursor,
    )


def related_request_from_proto(message: pb.FindRelatedRequest) -> RelatedRequest:
    """A request for what is related from its message.

    Raises:
        InvalidRequestError: a relation is unknown.
    """
    return RelatedRequest(
        symbol=message.symbol,
        folder=message.folder,
        path=message.path,
        line=message.line,
        relations=tuple(RELATIONS.of_request(relation, "relations") for relation in message.relations),
        limit=message.limit if message.HasField("limit") else 10,
        workspace=message.workspace,
        filters=filters_from_proto(message.filters),
        cursor=message.cursor,
    )


def related_hit_to_proto(related: RelatedHit) -> pb.RelatedHit:
    """A related chunk as a message."""
    return pb.RelatedHit(
        hit=hit_to_proto(related.hit),
        relation=RELATIONS.to_proto(related.relation),
        confidence=related.confidence,
        line=related.line,
        symbol=related.symbol,
    )


def related_hit_from_proto(message: pb.RelatedHit) -> RelatedHit:
    """A related chunk from its message; an unknown relation reads as similar."""
    return RelatedHit(
        hit=hit_from_proto(message.hit),
        relation=RELATIONS.of_answer(message.relation, Relation.SIMILAR),
        confidence=message.confidence,
        line=message.line,
        symbol=message.symbol,
    )


def related_answer_to_proto(answer: RelatedAnswer) -> pb.FindRelatedResponse:
    """What is related as a message."""
    return pb.FindRelatedResponse(
        generation=answer.generation,
        targets=[hit_to_proto(hit) for hit in answer.targets],
        related=[related_hit_to_proto(related) for related in answer.related],
        coverage=coverage_to_proto(answer.coverage),
        staleness=staleness_to_proto(answer.staleness),
        warnings=answer.warnings,
        next_cursor=answer.next_cursor,
        left_out=answer.left_out,
    )


def related_answer_from_proto(message: pb.FindRelatedResponse) -> RelatedAnswer:
    """What is related from its message."""
    return RelatedAnswer(
        generation=message.generation,
        targets=tuple(hit_from_proto(hit) for hit in message.targets),
        related=tuple(related_hit_from_proto(related) for related in message.related),
        coverage=coverage_from_proto(message.coverage),
        staleness=staleness_from_proto(message.staleness),
        warnings=tuple(message.warnings),
        next_cursor=message.next_cursor,
        left_out=message.left_out,
    )
