"""Which texts may be parsed in this process: those that a process with limits has parsed before."""

from __future__ import annotations

import atexit
import sys
import threading
from collections.abc import Sequence
from functools import cache
from typing import IO

from everfind_indexer.processes.subprocesses import BrokenWireError, Ended, Helper
from everfind_indexer.syntax.grammars import source_of
from everfind_indexer.syntax_trial import GAVE_UP, PARSED

_HARMLESS_BYTES = 1_000
"""What no grammar takes much for."""

_SECONDS = 60.0
"""Wall time for one text; its processor time is bounded far below (``syntax_trial.CPU_SECONDS``)."""

_COMMAND = (sys.executable, "-P", "-m", "everfind_indexer.syntax_trial")


class Trial:
    """Parses texts where it can do no harm. Thread-safe."""

    def __init__(self, command: Sequence[str] = _COMMAND, seconds: float = _SECONDS) -> None:
        self._helper = Helper(command, seconds, "tries to parse code")
        self._guard = threading.Lock()

    def passes(self, data: bytes, language: str) -> bool:
        """Whether ``data`` can be parsed by the grammar of ``language`` in bounded memory and time.

        Raises:
            UnavailableError: no process can be started.
        """
        if len(data) <= _HARMLESS_BYTES:
            return True
        module, function = source_of(language)
        with self._guard:
            answer = self._helper.ask({"module": module, "function": function, "size": len(data)}, data, _receive)
        return not isinstance(answer, Ended) and answer

    def close(self) -> None:
        """End the process, if there is one."""
        with self._guard:
            self._helper.end()


@cache
def trial() -> Trial:
    """The one of this process; its own process ends with this one."""
    one = Trial()
    atexit.register(one.close)
    return one


def _receive(pipe: IO[bytes]) -> bool:
    answer = pipe.readline(len(PARSED))
    if answer not in (PARSED, GAVE_UP):
        raise BrokenWireError("no answer")
    return answer == PARSED
