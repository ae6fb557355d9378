"""The document reader's own process: ``python -m everfind_indexer.extractors.child``.

It reads files that anyone may have made, with libraries that may be wrong, so it can use little memory and processor
time, write no file, and be killed at any moment; see ``docs/adr/0012-documents-in-a-child-process.md``.
"""

from __future__ import annotations

import os
import resource
import sys
from typing import IO

from everfind_core.files.parsed_json import parse_json
from everfind_core.model import SkipReason
from everfind_core.ports import NotExtractedError
from everfind_indexer.extractors.formats import Format
from everfind_indexer.extractors.readers import read
from everfind_indexer.extractors.wire import MAX_TEXT, Extracted, Refused, answer_to_wire
from everfind_indexer.processes.limits import allow_processor_time, confine, limit
from everfind_indexer.processes.subprocesses import send

MEMORY_BYTES = 1 << 30
"""Address space of the process."""

CPU_SECONDS = 30
"""Processor time for one document."""

_OPEN_FILES = 64


def main() -> None:
    """Answer questions until there are no more."""
    questions, answers = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    with open(os.devnull, "wb") as nothing:  # noqa: PTH123 - a device; what a library prints must not be an answer
        os.dup2(nothing.fileno(), sys.stdout.fileno())
    confine(MEMORY_BYTES)
    limit(resource.RLIMIT_NOFILE, _OPEN_FILES)
    while question := questions.readline():
        send(answers, answer_to_wire(_answer(parse_json(question), questions)))


def _answer(question: dict[str, object], questions: IO[bytes]) -> Extracted | Refused:
    raw = questions.read(int(str(question["size"])))
    allow_processor_time(1 + CPU_SECONDS)
    try:
        document = read(Format(str(question["format"])), raw)
    except NotExtractedError as error:
        return Refused(error.reason, error.message)
    except MemoryError:
        return Refused(SkipReason.OVER_LIMIT, f"reading it takes more than {MEMORY_BYTES >> 20:,} MiB of memory")
    except Exception as error:  # the libraries raise whatever a broken document makes them stumble over
        return Refused(SkipReason.EXTRACTION_FAILED, _told(error))
    if not document.text or document.text.isspace():
        return Refused(SkipReason.NO_TEXT, "it holds no text")
    if len(document.text) > MAX_TEXT:
        return Refused(
            SkipReason.TOO_LARGE, f"{len(document.text):,} characters of text; at most {MAX_TEXT:,} are read"
        )
    return document


def _told(error: Exception) -> str:
    said = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


if __name__ == "__main__":
    main()
