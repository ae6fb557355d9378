"""The indexer over gRPC."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from functools import partial

from everfind.indexer.v1 import indexer_service_pb2 as pb
from everfind.indexer.v1 import run_pb2
from everfind_core.cancellation import Cancellation
from everfind_core.errors import RunNotFoundError
from everfind_core.file_pages import file_page
from everfind_core.model import FileRef, Folder, IndexRun
from everfind_core.ports import Indexer
from everfind_indexer.runs import IndexRuns, RunHistory, WatchedEvent
from everfind_rpc.auth import Scope
from everfind_rpc.converters.corpus import (
    SKIP_REASONS,
    add_folder_request_from_proto,
    file_text_to_proto,
    folder_to_proto,
    grep_answer_to_proto,
    grep_request_from_proto,
    indexed_file_to_proto,
    read_file_request_from_proto,
    remove_folder_request_from_proto,
    removed_folder_to_proto,
    skipped_file_to_proto,
)
from everfind_rpc.converters.indexing import (
    RUN_STATES,
    event_to_proto,
    index_request_from_proto,
    index_run_to_proto,
)
from everfind_rpc.converters.models import calibration_to_proto
from everfind_rpc.converters.status import workspace_status_to_proto
from everfind_rpc.serving.access import (
    check_admin,
    check_called_workspace,
    check_folder,
    check_unlimited,
    chosen_folders,
    in_workspace,
    limited_run,
    limited_run_view,
    limited_status,
    sees,
    sees_run,
)
from everfind_rpc.serving.paging import file_of, page, page_size, token_of
from everfind_rpc.serving.service import Call, Service, Stream, Unary

PAGE_FOLDERS = 1_000
PAGE_RUNS = 50
PAGE_FILES = 10_000
PAGE_SKIPPED = 10_000

_SEARCH = frozenset({Scope.SEARCH})
_INDEX = frozenset({Scope.INDEX})
_ADMIN = frozenset({Scope.ADMIN})


def indexer_service(
    indexer: Indexer,
    before_run: Callable[[Cancellation], None] = lambda _cancel: None,
    history: RunHistory | None = None,
) -> Service:
    """The service of an indexer; ``before_run`` waits for what every run needs, ``history`` has the runs of before."""
    runs = IndexRuns(indexer, before_run, history)
    files, indexing = FileServicer(indexer), RunServicer(indexer, runs)
    service = Service(
        pb.DESCRIPTOR.services_by_name["IndexerService"],
        {
            "ListFolders": Unary(pb.ListFoldersRequest, files.list_folders, _SEARCH | _INDEX),
            "AddFolder": Unary(pb.AddFolderRequest, files.add_folder, _ADMIN),
            "RemoveFolder": Unary(pb.RemoveFolderRequest, files.remove_folder, _ADMIN),
            "CreateIndexRun": Unary(run_pb2.CreateIndexRunRequest, indexing.create, _INDEX),
            "GetIndexRun": Unary(pb.GetIndexRunRequest, indexing.get, _INDEX),
            "ListIndexRuns": Unary(pb.ListIndexRunsRequest, indexing.list, _INDEX),
            "CancelIndexRun": Unary(pb.CancelIndexRunRequest, indexing.cancel, _INDEX),
            "WatchIndexRun": Stream(pb.WatchIndexRunRequest, indexing.watch, _INDEX),
            "ListFiles": Unary(pb.ListFilesRequest, files.list_files, _SEARCH | _INDEX),
            "ListSkippedFiles": Unary(pb.ListSkippedFilesRequest, files.list_skipped, _SEARCH | _INDEX),
            "ReadFile": Unary(pb.ReadFileRequest, files.read_file, _SEARCH),
            "Grep": Unary(pb.GrepRequest, files.grep, _SEARCH),
            "Calibrate": Unary(pb.CalibrateRequest, files.calibrate, _INDEX),
            "GetStatus": Unary(pb.GetStatusRequest, files.get_status, _SEARCH | _INDEX),
        },
        stop=runs.close,
        measure=lambda metrics: metrics.watch_index(indexer.status),
        busy=runs.busy,
    )
    return in_workspace(service, indexer.folders)


class FileServicer:
    """Answers what concerns folders and files."""

    def __init__(self, indexer: Indexer) -> None:
        self._indexer = indexer

    def list_folders(self, request: pb.ListFoldersRequest, call: Call) -> pb.ListFoldersResponse:
        """The added folders."""
        folders = [folder for folder in self._indexer.folders() if sees(call.principal, folder.name)]
        found, following = page(folders, _name, size=request.page_size, token=request.page_token, most=PAGE_FOLDERS)
        return pb.ListFoldersResponse(folders=[folder_to_proto(f) for f in found], next_page_token=following)

    def add_folder(self, request: pb.AddFolderRequest, call: Call) -> pb.AddFolderResponse:
        """The folder as added."""
        check_unlimited(call.principal, "add folders")
        added = self._indexer.add_folder(add_folder_request_from_proto(request))
        return pb.AddFolderResponse(folder=folder_to_proto(added))

    def remove_folder(self, request: pb.RemoveFolderRequest, call: Call) -> pb.RemoveFolderResponse:
        """The folder that was removed."""
        check_unlimited(call.principal, "remove folders")
        asked = remove_folder_request_from_proto(request)
        return removed_folder_to_proto(self._indexer.remove_folder(asked, cancel=call.cancel))

    def list_files(self, request: pb.ListFilesRequest, call: Call) -> pb.ListFilesResponse:
        """Indexed files."""
        if request.folder:
            check_folder(call.principal, request.folder, self._names())
        asked = FileRef(request.after.folder, request.after.path) if request.HasField("after") else None
        found, more = file_page(
            self._indexer,
            partial(sees, call.principal),
            page_size(request.page_size, PAGE_FILES),
            folder=request.folder,
            globs=tuple(request.globs),
            after=file_of(request.page_token) if request.page_token else asked,
            cancel=call.cancel,
        )
        following = token_of((found[-1].ref.folder, found[-1].ref.path)) if more else ""
        return pb.ListFilesResponse(files=[indexed_file_to_proto(f) for f in found], next_page_token=following)

    def list_skipped(self, request: pb.ListSkippedFilesRequest, call: Call) -> pb.ListSkippedFilesResponse:
        """What was left out."""
        if request.folder:
            check_folder(call.principal, request.folder, self._names())
        reasons = {SKIP_REASONS.of_request(reason, "reasons") for reason in request.reasons}
        status = limited_status(call.principal, self._indexer.status(skipped_files=True))
        wanted = [
            skipped
            for skipped in status.skipped_files
            if (not request.folder or skipped.ref.folder == request.folder)
            and (not reasons or skipped.reason in reasons)
        ]
        found, following = page(
            wanted,
            lambda s: (s.ref.folder, s.ref.path, s.reason.value),
            size=request.page_size,
            token=request.page_token,
            most=PAGE_SKIPPED,
        )
        return pb.ListSkippedFilesResponse(
            skipped_files=[skipped_file_to_proto(s) for s in found], next_page_token=following
        )

    def read_file(self, request: pb.ReadFileRequest, call: Call) -> pb.ReadFileResponse:
        """Lines of a file."""
        asked = read_file_request_from_proto(request)
        check_folder(call.principal, asked.folder, self._names())
        return file_text_to_proto(self._indexer.read_file(asked))

    def grep(self, request: pb.GrepRequest, call: Call) -> pb.GrepResponse:
        """Lines that match a pattern."""
        asked = grep_request_from_proto(request)
        folders = chosen_folders(call.principal, asked.folders, self._names())
        return grep_answer_to_proto(self._indexer.grep(replace(asked, folders=folders), cancel=call.cancel))

    def calibrate(self, _: pb.CalibrateRequest, call: Call) -> pb.CalibrateResponse:
        """The model's noise on the whole index."""
        check_unlimited(call.principal, "calibrate the whole index")
        return pb.CalibrateResponse(calibration=calibration_to_proto(self._indexer.calibrate(cancel=call.cancel)))

    def get_status(self, request: pb.GetStatusRequest, call: Call) -> pb.GetStatusResponse:
        """Coverage, sizes and health."""
        if request.verify:
            check_admin(call.principal, "check each byte of the index")
        if request.compare:
            check_admin(call.principal, "have all folders listed")
        found = self._indexer.status(verify=request.verify, compare=request.compare)
        status = limited_status(call.principal, found)
        return pb.GetStatusResponse(status=workspace_status_to_proto(status))

    def _names(self) -> Sequence[str]:
        return [folder.name for folder in self._indexer.folders()]


class RunServicer:
    """Answers what concerns index runs."""

    def __init__(self, indexer: Indexer, runs: IndexRuns) -> None:
        self._indexer = indexer
        self._runs = runs

    def create(self, request: run_pb2.CreateIndexRunRequest, call: Call) -> pb.CreateIndexRunResponse:
        """Start a run, or find the one of the same request id."""
        if request.repair:
            check_admin(call.principal, "repair the index")
        names = [folder.name for folder in self._indexer.folders()]
        asked = limited_run(call.principal, index_request_from_proto(request), names)
        run = self._runs.create(asked, owner=call.principal.name)
        return pb.CreateIndexRunResponse(run=self._message(run, call))

    def get(self, request: pb.GetIndexRunRequest, call: Call) -> pb.GetIndexRunResponse:
        """A run by its id."""
        return pb.GetIndexRunResponse(run=self._message(self._visible(request.run_id, call), call))

    def list(self, request: pb.ListIndexRunsRequest, call: Call) -> pb.ListIndexRunsResponse:
        """Runs, newest first."""
        states = {RUN_STATES.of_request(state, "states") for state in request.states}
        wanted = [
            (number, run)
            for number, run in self._runs.all()
            if sees_run(call.principal, run) and (not states or run.state in states)
        ]
        found, following = page(
            wanted, lambda one: (-one[0],), size=request.page_size, token=request.page_token, most=PAGE_RUNS
        )
        return pb.ListIndexRunsResponse(runs=[self._message(run, call) for _, run in found], next_page_token=following)

    def cancel(self, request: pb.CancelIndexRunRequest, call: Call) -> pb.CancelIndexRunResponse:
        """End a run."""
        run = self._runs.cancel(self._visible(request.run_id, call).id)
        return pb.CancelIndexRunResponse(run=self._message(run, call))

    async def watch(self, request: pb.WatchIndexRunRequest, call: Call) -> AsyncIterator[pb.WatchIndexRunResponse]:
        """What happens in a run, until it is over."""
        check_called_workspace(request.workspace, self._indexer.folders, call)
        run = self._visible(request.run_id, call)
        changed, loop = asyncio.Event(), asyncio.get_running_loop()
        after = request.after_sequence
        with self._runs.watched(run.id, partial(loop.call_soon_threadsafe, changed.set)):
            over = False
            while not over:
                changed.clear()
                events, over = self._runs.events(run.id, after)
                for sequence, event in events:
                    yield event_to_proto(self._shown(event, call), sequence)
                    after = sequence
                if not over:
                    await changed.wait()

    def _message(self, run: IndexRun, call: Call) -> run_pb2.IndexRun:
        return index_run_to_proto(limited_run_view(call.principal, run))

    def _shown(self, event: WatchedEvent, call: Call) -> WatchedEvent:
        return limited_run_view(call.principal, event) if isinstance(event, IndexRun) else event

    def _visible(self, run_id: str, call: Call) -> IndexRun:
        run = self._runs.get(run_id)
        if not sees_run(call.principal, run):
            raise RunNotFoundError(f"no index run has the id {run_id[:64]!r}", hint="List the runs to see their ids.")
        return run


def _name(folder: Folder) -> tuple[str]:
    return (folder.name,)
