"""The process that parses a text first: ``python -m everfind_indexer.syntax_trial``; see ``docs/adr/0007``.

A parser's memory cannot be bounded from inside, and some texts take gigabytes. What this process survives takes no
more elsewhere. It imports the parser and grammars, and nothing else that is large.
"""

from __future__ import annotations

import sys
import time
from importlib import import_module
from typing import IO

from everfind_core.files.parsed_json import parse_json
from everfind_indexer.processes.limits import allow_processor_time, confine

MEMORY_BYTES = 1 << 29
"""Address space of the process: a text of ten times the largest size that is read by default takes half."""

CPU_SECONDS = 5
"""Processor time for one text: about thirty times what the largest one takes, however it is written."""

PARSED, GAVE_UP = b"+\n", b"-\n"


def main() -> None:
    """Parse texts until there are no more, and say of each whether it could be done."""
    confine(MEMORY_BYTES)
    questions, answers = sys.stdin.buffer, sys.stdout.buffer
    while question := questions.readline():
        asked = parse_json(question)
        done = _parses(str(asked["module"]), str(asked["function"]), _exactly(questions, int(asked["size"])))
        answers.write(PARSED if done else GAVE_UP)
        answers.flush()


def _parses(module: str, function: str, data: bytes) -> bool:
    from tree_sitter import Language, Parser

    allow_processor_time(2 * CPU_SECONDS)
    patience = time.thread_time() + CPU_SECONDS
    parser = Parser(Language(getattr(import_module(module), function)()))
    try:
        parser.parse(lambda offset, _point: data[offset:], progress_callback=lambda *_: time.thread_time() > patience)
    except ValueError:  # how it says that it was told to give up
        return False
    return True


def _exactly(pipe: IO[bytes], size: int) -> bytes:
    data = pipe.read(size)
    if len(data) < size:
        raise SystemExit(1)
    return data


if __name__ == "__main__":
    main()
