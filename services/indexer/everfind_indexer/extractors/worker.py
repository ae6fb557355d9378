"""The indexer's side of the document reader: starts its process when first needed, bounds it, ends it."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from everfind_core.model import SkipReason
from everfind_core.ports import NotExtractedError
from everfind_indexer.extractors.formats import Format
from everfind_indexer.extractors.wire import Extracted, Refused, receive_answer
from everfind_indexer.processes.subprocesses import Ended, Helper

SECONDS = 120.0
"""Wall time for one document; its processor time is bounded far below (``child.CPU_SECONDS``)."""

COMMAND = (sys.executable, "-P", "-m", "everfind_indexer.extractors.child")


class DocumentReader:
    """One child process at a time, reused until it fails. Thread-safe; close it, or use it as a context manager."""

    def __init__(self, seconds: float = SECONDS, *, command: Sequence[str] = COMMAND) -> None:
        self._seconds = seconds
        self._helper = Helper(command, seconds, "reads documents")
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
            answer = self._helper.ask({"format": format_.value, "size": len(raw)}, raw, receive_answer)
            if isinstance(answer, Refused) and answer.reason is SkipReason.OVER_LIMIT:
                self._helper.end()  # what is left of its memory may be little
        if isinstance(answer, Ended):
            answer = self._why(answer)
        if isinstance(answer, Refused):
            raise NotExtractedError(answer.reason, answer.message)
        return answer

    def close(self) -> None:
        """End the process, if there is one."""
        with self._guard:
            self._helper.end()

    def _why(self, ended: Ended) -> Refused:
        """What ended the process."""
        if ended.late:
            return Refused(SkipReason.OVER_LIMIT, f"reading it takes more than {self._seconds:g} s")
        if ended.status == -signal.SIGXCPU:
            return Refused(SkipReason.OVER_LIMIT, "reading it takes too much processor time")
        if ended.status in (-signal.SIGABRT, -signal.SIGKILL):
            return Refused(SkipReason.OVER_LIMIT, "reading it takes too much memory, or breaks its reader")
        return Refused(SkipReason.EXTRACTION_FAILED, f"its reader broke down (status {ended.status})")
