"""An index run that outlasts the call which began it: that answers as soon as every file answers by its words."""

from __future__ import annotations

import logging
import threading
import time

from everfind_core.cancellation import Cancellation
from everfind_core.errors import CancelledError, EverfindError
from everfind_core.model import FolderStarted, IndexPhase, IndexProgress, IndexRequest, RunEvent
from everfind_gateway.live_workspace import LiveWorkspace
from everfind_gateway.mcp.calls import Call, Progress
from everfind_gateway.mcp.runs import run

LOOK_SECONDS = 0.05
"""How often a call that waits looks whether its caller is gone, and takes over the run's progress."""

_log = logging.getLogger("everfind.mcp")


class BackgroundRun:
    """Begins at once, in a thread of its own, and goes on when words answer, until it is done or the corpus closes.

    Until then it stops when no call waits for it any more. The call that made it counts as one that has joined.
    """

    def __init__(self, corpus: LiveWorkspace, request: IndexRequest) -> None:
        self.done_at: float | None = None
        """When it came to its end, in seconds of ``time.monotonic()``; None before, and where it failed."""
        self._cancel = Cancellation()
        self._progress = Progress()
        self._guard = threading.Lock()
        self._waiting = 1
        self._first_pass = False
        self._words_answer = threading.Event()
        self._ended = threading.Event()
        self._error: Exception | None = None
        threading.Thread(target=self._run, args=(corpus, request), name="index", daemon=True).start()

    @property
    def ended(self) -> bool:
        """Whether nothing more comes of it."""
        return self._ended.is_set()

    def join(self) -> bool:
        """Count one call more that is about to wait; false where the run was told to stop before."""
        with self._guard:
            if self._cancel.cancelled:
                return False
            self._waiting += 1
            return True

    def wait_for_words(self, call: Call) -> None:
        """Until every file answers by its words: after a first pass, or at the end. For a call that has joined.

        Raises:
            CancelledError: the call was cancelled.
            EverfindError: the run failed before that.
        """
        try:
            while not self._words_answer.wait(LOOK_SECONDS):
                call.progress.report(self._progress.done, self._progress.total, self._progress.message)
                call.cancel.check()
        finally:
            with self._guard:
                self._waiting -= 1
                if not (self._waiting or self._words_answer.is_set()):
                    self._cancel.cancel()
        if self._error is not None:
            raise self._error

    def _run(self, corpus: LiveWorkspace, request: IndexRequest) -> None:
        try:
            with corpus.call(self._cancel) as opened:
                run(opened, [request], Call(corpus, cancel=self._cancel, progress=self._progress), self._hear)
            self.done_at = time.monotonic()
        except Exception as error:  # raised where it is waited for
            self._error = error
            if self._words_answer.is_set() and not isinstance(error, CancelledError):
                _log.warning("the index run for codebase_search ended: %s", _words(error))
        finally:
            self._ended.set()
            self._words_answer.set()

    def _hear(self, event: RunEvent) -> None:
        """A first pass is over when its folder's turn comes, or vectors follow."""
        if isinstance(event, IndexProgress):
            self._first_pass |= event.phase is IndexPhase.WORDS
            if event.phase is IndexPhase.VECTORS:
                self._words_answer.set()
        elif isinstance(event, FolderStarted) and self._first_pass:
            self._words_answer.set()


def _words(error: Exception) -> str:
    return error.message if isinstance(error, EverfindError) else f"a fault of everfind ({type(error).__name__})"
