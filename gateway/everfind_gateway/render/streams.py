"""The two streams of a command: data on stdout, all else on stderr; safe for any terminal and any encoding."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Mapping
from typing import Any, TextIO

from everfind_core.errors import StorageError
from everfind_core.files.paths import printable

_NOT_IN_JSON = re.compile(r"[\x7f-\x9f\ud800-\udfff]")


class OutputClosedError(Exception):
    """Whoever read our stdout has gone, as ``head`` does; there is nobody left to tell."""


def prepare() -> None:
    """Let no character end a command: what the stream's encoding lacks is printed as ``?``. Open what is closed."""
    _open_closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def emit(text: str) -> None:
    """Write ``text`` and a line end to stdout.

    Raises:
        OutputClosedError: nobody reads it any more.
        StorageError: it goes to a file that cannot take it.
    """
    try:
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        _discard(sys.stdout)
        raise OutputClosedError from None
    except OSError as error:
        _discard(sys.stdout)
        raise StorageError(
            f"cannot write to standard output: {error.strerror}", hint="Look at where the output goes."
        ) from error


def emit_json(value: Mapping[str, Any]) -> None:
    """Write one JSON object to stdout: one line where piped, indented on a terminal."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
    text = json.dumps(value, ensure_ascii=not unicode, indent=2 if is_terminal(sys.stdout) else None)
    emit(_NOT_IN_JSON.sub(lambda match: f"\\u{ord(match.group()):04x}", text))


def note(text: str) -> None:
    """Write a line to stderr; nobody reading it is no error."""
    try:
        sys.stderr.write(f"{harmless(text)}\n")
        sys.stderr.flush()
    except BrokenPipeError:
        _discard(sys.stderr)


def harmless(text: str) -> str:
    """``text`` with control characters shown as escapes; line ends and tabs stay."""
    return printable(text, keep="\n\t")


def for_stdout(text: str) -> str:
    """``text`` as it is for a pipe or a file, harmless for a terminal."""
    return harmless(text) if is_terminal(sys.stdout) else text


def one_line(text: str) -> str:
    """``text`` as one harmless line: each run of white space is one space."""
    return harmless(" ".join(text.split()))


def is_terminal(stream: TextIO) -> bool:
    """Whether a person looks at ``stream``."""
    return stream.isatty()


def _open_closed() -> None:
    """Put something in the places of streams that are closed: else the next file opened would take them, and output.

    What is written to a closed stdout is refused, as it would be; to a closed stderr, it goes nowhere.
    """
    for place, mode in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(place)
        except OSError:
            os.open(os.devnull, mode)  # takes the lowest free place, which is this one
    sys.stdin = sys.stdin or open(0, closefd=False, encoding="utf-8")  # noqa: SIM115 - open as long as the process
    sys.stdout = sys.stdout or open(1, "w", closefd=False, encoding="utf-8")  # noqa: SIM115 - as above
    sys.stderr = sys.stderr or open(2, "w", closefd=False, encoding="utf-8")  # noqa: SIM115 - as above


def _discard(stream: TextIO) -> None:
    """Send what is still buffered nowhere, so that the interpreter does not fail on it at its end."""
    try:
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, stream.fileno())
        os.close(sink)
    except (OSError, ValueError):
        return
