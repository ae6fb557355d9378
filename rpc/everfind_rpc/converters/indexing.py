"""Index runs, their events and their report."""

from __future__ import annotations

from typing import TypeAlias

from everfind.indexer.v1 import indexer_service_pb2 as indexer_pb
from everfind.indexer.v1 import run_pb2 as pb
from everfind_core.model import (
    FileFailed,
    FileProcessed,
    FolderFinished,
    FolderStarted,
    IndexPhase,
    IndexProgress,
    IndexReport,
    IndexRequest,
    IndexRun,
    RunState,
)
from everfind_rpc.converters.corpus import (
    file_ref_from_proto,
    file_ref_to_proto,
    skipped_file_from_proto,
    skipped_file_to_proto,
)
from everfind_rpc.converters.models import calibration_from_proto, calibration_to_proto
from everfind_rpc.converters.wire import (
    EnumTable,
    check_sendable,
    duration,
    maybe,
    seconds_of_duration,
    seconds_of_timestamp,
    timestamp,
)

RUN_STATES = EnumTable(
    {
        RunState.QUEUED: pb.RUN_STATE_QUEUED,
        RunState.RUNNING: pb.RUN_STATE_RUNNING,
        RunState.SUCCEEDED: pb.RUN_STATE_SUCCEEDED,
        RunState.FAILED: pb.RUN_STATE_FAILED,
        RunState.CANCELLED: pb.RUN_STATE_CANCELLED,
    }
)

INDEX_PHASES = EnumTable({IndexPhase.WORDS: pb.INDEX_PHASE_WORDS, IndexPhase.VECTORS: pb.INDEX_PHASE_VECTORS})

WatchedEvent: TypeAlias = FolderStarted | IndexProgress | FileProcessed | FileFailed | FolderFinished | IndexRun
"""What a watcher sees: a run's events, and at the end the run itself in place of ``RunFinished``."""


def index_request_to_proto(request: IndexRequest) -> pb.CreateIndexRunRequest:
    """A request for a run as a message.

    Raises:
        InvalidRequestError: it cannot be sent.
    """
    check_sendable(request)
    return pb.CreateIndexRunRequest(
        workspace=request.workspace,
        request_id=request.request_id,
        folders=request.folders,
        below=request.below,
        force=request.force,
        rebuild=request.rebuild,
        repair=request.repair,
        max_files=request.max_files,
        concurrency=request.concurrency,
        wait=request.wait,
        paths=request.paths,
    )


def index_request_from_proto(message: pb.CreateIndexRunRequest) -> IndexRequest:
    """A request for a run from its message."""
    return IndexRequest(
        folders=tuple(message.folders),
        below=message.below,
        force=message.force,
        rebuild=message.rebuild,
        max_files=message.max_files,
        concurrency=message.concurrency,
        wait=message.wait if message.HasField("wait") else True,
        request_id=message.request_id,
        workspace=message.workspace,
        repair=message.repair,
        paths=tuple(message.paths),
    )


def index_report_to_proto(report: IndexReport) -> pb.IndexReport:
    """A run's report as a message."""
    return pb.IndexReport(
        indexed=report.indexed,
        unchanged=report.unchanged,
        deleted=report.deleted,
        skipped=report.skipped,
        chunks_written=report.chunks_written,
        chunks_embedded=report.chunks_embedded,
        chunks_reused=report.chunks_reused,
        tokens=report.tokens,
        context_tokens=report.context_tokens,
        corpus_tokens=report.corpus_tokens,
        redactions=report.redactions,
        pending=report.pending,
        durations={stage: duration(seconds) for stage, seconds in report.seconds.items()},
        errors=[skipped_file_to_proto(skipped) for skipped in report.errors],
        generation=report.generation,
        warnings=report.warnings,
        calibration=maybe(calibration_to_proto, report.calibration),
    )


def index_report_from_proto(message: pb.IndexReport) -> IndexReport:
    """A run's report from its message."""
    return IndexReport(
        indexed=message.indexed,
        unchanged=message.unchanged,
        deleted=message.deleted,
        skipped=dict(message.skipped),
        chunks_written=message.chunks_written,
        chunks_embedded=message.chunks_embedded,
        chunks_reused=message.chunks_reused,
        tokens=message.tokens,
        context_tokens=message.context_tokens,
        corpus_tokens=message.corpus_tokens,
        redactions=message.redactions,
        pending=message.pending,
        seconds={stage: seconds_of_duration(span) for stage, span in message.durations.items()},
        errors=tuple(skipped_file_from_proto(skipped) for skipped in message.errors),
        generation=message.generation,
        warnings=tuple(message.warnings),
        calibration=calibration_from_proto(message.calibration) if message.HasField("calibration") else None,
    )


def folder_started_to_proto(event: FolderStarted) -> pb.FolderStarted:
    """The start of a folder as a message."""
    return pb.FolderStarted(position=event.position, count=event.count, name=event.name, root=event.root)


def folder_started_from_proto(message: pb.FolderStarted) -> FolderStarted:
    """The start of a folder from its message."""
    return FolderStarted(position=message.position, count=message.count, name=message.name, root=message.root)


def progress_to_proto(progress: IndexProgress) -> pb.IndexProgress:
    """Progress as a message."""
    return pb.IndexProgress(
        folder=progress.folder,
        files_done=progress.files_done,
        files_total=progress.files_total,
        chunks=progress.chunks,
        tokens=progress.tokens,
        tokens_per_second=progress.tokens_per_second,
        eta=maybe(duration, progress.eta_seconds),
        phase=pb.INDEX_PHASE_UNSPECIFIED if progress.phase is None else INDEX_PHASES.to_proto(progress.phase),
    )


def progress_from_proto(message: pb.IndexProgress) -> IndexProgress:
    """Progress from its message."""
    return IndexProgress(
        folder=message.folder,
        files_done=message.files_done,
        files_total=message.files_total,
        chunks=message.chunks,
        tokens=message.tokens,
        tokens_per_second=message.tokens_per_second,
        eta_seconds=seconds_of_duration(message.eta) if message.HasField("eta") else None,
        phase=INDEX_PHASES.of_answer(message.phase, IndexPhase.VECTORS) if message.phase else None,
    )


def file_processed_to_proto(event: FileProcessed) -> pb.FileProcessed:
    """A committed file as a message."""
    return pb.FileProcessed(ref=file_ref_to_proto(event.ref), chunks=event.chunks, embedded=event.embedded)


def file_processed_from_proto(message: pb.FileProcessed) -> FileProcessed:
    """A committed file from its message."""
    return FileProcessed(ref=file_ref_from_proto(message.ref), chunks=message.chunks, embedded=message.embedded)


def file_failed_to_proto(event: FileFailed) -> pb.FileFailed:
    """A file left out as a message."""
    return pb.FileFailed(skipped=skipped_file_to_proto(event.skipped))


def file_failed_from_proto(message: pb.FileFailed) -> FileFailed:
    """A file left out from its message."""
    return FileFailed(skipped=skipped_file_from_proto(message.skipped))


def folder_finished_to_proto(event: FolderFinished) -> pb.FolderFinished:
    """A folder's totals as a message."""
    return pb.FolderFinished(
        name=event.name,
        indexed=event.indexed,
        unchanged=event.unchanged,
        deleted=event.deleted,
        skipped=event.skipped,
        chunks=event.chunks,
        duration=duration(event.seconds),
    )


def folder_finished_from_proto(message: pb.FolderFinished) -> FolderFinished:
    """A folder's totals from their message."""
    return FolderFinished(
        name=message.name,
        indexed=message.indexed,
        unchanged=message.unchanged,
        deleted=message.deleted,
        skipped=dict(message.skipped),
        chunks=message.chunks,
        seconds=seconds_of_duration(message.duration),
    )


def index_run_to_proto(run: IndexRun) -> pb.IndexRun:
    """A run as a message."""
    error = pb.RunError(reason=run.error_reason, message=run.error_message, hint=run.error_hint)
    return pb.IndexRun(
        id=run.id,
        request=index_request_to_proto(run.request),
        state=RUN_STATES.to_proto(run.state),
        create_time=timestamp(run.created),
        start_time=timestamp(run.started),
        end_time=timestamp(run.finished),
        progress=maybe(progress_to_proto, run.progress),
        report=maybe(index_report_to_proto, run.report),
        error=error if run.error_reason or run.error_message or run.error_hint else None,
    )


def index_run_from_proto(message: pb.IndexRun) -> IndexRun:
    """A run from its message; an unknown state reads as running."""
    return IndexRun(
        id=message.id,
        request=index_request_from_proto(message.request),
        state=RUN_STATES.of_answer(message.state, RunState.RUNNING),
        created=seconds_of_timestamp(message.create_time),
        started=seconds_of_timestamp(message.start_time),
        finished=seconds_of_timestamp(message.end_time),
        progress=progress_from_proto(message.progress) if message.HasField("progress") else None,
        report=index_report_from_proto(message.report) if message.HasField("report") else None,
        error_reason=message.error.reason,
        error_message=message.error.message,
        error_hint=message.error.hint,
    )


def event_to_proto(event: WatchedEvent, sequence: int) -> indexer_pb.WatchIndexRunResponse:
    """An event as a message, with its number in the run."""
    response = indexer_pb.WatchIndexRunResponse(sequence=sequence)
    match event:
        case FolderStarted():
            response.folder_started.CopyFrom(folder_started_to_proto(event))
        case IndexProgress():
            response.progress.CopyFrom(progress_to_proto(event))
        case FileProcessed():
            response.file_processed.CopyFrom(file_processed_to_proto(event))
        case FileFailed():
            response.file_failed.CopyFrom(file_failed_to_proto(event))
        case FolderFinished():
            response.folder_finished.CopyFrom(folder_finished_to_proto(event))
        case IndexRun():
            response.finished.CopyFrom(index_run_to_proto(event))
    return response


def event_from_proto(message: indexer_pb.WatchIndexRunResponse) -> WatchedEvent | None:
    """An event from its message; None for one that only a newer server knows."""
    event: WatchedEvent | None = None
    match message.WhichOneof("event"):
        case "folder_started":
            event = folder_started_from_proto(message.folder_started)
        case "progress":
            event = progress_from_proto(message.progress)
        case "file_processed":
            event = file_processed_from_proto(message.file_processed)
        case "file_failed":
            event = file_failed_from_proto(message.file_failed)
        case "folder_finished":
            event = folder_finished_from_proto(message.folder_finished)
        case "finished":
            event = index_run_from_proto(message.finished)
    return event
