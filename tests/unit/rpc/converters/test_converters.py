"""Every core value survives the way through its message; every field and enum member has a place there."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
import types
import typing
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

import pytest
from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st

import everfind_core.model
from everfind.common.v1 import corpus_pb2, model_pb2, status_pb2
from everfind.embedder.v1 import embedder_service_pb2
from everfind.indexer.v1 import indexer_service_pb2, run_pb2
from everfind.searcher.v1 import hit_pb2, searcher_service_pb2
from everfind_core import model
from everfind_core.model import symbols
from everfind_rpc.converters import (
    corpus,
    coverage,
    embedding,
    gathering,
    hits,
    indexing,
    models,
    related,
    search,
    status,
)
from everfind_rpc.converters.wire import EnumTable


class Pair(NamedTuple):
    """A core class, its message, and the functions between them."""

    core: type[Any]
    message: type[Message]
    to_proto: Callable[[Any], Message]
    from_proto: Callable[[Any], Any]


PAIRS = [
    Pair(model.Folder, corpus_pb2.Folder, corpus.folder_to_proto, corpus.folder_from_proto),
    Pair(
        model.AddFolderRequest,
        indexer_service_pb2.AddFolderRequest,
        corpus.add_folder_request_to_proto,
        corpus.add_folder_request_from_proto,
    ),
    Pair(
        model.RemoveFolderRequest,
        indexer_service_pb2.RemoveFolderRequest,
        corpus.remove_folder_request_to_proto,
        corpus.remove_folder_request_from_proto,
    ),
    Pair(
        model.RemovedFolder,
        indexer_service_pb2.RemoveFolderResponse,
        corpus.removed_folder_to_proto,
        corpus.removed_folder_from_proto,
    ),
    Pair(model.FileRef, corpus_pb2.FileRef, corpus.file_ref_to_proto, corpus.file_ref_from_proto),
    Pair(model.SkippedFile, corpus_pb2.SkippedFile, corpus.skipped_file_to_proto, corpus.skipped_file_from_proto),
    Pair(model.Coverage, corpus_pb2.Coverage, coverage.coverage_to_proto, coverage.coverage_from_proto),
    Pair(
        model.IndexedFile,
        indexer_service_pb2.IndexedFile,
        corpus.indexed_file_to_proto,
        corpus.indexed_file_from_proto,
    ),
    Pair(
        model.ReadFileRequest,
        indexer_service_pb2.ReadFileRequest,
        corpus.read_file_request_to_proto,
        corpus.read_file_request_from_proto,
    ),
    Pair(model.FileText, indexer_service_pb2.ReadFileResponse, corpus.file_text_to_proto, corpus.file_text_from_proto),
    Pair(
        model.GrepRequest, indexer_service_pb2.GrepRequest, corpus.grep_request_to_proto, corpus.grep_request_from_proto
    ),
    Pair(model.GrepMatch, indexer_service_pb2.GrepMatch, corpus.grep_match_to_proto, corpus.grep_match_from_proto),
    Pair(
        model.GrepAnswer, indexer_service_pb2.GrepResponse, corpus.grep_answer_to_proto, corpus.grep_answer_from_proto
    ),
    Pair(model.ModelInfo, model_pb2.ModelInfo, models.model_to_proto, models.model_from_proto),
    Pair(model.Floor, model_pb2.Floor, models.floor_to_proto, models.floor_from_proto),
    Pair(model.Calibration, model_pb2.Calibration, models.calibration_to_proto, models.calibration_from_proto),
    Pair(
        model.RerankRequest,
        embedder_service_pb2.RerankRequest,
        embedding.rerank_request_to_proto,
        embedding.rerank_request_from_proto,
    ),
    Pair(
        model.IndexRequest,
        run_pb2.CreateIndexRunRequest,
        indexing.index_request_to_proto,
        indexing.index_request_from_proto,
    ),
    Pair(model.IndexReport, run_pb2.IndexReport, indexing.index_report_to_proto, indexing.index_report_from_proto),
    Pair(
        model.FolderStarted, run_pb2.FolderStarted, indexing.folder_started_to_proto, indexing.folder_started_from_proto
    ),
    Pair(model.IndexProgress, run_pb2.IndexProgress, indexing.progress_to_proto, indexing.progress_from_proto),
    Pair(
        model.FileProcessed, run_pb2.FileProcessed, indexing.file_processed_to_proto, indexing.file_processed_from_proto
    ),
    Pair(model.FileFailed, run_pb2.FileFailed, indexing.file_failed_to_proto, indexing.file_failed_from_proto),
    Pair(
        model.FolderFinished,
        run_pb2.FolderFinished,
        indexing.folder_finished_to_proto,
        indexing.folder_finished_from_proto,
    ),
    Pair(model.IndexRun, run_pb2.IndexRun, indexing.index_run_to_proto, indexing.index_run_from_proto),
    Pair(model.Filters, searcher_service_pb2.Filters, search.filters_to_proto, search.filters_from_proto),
    Pair(
        model.SearchRequest,
        searcher_service_pb2.SearchRequest,
        search.search_request_to_proto,
        search.search_request_from_proto,
    ),
    Pair(
        model.GatherRequest,
        searcher_service_pb2.GatherRequest,
        gathering.gather_request_to_proto,
        gathering.gather_request_from_proto,
    ),
    Pair(model.SemanticRank, hit_pb2.SemanticRank, hits.semantic_rank_to_proto, hits.semantic_rank_from_proto),
    Pair(model.LexicalRank, hit_pb2.LexicalRank, hits.lexical_rank_to_proto, hits.lexical_rank_from_proto),
    Pair(model.RerankRank, hit_pb2.RerankRank, hits.rerank_rank_to_proto, hits.rerank_rank_from_proto),
    Pair(model.Provenance, hit_pb2.Provenance, hits.provenance_to_proto, hits.provenance_from_proto),
    Pair(model.Contribution, hit_pb2.Contribution, hits.contribution_to_proto, hits.contribution_from_proto),
    Pair(model.Hit, hit_pb2.Hit, hits.hit_to_proto, hits.hit_from_proto),
    Pair(model.Abstention, searcher_service_pb2.Abstention, search.abstention_to_proto, search.abstention_from_proto),
    Pair(
        model.FurtherFile,
        searcher_service_pb2.FurtherFile,
        search.further_file_to_proto,
        search.further_file_from_proto,
    ),
    Pair(model.Hidden, searcher_service_pb2.Hidden, search.hidden_to_proto, search.hidden_from_proto),
    Pair(model.Staleness, searcher_service_pb2.Staleness, search.staleness_to_proto, search.staleness_from_proto),
    Pair(
        model.SearchAnswer,
        searcher_service_pb2.SearchResponse,
        search.search_answer_to_proto,
        search.search_answer_from_proto,
    ),
    Pair(model.Passage, searcher_service_pb2.Passage, gathering.passage_to_proto, gathering.passage_from_proto),
    Pair(
        model.GatherAnswer,
        searcher_service_pb2.GatherResponse,
        gathering.gather_answer_to_proto,
        gathering.gather_answer_from_proto,
    ),
    Pair(
        model.RelatedRequest,
        searcher_service_pb2.FindRelatedRequest,
        related.related_request_to_proto,
        related.related_request_from_proto,
    ),
    Pair(
        model.RelatedHit, searcher_service_pb2.RelatedHit, related.related_hit_to_proto, related.related_hit_from_proto
    ),
    Pair(
        model.RelatedAnswer,
        searcher_service_pb2.FindRelatedResponse,
        related.related_answer_to_proto,
        related.related_answer_from_proto,
    ),
    Pair(model.HealthFinding, status_pb2.HealthFinding, status.finding_to_proto, status.finding_from_proto),
    Pair(model.FolderStatus, status_pb2.FolderStatus, status.folder_status_to_proto, status.folder_status_from_proto),
    Pair(
        model.OpenWorkspace,
        status_pb2.OpenWorkspace,
        status.open_workspace_to_proto,
        status.open_workspace_from_proto,
    ),
    Pair(
        model.WorkspaceStatus,
        status_pb2.WorkspaceStatus,
        status.workspace_status_to_proto,
        status.workspace_status_from_proto,
    ),
]

NOT_SENT = {
    model.Chunk: "inside the indexer",
    model.Document: "inside the indexer",
    model.TokenSpans: "made where tokens are counted",
    model.FileState: "inside the indexer",
    symbols.Definition: "stored in words of its own",
    symbols.Use: "stored in words of its own",
    symbols.Symbols: "stored in words of its own",
    model.RunFinished: "its report travels in the finished IndexRun",
}

# Core field → message field, where the names differ: well-known types carry no unit in their name.
RENAMED: dict[type[Any], dict[str, str]] = {
    model.IndexedFile: {"size": "size_bytes", "modified": "modify_time"},
    model.GrepRequest: {"seconds": "timeout"},
    model.Calibration: {"measured": "measure_time"},
    model.IndexReport: {"seconds": "durations"},
    model.IndexProgress: {"eta_seconds": "eta"},
    model.FolderFinished: {"seconds": "duration"},
    model.IndexRun: {
        "created": "create_time",
        "started": "start_time",
        "finished": "end_time",
        "error_reason": "error",
        "error_message": "error",
        "error_hint": "error",
    },
    model.SearchRequest: {"wait_seconds": "wait"},
    model.Staleness: {"indexed_at": "index_time"},
    model.OpenWorkspace: {"last_used": "last_used_time"},
    model.WorkspaceStatus: {"indexed_at": "index_time"},
}
# What travels elsewhere (ListSkippedFiles), and what only the message has.
ELSEWHERE = {(model.WorkspaceStatus, "skipped_files")}
ONLY_IN_MESSAGE = {(model.GatherRequest, "workspace")}

TABLES: dict[type[StrEnum], tuple[EnumTable[Any, Any], Any]] = {
    model.SkipReason: (corpus.SKIP_REASONS, corpus_pb2.SkipReason),
    model.InputKind: (embedding.INPUT_KINDS, embedder_service_pb2.InputKind),
    model.ModelSource: (models.MODEL_SOURCES, model_pb2.ModelSource),
    model.IndexPhase: (indexing.INDEX_PHASES, run_pb2.IndexPhase),
    model.RunState: (indexing.RUN_STATES, run_pb2.RunState),
    model.SearchMode: (search.SEARCH_MODES, searcher_service_pb2.SearchMode),
    model.ProvenanceLabel: (hits.PROVENANCE_LABELS, hit_pb2.ProvenanceLabel),
    model.Relation: (hits.RELATIONS, hit_pb2.Relation),
    model.Severity: (status.SEVERITIES, status_pb2.Severity),
}
ENUMS_NOT_SENT = {model.LineKind: "inside the indexer", model.IndexStage: "its values are keys of durations"}


def _model_classes() -> list[type[Any]]:
    modules = [
        importlib.import_module(f"everfind_core.model.{info.name}")
        for info in pkgutil.iter_modules(everfind_core.model.__path__)
    ]
    return [
        cls
        for module in modules
        for _, cls in inspect.getmembers(module, inspect.isclass)
        if cls.__module__ == module.__name__
    ]


def _name(pair: Pair) -> str:
    return pair.core.__name__


# --- any value of the core model, every field drawn -------------------------------------------------------------------

NANOSECONDS = 10**9
SPANS = {"seconds", "wait_seconds", "eta_seconds"}
MOMENTS = {"created", "started", "finished", "measured", "modified", "indexed_at", "last_used"}

spans = st.integers(0, 10**15).map(lambda nanoseconds: nanoseconds / NANOSECONDS)
moments = st.one_of(st.just(0.0), st.floats(1e9, 4e9, allow_nan=False))
floats = st.floats(allow_nan=False)
counts = st.integers(-(2**31), 2**31 - 1)


def values_of(cls: type[Any]) -> st.SearchStrategy[Any]:
    """Instances of a core dataclass."""
    hints = typing.get_type_hints(cls)
    fields = {spec.name: _field(spec.name, hints[spec.name]) for spec in dataclasses.fields(cls)}
    return st.builds(cls, **fields)


def _field(name: str, hint: Any) -> st.SearchStrategy[Any]:
    if name in MOMENTS:
        return moments
    if name in SPANS:
        return _of(hint, spans)
    return _of(hint, floats)


def _of(hint: Any, numbers: st.SearchStrategy[float]) -> st.SearchStrategy[Any]:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in {types.UnionType, typing.Union}:
        return st.one_of(*(_of(argument, numbers) for argument in arguments))
    if origin is tuple:
        return st.lists(_of(arguments[0], numbers), max_size=2).map(tuple)
    if origin is Mapping:
        return st.dictionaries(_of(arguments[0], numbers), _of(arguments[1], numbers), max_size=2)
    simple = {str: st.text(max_size=12), int: counts, bool: st.booleans(), float: numbers, type(None): st.none()}
    if hint in simple:
        return simple[hint]
    if issubclass(hint, StrEnum):
        return st.sampled_from(list(hint))
    return values_of(hint)


# --- tests ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pair", PAIRS, ids=_name)
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_a_value_survives_its_message(pair: Pair, data: st.DataObject) -> None:
    value = data.draw(values_of(pair.core))
    message = pair.to_proto(value)
    assert type(message) is pair.message
    received = pair.message()
    received.ParseFromString(message.SerializeToString())
    if isinstance(value, model.WorkspaceStatus):
        assert status.workspace_status_from_proto(message, value.skipped_files) == value  # type: ignore[arg-type]  # checked above
    else:
        assert pair.from_proto(received) == value


def test_every_core_dataclass_is_sent_or_named_as_not_sent() -> None:
    dataclass_types = {cls for cls in _model_classes() if dataclasses.is_dataclass(cls)}
    assert dataclass_types == {pair.core for pair in PAIRS} | set(NOT_SENT)


@pytest.mark.parametrize("pair", PAIRS, ids=_name)
def test_core_and_message_have_the_same_fields(pair: Pair) -> None:
    renamed = RENAMED.get(pair.core, {})
    expected = {
        renamed.get(spec.name, spec.name)
        for spec in dataclasses.fields(pair.core)
        if (pair.core, spec.name) not in ELSEWHERE
    }
    only_in_message = {name for core, name in ONLY_IN_MESSAGE if core is pair.core}
    assert set(pair.message.DESCRIPTOR.fields_by_name) == expected | only_in_message


def test_every_core_enum_has_a_table_or_is_named_as_not_sent() -> None:
    enums = {cls for cls in _model_classes() if issubclass(cls, StrEnum)}
    assert enums == set(TABLES) | set(ENUMS_NOT_SENT)


@pytest.mark.parametrize("core", TABLES, ids=lambda core: core.__name__)
def test_every_enum_member_is_mapped_both_ways(core: type[StrEnum]) -> None:
    table, wire = TABLES[core]
    descriptor = wire.DESCRIPTOR
    prefix = descriptor.values_by_number[0].name.removesuffix("UNSPECIFIED")
    by_name = {name: value.number for name, value in descriptor.values_by_name.items() if value.number}
    assert {f"{prefix}{member.name}": number for member, number in table.wire.items()} == by_name
    assert set(table.wire) == set(core)
    for member in core:
        assert table.of_request(table.to_proto(member), "field") is member


def test_every_event_of_a_run_is_watched() -> None:
    core = set(typing.get_args(model.RunEvent))
    assert set(typing.get_args(indexing.WatchedEvent)) == core - {model.RunFinished} | {model.IndexRun}


@pytest.mark.parametrize("cls", typing.get_args(indexing.WatchedEvent), ids=lambda cls: cls.__name__)
@given(data=st.data(), sequence=st.integers(1, 2**62))
@settings(max_examples=20, deadline=None)
def test_events_survive_the_stream(cls: type[Any], data: st.DataObject, sequence: int) -> None:
    event = data.draw(values_of(cls))
    message = indexing.event_to_proto(event, sequence)
    received = indexer_service_pb2.WatchIndexRunResponse.FromString(message.SerializeToString())
    assert received.sequence == sequence
    assert indexing.event_from_proto(received) == event
