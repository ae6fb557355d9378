"""What the indexer and its document reader say to each other: one question, one answer, over two pipes.

Question: a line of JSON (``format``, ``size``), then ``size`` bytes of the file. Answer: a line of JSON, either an
:class:`Extracted` or a :class:`Refused`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import IO, Any

from everfind_core.files.parsed_json import parse_json
from everfind_core.model import SkipReason
from everfind_indexer.processes.subprocesses import BrokenWireError

MAX_TEXT = 5_000_000
"""Characters of one document's text: two thousand pages."""

_LONGEST_ANSWER = 8 * MAX_TEXT


@dataclass(frozen=True, slots=True)
class Extracted:
    """A document's text as Markdown, and its format's name. ``pages`` are the lines (from 1) at which pages start."""

    text: str
    language: str
    pages: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a file has no text."""

    reason: SkipReason
    message: str


def answer_to_wire(answer: Extracted | Refused) -> dict[str, Any]:
    """The answer as JSON."""
    return asdict(answer)


def receive_answer(pipe: IO[bytes]) -> Extracted | Refused:
    """Read an answer. It comes from a process that read a hostile file: nothing in it is taken on trust.

    Raises:
        BrokenWireError: there is none, or it is none.
    """
    line = pipe.readline(_LONGEST_ANSWER)
    if not line.endswith(b"\n"):
        raise BrokenWireError("no answer")
    try:
        message = parse_json(line)
        if "reason" in message:
            return Refused(SkipReason(message["reason"]), str(message["message"])[:500])
        pages = tuple(int(page) for page in message["pages"])
        text, language = str(message["text"])[:MAX_TEXT], str(message["language"])[:20]
        return Extracted(text, language, pages)
    except (ValueError, LookupError, TypeError) as error:
        raise BrokenWireError(f"a malformed answer: {type(error).__name__}") from error
