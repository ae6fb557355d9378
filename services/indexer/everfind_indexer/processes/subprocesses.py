"""A process that does for the indexer what may take all memory, never end, or crash: started when first needed."""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, TypeVar

from everfind_core.errors import UnavailableError

_DYING = 1.0
"""Seconds in which a process that closed its pipe ends."""

_Answer = TypeVar("_Answer")


class BrokenWireError(Exception):
    """The other side is gone, or says what it never should."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The process ended in place of an answer, with ``status`` (0: it was killed); ``late``: it took too long."""

    status: int
    late: bool


class Helper:
    """One process at a time, reused until it fails: one question, one answer, over two pipes. Not thread-safe."""

    def __init__(self, command: Sequence[str], seconds: float, purpose: str) -> None:
        self._command = command
        self._seconds = seconds
        self._purpose = purpose
        self._child: _Child | None = None

    def ask(
        self, question: Mapping[str, object], raw: bytes, receive: Callable[[IO[bytes]], _Answer]
    ) -> _Answer | Ended:
        """Send ``question`` as a line of JSON, then ``raw``, and ``receive`` what comes back.

        Raises:
            UnavailableError: no process can be started.
        """
        if self._child is not None and self._child.process.poll() is not None:
            self.end()
        child = self._child = self._child or _start(self._command, self._purpose)
        late = threading.Event()

        def stop() -> None:
            late.set()
            child.process.kill()

        timer = threading.Timer(self._seconds, stop)
        timer.daemon = True
        timer.start()
        try:
            send(child.questions, question, raw)
            return receive(child.answers)
        except (OSError, BrokenWireError):
            status = child.status()
            self.end()
            return Ended(status, late.is_set())
        except BaseException:  # an interruption leaves no child behind
            self.end()
            raise
        finally:
            timer.cancel()

    def end(self) -> None:
        """End the process, if there is one; the next question starts another."""
        child, self._child = self._child, None
        if child is not None:
            child.end()


def send(pipe: IO[bytes], message: Mapping[str, object], raw: bytes = b"") -> None:
    """Write a message, and what belongs to it."""
    pipe.write(json.dumps(message, ensure_ascii=True).encode() + b"\n")
    pipe.write(raw)
    pipe.flush()


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


def _start(command: Sequence[str], purpose: str) -> _Child:
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
            f"the process that {purpose} cannot be started: {error.strerror}",
            hint="Free memory or processes, and run it again.",
        ) from error
    assert process.stdin is not None
    assert process.stdout is not None
    return _Child(process, process.stdin, process.stdout)
