"""Queries and answers."""

from __future__ import annotations

from everfind.searcher.v1 import searcher_service_pb2 as pb
from everfind_core.model import (
    Abstention,
    Filters,
    FurtherFile,
    Hidden,
    SearchAnswer,
    SearchMode,
    SearchRequest,
    Staleness,
)
from everfind_rpc.converters.coverage import coverage_from_proto, coverage_to_proto
from everfind_rpc.converters.hits import hit_from_proto, hit_to_proto
from everfind_rpc.converters.wire import (
    EnumTable,
    check_sendable,
    duration,
    maybe,
    seconds_of_duration,
    seconds_of_timestamp,
    timestamp,
)

SEARCH_MODES = EnumTable(
    {
        SearchMode.HYBRID: pb.SEARCH_MODE_HYBRID,
        SearchMode.SEMANTIC: pb.SEARCH_MODE_SEMANTIC,
        SearchMode.LEXICAL: pb.SEARCH_MODE_LEXICAL,
    }
)


def filters_to_proto(filters: Filters) -> pb.Filters:
    """Filters as a message."""
    return pb.Filters(
        folders=filters.folders,
        include=filters.include,
        exclude=filters.exclude,
        languages=filters.languages,
        kinds=filters.kinds,
        statuses=filters.statuses,
        since=filters.since,
        before=filters.before,
        all_statuses=filters.all_statuses,
        exclude_statuses=filters.exclude_statuses,
    )


def filters_from_proto(message: pb.Filters) -> Filters:
    """Filters from their message."""
    return Filters(
        folders=tuple(message.folders),
        include=tuple(message.include),
        exclude=tuple(message.exclude),
        languages=tuple(message.languages),
        kinds=tuple(message.kinds),
        statuses=tuple(message.statuses),
        since=message.since,
        before=message.before,
        all_statuses=message.all_statuses,
        exclude_statuses=tuple(message.exclude_statuses),
    )


def search_request_to_proto(request: SearchRequest) -> pb.SearchRequest:
    """A question as a message.

    Raises:
        InvalidRequestError: it cannot be sent.
    """
    check_sendable(request)
    return pb.SearchRequest(
        workspace=request.workspace,
        query=request.query,
        limit=request.limit,
        mode=SEARCH_MODES.to_proto(request.mode),
        filters=filters_to_proto(request.filters),
        cursor=request.cursor,
        explain=request.explain,
        rerank=request.rerank,
        graph_hops=request.graph_hops,
        max_tokens=request.max_tokens,
        further=request.further,
        min_score=request.min_score,
        relative_cutoff=request.relative_cutoff,
        wait=duration(request.wait_seconds, "wait_seconds"),
    )


def search_request_from_proto(message: pb.SearchRequest) -> SearchRequest:
    """A question from its message.

    Raises:
        InvalidRequestError: its mode is unknown.
    """
    return SearchRequest(
        query=message.query,
        limit=message.limit if message.HasField("limit") else 10,
        mode=SEARCH_MODES.of_request(message.mode, "mode", SearchMode.HYBRID),
        filters=filters_from_proto(message.filters),
        cursor=message.cursor,
        explain=message.explain,
        rerank=message.rerank,
        graph_hops=message.graph_hops,
        max_tokens=message.max_tokens,
        further=message.further,
        min_score=message.min_score if message.HasField("min_score") else None,
        relative_cutoff=message.relative_cutoff if message.HasField("relative_cutoff") else None,
        wait_seconds=seconds_of_duration(message.wait),
        workspace=message.workspace,
    )


def abstention_to_proto(abstention: Abstention) -> pb.Abstention:
    """Why an answer is empty as a message."""
    return pb.Abstention(best_score=abstention.best_score, threshold=abstention.threshold)


def abstention_from_proto(message: pb.Abstention) -> Abstention:
    """Why an answer is empty from its message."""
    return Abstention(best_score=message.best_score, threshold=message.threshold)


def hidden_to_proto(hidden: Hidden) -> pb.Hidden:
    """What was left out by rule as a message."""
    return pb.Hidden(
        count=hidden.count, by_rule=hidden.by_rule, best_path=hidden.best_path, best_folder=hidden.best_folder
    )


def hidden_from_proto(message: pb.Hidden) -> Hidden:
    """What was left out by rule from its message."""
    return Hidden(
        count=message.count,
        by_rule=dict(message.by_rule),
        best_path=message.best_path,
        best_folder=message.best_folder,
    )


def staleness_to_proto(staleness: Staleness) -> pb.Staleness:
    """Staleness as a message."""
    return pb.Staleness(stale=staleness.stale, pending=staleness.pending, index_time=timestamp(staleness.indexed_at))


def staleness_from_proto(message: pb.Staleness) -> Staleness:
    """Staleness from its message."""
    return Staleness(stale=message.stale, pending=message.pending, indexed_at=seconds_of_timestamp(message.index_time))


def further_file_to_proto(file: FurtherFile) -> pb.FurtherFile:
    """A file of further hits as a message."""
    return pb.FurtherFile(
        folder=file.folder,
        path=file.path,
        start_line=file.start_line,
        end_line=file.end_line,
        symbol=file.symbol,
        heading=file.heading,
    )


def further_file_from_proto(message: pb.FurtherFile) -> FurtherFile:
    """A file of further hits from its message."""
    return FurtherFile(
        message.folder, message.path, message.start_line, message.end_line, message.symbol, message.heading
    )


def search_answer_to_proto(answer: SearchAnswer) -> pb.SearchResponse:
    """An answer as a message."""
    return pb.SearchResponse(
        query=answer.query,
        generation=answer.generation,
        hits=[hit_to_proto(hit) for hit in answer.hits],
        coverage=coverage_to_proto(answer.coverage),
        abstained=maybe(abstention_to_proto, answer.abstained),
        hidden=hidden_to_proto(answer.hidden),
        staleness=staleness_to_proto(answer.staleness),
        warnings=answer.warnings,
        next_cursor=answer.next_cursor,
        left_out=answer.left_out,
        tokens=answer.tokens,
        intents=answer.intents,
        parts=answer.parts,
        further=[further_file_to_proto(file) for file in answer.further],
        unmatched=answer.unmatched,
    )


def search_answer_from_proto(message: pb.SearchResponse) -> SearchAnswer:
    """An answer from its message."""
    return SearchAnswer(
        query=message.query,
        generation=message.generation,
        hits=tuple(hit_from_proto(hit) for hit in message.hits),
        coverage=coverage_from_proto(message.coverage),
        abstained=abstention_from_proto(message.abstained) if message.HasField("abstained") else None,
        hidden=hidden_from_proto(message.hidden),
        staleness=staleness_from_proto(message.staleness),
        warnings=tuple(message.warnings),
        next_cursor=message.next_cursor,
        left_out=message.left_out,
        tokens=message.tokens,
        intents=tuple(message.intents),
        parts=tuple(message.parts),
        further=tuple(further_file_from_proto(file) for file in message.further),
        unmatched=message.unmatched,
    )
