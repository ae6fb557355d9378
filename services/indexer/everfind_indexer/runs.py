"""Index runs as resources: started once a request id, watched by any number, and alive without their watchers."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from everfind_core.cancellation import Cancellation
from everfind_core.errors import (
    CancelledError,
    EverfindError,
    InternalError,
    OverloadedError,
    RunNotFoundError,
    UnavailableError,
)
from everfind_core.model import (
    FileFailed,
    FileProcessed,
    FolderFinished,
    FolderStarted,
    IndexProgress,
    IndexRequest,
    IndexRun,
    RunEvent,
    RunFinished,
    RunState,
)
from everfind_core.ports import Indexer

WatchedEvent: TypeAlias = FolderStarted | IndexProgress | FileProcessed | FileFailed | FolderFinished | IndexRun
"""What a watcher sees: a run's events, and at the end the run itself in place of ``RunFinished``."""

KEPT_RUNS = 100
KEPT_EVENTS = 10_000
MAX_UNFINISHED = 16

_log = logging.getLogger("everfind.runs")


@dataclass(slots=True)
class _Record:
    """A run, its newest events with their numbers from 1, and who wants to know of the next."""

    run: IndexRun
    number: int
    owner: str
    cancel: Cancellation = field(default_factory=Cancellation)
    events: deque[tuple[int, WatchedEvent]] = field(default_factory=lambda: deque(maxlen=KEPT_EVENTS))
    sequence: int = 0
    watchers: set[Callable[[], object]] = field(default_factory=set)
    thread: threading.Thread | None = None
    interrupted: bool = False

    @property
    def over(self) -> bool:
        return self.run.finished > 0


class RunHistory:
    """The runs of one index: it outlasts the indexer that is open on it, and may pass to the next."""

    def __init__(self) -> None:
        self.guard = threading.Lock()
        self.records: dict[str, _Record] = {}
        self.created = 0

    def shorten(self) -> None:
        """Keep of each run that is over how it ended: nobody watches it now."""
        with self.guard:
            for record in self.records.values():
                while record.over and len(record.events) > 1:
                    record.events.popleft()


class IndexRuns:
    """The runs of one indexer. Thread-safe. The engine's own lock keeps them to one writer at a time."""

    def __init__(
        self,
        indexer: Indexer,
        before: Callable[[Cancellation], None] = lambda _cancel: None,
        history: RunHistory | None = None,
    ) -> None:
        """Prepare. ``before`` is called in each run before anything else: it waits for what the run needs.

        ``history`` has the runs of indexers of before on this index.
        """
        self._indexer = indexer
        self._before = before
        self._history = RunHistory() if history is None else history
        self._guard = self._history.guard
        self._records = self._history.records
        self._mine: set[str] = set()
        self._closed = False

    def create(self, request: IndexRequest, *, owner: str = "") -> IndexRun:
        """Start a run, or find the one that ``owner`` started with the same request id.

        Raises:
            OverloadedError: too many runs wait for each other.
            UnavailableError: the indexer is stopping.
        """
        with self._guard:
            if self._closed:
                raise _stopping()
            for record in self._records.values():
                if request.request_id and (record.owner, record.run.request.request_id) == (owner, request.request_id):
                    return record.run
            if sum(not record.over for record in self._records.values()) >= MAX_UNFINISHED:
                raise OverloadedError(f"{MAX_UNFINISHED} index runs are under way", hint="Wait for one to end.")
            self._history.created += 1
            run = IndexRun(uuid.uuid4().hex, request, RunState.QUEUED, time.time())
            record = self._records[run.id] = _Record(run, self._history.created, owner)
            self._mine.add(run.id)
            self._forget_old()
            record.thread = threading.Thread(target=self._execute, args=(record,), name=f"run-{run.id[:8]}")
            record.thread.start()
            return run

    def get(self, run_id: str) -> IndexRun:
        """A run as it is now.

        Raises:
            RunNotFoundError: there is none of this id, or it ended long ago.
        """
        return self._record(run_id).run

    def all(self) -> Sequence[tuple[int, IndexRun]]:
        """All runs that are kept, each with its number, in the order in which they were created."""
        with self._guard:
            return [(record.number, record.run) for record in self._records.values()]

    def busy(self) -> bool:
        """Whether a run of this indexer is not over yet."""
        with self._guard:
            return any(not record.over for record in self._own())

    def cancel(self, run_id: str) -> IndexRun:
        """Ask a run to end at its next clean point; one that is over stays as it is.

        Raises:
            RunNotFoundError: there is none of this id.
        """
        record = self._record(run_id)
        record.cancel.cancel()
        return record.run

    def events(self, run_id: str, after: int) -> tuple[Sequence[tuple[int, WatchedEvent]], bool]:
        """The kept events of a run with greater numbers than ``after``, and whether no more will come.

        Raises:
            RunNotFoundError: there is none of this id.
            UnavailableError: the indexer's own stopping ended the run; the same request goes on with it later.
        """
        record = self._record(run_id)
        with self._guard:
            if record.interrupted:
                raise _stopping()
            return [event for event in record.events if event[0] > after], record.over

    @contextlib.contextmanager
    def watched(self, run_id: str, wake: Callable[[], object]) -> Iterator[None]:
        """Within the block ``wake`` is called, in any thread, after each new event."""
        record = self._record(run_id)
        with self._guard:
            record.watchers.add(wake)
        try:
            yield
        finally:
            with self._guard:
                record.watchers.discard(wake)

    def close(self) -> None:
        """Let no more runs start, end those under way at a clean point, and wait for them."""
        with self._guard:
            self._closed = True
            unfinished = [record for record in self._own() if not record.over]
        for record in unfinished:
            record.cancel.cancel()
        for record in unfinished:
            if record.thread is not None:
                record.thread.join()

    def _own(self) -> list[_Record]:
        return [record for run_id in self._mine if (record := self._records.get(run_id)) is not None]

    def _record(self, run_id: str) -> _Record:
        with self._guard:
            record = self._records.get(run_id)
        if record is None:
            raise RunNotFoundError(
                f"no index run has the id {run_id[:64]!r}", hint="The indexer may have restarted: start a run again."
            )
        return record

    def _execute(self, record: _Record) -> None:
        self._change(record, replace(record.run, state=RunState.RUNNING, started=time.time()))
        _log.info("run started", extra={"run": record.run.id})

        def on_event(event: RunEvent) -> None:
            if isinstance(event, RunFinished):
                return
            progress = event if isinstance(event, IndexProgress) else record.run.progress
            self._change(record, replace(record.run, progress=progress), event)

        try:
            self._before(record.cancel)
            report = self._indexer.index(record.run.request, on_event, cancel=record.cancel)
            ended = replace(record.run, state=RunState.SUCCEEDED, report=report)
        except EverfindError as error:
            record.interrupted = self._closed and isinstance(error, CancelledError)
            ended = _failed(record.run, _stopping() if record.interrupted else error)
        except Exception:  # whatever it is, who waits for the run hears that it ended
            _log.exception("unexpected fault in run %s", record.run.id)
            fault = InternalError("the indexer failed at this run", hint="Its log has the details.")
            ended = _failed(record.run, fault)
        ended = replace(ended, finished=time.time())
        self._change(record, ended, ended)
        _log.info("run ended", extra={"run": ended.id, "state": ended.state.value, "reason": ended.error_reason})

    def _change(self, record: _Record, run: IndexRun, event: WatchedEvent | None = None) -> None:
        with self._guard:
            record.run = run
            if event is not None:
                record.sequence += 1
                record.events.append((record.sequence, event))
            watchers = list(record.watchers)
        for wake in watchers:
            wake()

    def _forget_old(self) -> None:
        over = [run_id for run_id, record in self._records.items() if record.over]
        for run_id in over[: max(0, len(self._records) - KEPT_RUNS)]:
            del self._records[run_id]
            self._mine.discard(run_id)


def _failed(run: IndexRun, error: EverfindError) -> IndexRun:
    state = RunState.CANCELLED if isinstance(error, CancelledError) else RunState.FAILED
    return replace(run, state=state, error_reason=error.reason, error_message=error.message, error_hint=error.hint)


def _stopping() -> UnavailableError:
    return UnavailableError("the indexer is stopping", hint="Try again when it is up; the run goes on from there.")
