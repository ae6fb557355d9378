"""An indexer on another machine: a run goes on there whatever becomes of the connection."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import replace

from everfind.common.v1 import corpus_pb2
from everfind.indexer.v1 import indexer_service_pb2 as pb
from everfind.indexer.v1.indexer_service_pb2_grpc import IndexerServiceStub
from everfind_core.cancellation import Cancellation
from everfind_core.errors import (
    CancelledError,
    DeadlineExceededError,
    EverfindError,
    RunNotFoundError,
    UnavailableError,
)
from everfind_core.model import (
    AddFolderRequest,
    Calibration,
    FileRef,
    FileText,
    Folder,
    GrepAnswer,
    GrepRequest,
    IndexedFile,
    IndexReport,
    IndexRequest,
    IndexRun,
    ReadFileRequest,
    RemovedFolder,
    RemoveFolderRequest,
    RunFinished,
    RunState,
    SkippedFile,
    WorkspaceStatus,
)
from everfind_core.ports import EventSink
from everfind_rpc.channel import READ_SECONDS, STATUS_SECONDS, VERIFY_SECONDS, WATCH_SECONDS, Connection
from everfind_rpc.clients.calls import Calls
from everfind_rpc.converters.corpus import (
    add_folder_request_to_proto,
    file_text_from_proto,
    folder_from_proto,
    grep_answer_from_proto,
    grep_request_to_proto,
    indexed_file_from_proto,
    read_file_request_to_proto,
    remove_folder_request_to_proto,
    removed_folder_from_proto,
    skipped_file_from_proto,
)
from everfind_rpc.converters.indexing import event_from_proto, index_request_to_proto, index_run_from_proto
from everfind_rpc.converters.models import calibration_from_proto
from everfind_rpc.converters.status import workspace_status_from_proto
from everfind_rpc.converters.wire import check_texts
from everfind_rpc.errors import run_error

SERVICE = pb.DESCRIPTOR.services_by_name["IndexerService"]

PATIENCE_SECONDS = 60.0
"""How long a run's watcher looks for a server that does not answer any more."""

_RETRY_SECONDS = 0.5


class RemoteIndexer:
    """Implements :class:`everfind_core.ports.Indexer` over a connection, which its owner closes.

    It asks for ``workspace`` where a request names no other.
    """

    def __init__(self, connection: Connection, workspace: str = "", *, patience: float = PATIENCE_SECONDS) -> None:
        self._calls = Calls(connection, workspace)
        self._stub = IndexerServiceStub(connection.channel)
        self._patience = patience

    def folders(self) -> Sequence[Folder]:
        """See :meth:`everfind_core.ports.Indexer.folders`."""
        found: list[Folder] = []
        request = pb.ListFoldersRequest()
        while True:
            page = self._calls.unary(self._stub.ListFolders, request, seconds=READ_SECONDS)
            found += [folder_from_proto(folder) for folder in page.folders]
            if not page.next_page_token:
                return found
            request.page_token = page.next_page_token

    def index(self, request: IndexRequest, on_event: EventSink, *, cancel: Cancellation | None = None) -> IndexReport:
        """See :meth:`everfind_core.ports.Indexer.index`. A cancelled call cancels its run; a lost one does not."""
        cancel = cancel or Cancellation()
        if not request.request_id:
            request = replace(request, request_id=uuid.uuid4().hex)
        run = self._create(request, cancel)
        try:
            finished = self._follow(run.id, request, on_event, cancel)
        except (CancelledError, DeadlineExceededError):
            self.cancel_run(run.id)
            raise
        if finished.state is RunState.CANCELLED:
            raise CancelledError(finished.error_message or "the run was cancelled", hint=finished.error_hint)
        if finished.state is not RunState.SUCCEEDED or finished.report is None:
            raise run_error(finished)
        on_event(RunFinished(finished.report))
        return finished.report

    def cancel_run(self, run_id: str) -> IndexRun:
        """End a run; what was committed stays.

        Raises:
            RunNotFoundError: there is none of this id.
        """
        message = pb.CancelIndexRunRequest(run_id=run_id)
        return index_run_from_proto(self._calls.unary(self._stub.CancelIndexRun, message, seconds=READ_SECONDS).run)

    def add_folder(self, request: AddFolderRequest) -> Folder:
        """See :meth:`everfind_core.ports.Indexer.add_folder`."""
        message = add_folder_request_to_proto(request)
        return folder_from_proto(self._calls.unary(self._stub.AddFolder, message, seconds=READ_SECONDS).folder)

    def remove_folder(self, request: RemoveFolderRequest, *, cancel: Cancellation | None = None) -> RemovedFolder:
        """See :meth:`everfind_core.ports.Indexer.remove_folder`."""
        message = remove_folder_request_to_proto(request)
        seconds = WATCH_SECONDS  # it waits for a run that is under way
        return removed_folder_from_proto(
            self._calls.unary(self._stub.RemoveFolder, message, seconds=seconds, cancel=cancel)
        )

    def read_file(self, request: ReadFileRequest) -> FileText:
        """See :meth:`everfind_core.ports.SourceReader.read_file`."""
        message = read_file_request_to_proto(request)
        return file_text_from_proto(self._calls.unary(self._stub.ReadFile, message, seconds=READ_SECONDS))

    def grep(self, request: GrepRequest, *, cancel: Cancellation | None = None) -> GrepAnswer:
        """See :meth:`everfind_core.ports.Indexer.grep`."""
        message = grep_request_to_proto(request)
        seconds = READ_SECONDS + max(0.0, request.seconds)
        return grep_answer_from_proto(self._calls.unary(self._stub.Grep, message, seconds=seconds, cancel=cancel))

    def calibrate(self, *, cancel: Cancellation | None = None) -> Calibration:
        """See :meth:`everfind_core.ports.Indexer.calibrate`."""
        answer = self._calls.unary(self._stub.Calibrate, pb.CalibrateRequest(), seconds=STATUS_SECONDS, cancel=cancel)
        return calibration_from_proto(answer.calibration)

    def status(self, *, skipped_files: bool = False, verify: bool = False, compare: bool = False) -> WorkspaceStatus:
        """See :meth:`everfind_core.ports.Indexer.status`."""
        request = pb.GetStatusRequest(verify=verify, compare=compare)
        seconds = VERIFY_SECONDS if verify or compare else STATUS_SECONDS
        answer = self._calls.unary(self._stub.GetStatus, request, seconds=seconds)
        return workspace_status_from_proto(answer.status, self._skipped_files() if skipped_files else ())

    def indexed_files(
        self, *, folder: str = "", globs: Sequence[str] = (), after: FileRef | None = None, limit: int = 0
    ) -> Sequence[IndexedFile]:
        """See :meth:`everfind_core.ports.Indexer.indexed_files`."""
        check_texts((folder, *globs, *((after.folder, after.path) if after else ())), "globs")
        found: list[IndexedFile] = []
        first = None if after is None else corpus_pb2.FileRef(folder=after.folder, path=after.path)
        request = pb.ListFilesRequest(folder=folder, globs=globs, after=first)
        while True:
            request.page_size = limit and limit - len(found)
            page = self._calls.unary(self._stub.ListFiles, request, seconds=STATUS_SECONDS)
            found += [indexed_file_from_proto(file) for file in page.files]
            if not page.next_page_token or len(found) == limit:
                return found
            request.page_token = page.next_page_token

    def _skipped_files(self) -> tuple[SkippedFile, ...]:
        found: list[SkippedFile] = []
        request = pb.ListSkippedFilesRequest()
        while True:
            page = self._calls.unary(self._stub.ListSkippedFiles, request, seconds=STATUS_SECONDS)
            found += [skipped_file_from_proto(skipped) for skipped in page.skipped_files]
            if not page.next_page_token:
                return tuple(found)
            request.page_token = page.next_page_token

    def _create(self, request: IndexRequest, cancel: Cancellation) -> IndexRun:
        message = index_request_to_proto(request)
        answer = self._calls.unary(self._stub.CreateIndexRun, message, seconds=READ_SECONDS, cancel=cancel)
        return index_run_from_proto(answer.run)

    def _follow(self, run_id: str, request: IndexRequest, on_event: EventSink, cancel: Cancellation) -> IndexRun:
        """Watch a run to its end, over lost connections. A server that forgot the run starts it again: it resumes."""
        watch = pb.WatchIndexRunRequest(run_id=run_id)
        lost: EverfindError | None = None
        give_up = 0.0
        while True:
            before = watch.after_sequence
            try:
                if lost is not None:
                    run = self._create(request, cancel)
                    if run.id != watch.run_id:
                        watch = pb.WatchIndexRunRequest(run_id=run.id)
                finished = self._watch(watch, on_event, cancel)
                if finished is not None:
                    return finished
                lost = UnavailableError("the server ended the watch of a run")
            except (UnavailableError, RunNotFoundError) as error:
                lost = error
            except DeadlineExceededError as error:
                cancel.check()
                lost = error
            if watch.after_sequence != before or not give_up:
                give_up = time.monotonic() + self._patience
            if time.monotonic() > give_up:
                raise UnavailableError(
                    f"lost sight of run {watch.run_id}: {lost.message}",
                    hint="The run goes on where the server runs; `everfind index` finds out.",
                ) from lost
            cancel.wait(_RETRY_SECONDS)

    def _watch(self, watch: pb.WatchIndexRunRequest, on_event: EventSink, cancel: Cancellation) -> IndexRun | None:
        """Pass a run's events on; gives the finished run, None if the stream ended before."""
        for message in self._calls.stream(self._stub.WatchIndexRun, watch, seconds=WATCH_SECONDS, cancel=cancel):
            watch.after_sequence = message.sequence
            event = event_from_proto(message)
            if isinstance(event, IndexRun):
                return event
            if event is not None:
                on_event(event)
        return None
