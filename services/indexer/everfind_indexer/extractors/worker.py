"""The indexer's side of the document reader: starts its process when first needed, bounds it, ends it."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Self

from everfind_core.errors import UnavailableError
from everfind_core.model import SkipReason
from everfind_core.ports import NotExtractedError
from everfind_indexer.extractors.formats import Format
from everfind_indexer.extractors.wire import BrokenWireError, Extracted, Refused, receive_answer, send

SECONDS = 120.0
"""Wall time for one document; its processor time is bounded far below (``child.CPU_SECONDS``)."""

_DYING = 1.0
"""Seconds in which a process that closed its pipe ends."""

COMMAND = (sys.executable, "-P", "-m", "everfind_indexer.extractors.child")


class DocumentReader:
    """One child process at a time, reused until it fails. Thread-safe; close it, or use it as a context manager."""

    def __init__(self, seconds: float = SECONDS, *, command: Sequence[str] = COMMAND) -> None:
        self._seconds = seconds
        self._command = command
        self._child: _Child | None = None
        self._guard = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def read(self, format_: Format, raw: bytes) -> Extracted:
        """The text of a document.

        Raises:
            NotExtractedError: it has none, cannot be read, or costs too much.
            UnavailableError: no process can be started.
        """
        with self._guard:
            answer = self._ask(format_, raw)
        if isinstance(answer, Refused):
            raise NotExtractedError(answer.reason, answer.message)
        return answer

    def close(self) -> None:
        """End the process, if there is one."""
        with self._guard:
            self._end()

    def _ask(self, format_: Format, raw: bytes) -> Extracted | Refused:
        if self._child is not None and self._child.process.poll() is not None:
            self._end()
        child = self._child = self._child or _start(self._command)
        late = threading.Event()

        def stop() -> None:
            late.set()
            child.process.kill()

        timer = threading.Timer(self._seconds, stop)
        timer.daemon = True
        timer.start()
        try:
            send(child.questions, {"format": format_.value, "size": len(raw)}, raw)
            answer = receive_answer(child.answers)
        except (OSError, BrokenWireError):
            status = child.status()
            self._end()
            return self._why(status, late=late.is_set())
        except BaseException:
            self._end()
            raise
        finally:
            timer.cancel()
        if isinstance(answer, Refused) and answer.reason is SkipReason.OVER_LIMIT:
            self._end()  # what is left of its memory may be little
        return answer

    def _why(self, status: int, *, late: bool) -> Refused:
        """What ended the process."""
        if late:
            return Refused(SkipReason.OVER_LIMIT, f"reading it takes more than {self._seconds:g} s")
        if status == -signal.SIGXCPU:
            return Refused(SkipReason.OVER_LIMIT, "reading it takes too much processor time")
        if status in (-signal.SIGABRT, -signal.SIGKILL):
            return Refused(SkipReason.OVER_LIMIT, "reading it takes too much memory, or breaks its reader")
        return Refused(SkipReason.EXTRACTION_FAILED, f"its reader broke down (status {status})")

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.end()


@dataclass(frozen=True, slots=True)
class _Child:
    """A running process and its pipes."""

    process: subprocess.Popen[bytes]
    questions: IO[bytes]
    answers: IO[bytes]

    def end(self) -> None:
        """Kill it, and wait for it."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.questions, self.answers):
            with contextlib.suppress(OSError):  # what was not sent yet cannot be sent any more
                pipe.close()

    def status(self) -> int:
        """What it ended with by itself; 0 if it goes on."""
        try:
            return self.process.wait(_DYING)
        except subprocess.TimeoutExpired:
            return 0


def _start(command: Sequence[str]) -> _Child:
    """A new process in a session of its own, so that an interrupt at the terminal is the indexer's to handle."""
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise UnavailableError(
            f"the process that reads documents cannot be started: {error.strerror}",
            hint="Free memory or processes, and run it again.",
        ) from error
    assert process.stdin is not None
    assert process.stdout is not None
    return _Child(process, process.stdin, process.stdout)
