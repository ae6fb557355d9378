"""One writer an index directory: an OS lock that dies with its holder, and a note of who holds it."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from everfind_core.cancellation import Cancellation
from everfind_core.errors import IndexLockedError
from everfind_core.files.locks import try_lock
from everfind_core.files.parsed_json import OTHER_SHAPE, parse_json
from everfind_core.files.paths import printable
from everfind_core.index.json_files import storage_error
from everfind_core.index.names import LOCK

POLL_SECONDS = 0.1
GRACE_SECONDS = 0.3
"""Whoever only asks who writes holds the lock for a moment; a writer that may not wait tries for so long."""


@contextmanager
def writer_lock(index_directory: Path, *, wait: bool, cancel: Cancellation | None = None) -> Iterator[None]:
    """Hold the writer's lock of ``index_directory`` for the length of the block.

    Raises:
        IndexLockedError: another process holds it and ``wait`` is false; the message names the holder.
        StorageError: the directory cannot be written.
        CancelledError, DeadlineExceededError: while waiting.
    """
    cancel = cancel or Cancellation()
    try:
        index_directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(index_directory / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise storage_error(error, index_directory) from error
    try:
        deadline = time.monotonic() + GRACE_SECONDS
        while not _try_lock(descriptor, index_directory):
            if not wait and time.monotonic() >= deadline:
                raise _locked(index_directory, descriptor)
            cancel.wait(POLL_SECONDS)
        _note_holder(descriptor, _own_note())
        try:
            yield
        finally:
            _note_holder(descriptor, b"")
    finally:
        os.close(descriptor)


def lock_holder(index_directory: Path) -> str:
    """Who writes now, in words; empty if nobody does. Reads only."""
    try:
        descriptor = os.open(index_directory / LOCK, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return "" if try_lock(descriptor, shared=True) else _holder(descriptor)
    except OSError:
        return ""
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int, index_directory: Path) -> bool:
    try:
        return try_lock(descriptor)
    except OSError as error:
        raise storage_error(error, index_directory) from error


def _own_note() -> bytes:
    command = " ".join(Path(argument).name if n == 0 else argument for n, argument in enumerate(sys.argv[:3]))
    note = {"pid": os.getpid(), "host": socket.gethostname(), "command": command[:200], "since": time.time()}
    return json.dumps(note).encode()


def _note_holder(descriptor: int, note: bytes) -> None:
    with contextlib.suppress(OSError):  # the lock holds without its note, too
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, note, 0)


def _holder(descriptor: int) -> str:
    try:
        note = parse_json(os.pread(descriptor, 4096, 0))
        since = time.strftime("%H:%M:%S", time.localtime(float(note["since"])))
        return printable(f"process {int(note['pid'])} on {note['host']} (`{note['command']}`, since {since})")
    except OTHER_SHAPE:
        return "another process"


def _locked(index_directory: Path, descriptor: int) -> IndexLockedError:
    holder = _holder(descriptor)
    return IndexLockedError(
        f"the index in {index_directory} is being written by {holder}",
        hint="Wait for it, or run again without `--no-wait` to queue behind it.",
        details={"holder": holder},
    )
