"""Index runs for tool calls, their progress told as that of one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from everfind_core.errors import IndexLockedError
from everfind_core.model import (
    FolderFinished,
    FolderStarted,
    IndexPhase,
    IndexProgress,
    IndexReport,
    IndexRequest,
    RunEvent,
)
from everfind_core.ports import EventSink
from everfind_gateway.live_workspace import Opened
from everfind_gateway.mcp.calls import Call, Progress
from everfind_gateway.reports import run_in_turn

_WORDS_SHARE = 0.1
"""Of an index run that takes files in twice, what the first pass counts as."""
_AFTER = {None: "", IndexPhase.WORDS: " found by their words", IndexPhase.VECTORS: " found by meaning"}


def run(
    opened: Opened, requests: Sequence[IndexRequest], call: Call, on_event: EventSink = lambda _event: None
) -> IndexReport:
    """Run one request after the other; their progress is told as that of one run, and ``on_event`` hears of it all."""
    told = _Told(call.progress, len(requests), on_event)

    def run_one(request: IndexRequest) -> IndexReport:
        report = _run_one(opened, request, call, told)
        told.next_request()
        return report

    return run_in_turn(requests, run_one)


def _run_one(opened: Opened, request: IndexRequest, call: Call, told: _Told) -> IndexReport:
    indexer = opened.workspace.indexer
    try:
        return indexer.index(replace(request, wait=False), told.on_event, cancel=call.cancel)
    except IndexLockedError as error:
        told.waiting(f"{error.message}; waiting for it to end")
        return indexer.index(request, told.on_event, cancel=call.cancel)


class _Told:
    """Turns a run's events into progress: one unit a request, its parts by folders and files."""

    def __init__(self, progress: Progress, total: int, also: EventSink) -> None:
        self._progress = progress
        self._total = total
        self._also = also
        self._requests = 0
        self._position, self._count = 0, 1
        self._furthest = 0.0

    def waiting(self, message: str) -> None:
        """Another process writes."""
        self._progress.report(float(self._requests), self._total, message)

    def next_request(self) -> None:
        """A request is done."""
        self._requests += 1
        self._position, self._count = 0, 1

    def on_event(self, event: RunEvent) -> None:
        """Take one event of a run."""
        self._also(event)
        if isinstance(event, FolderStarted):
            self._position, self._count = event.position - 1, event.count
            self._report(0.0, f"{event.name}: looking for changes")
        elif isinstance(event, IndexProgress):
            self._report(
                _done(event),
                f"{event.folder}: {event.files_done:,} of {event.files_total:,} files{_AFTER[event.phase]}, "
                f"{event.chunks:,} chunks",
            )
        elif isinstance(event, FolderFinished):
            self._report(1.0, f"{event.name}: {event.indexed:,} indexed, {event.unchanged:,} unchanged")

    def _report(self, part: float, message: str) -> None:
        done = self._requests + (self._position + part) / max(1, self._count)
        self._furthest = max(self._furthest, done)  # a first pass over several folders comes before the first folder
        self._progress.report(self._furthest, self._total, message)


def _done(event: IndexProgress) -> float:
    """The share of a folder that is done, where words come before vectors a small one of it."""
    part = min(event.files_done / event.files_total, 1.0) if event.files_total else 0.0
    match event.phase:
        case IndexPhase.WORDS:
            return _WORDS_SHARE * part
        case IndexPhase.VECTORS:
            return _WORDS_SHARE + (1 - _WORDS_SHARE) * part
        case None:
            return part
