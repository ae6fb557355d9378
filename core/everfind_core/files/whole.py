"""Files that are replaced whole: a reader, and whoever comes after a crash, sees the old one or the new one."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TypeAlias

FileStamp: TypeAlias = tuple[int, int]
"""What differs between two files that took each other's place: time of change in nanoseconds, and inode."""


def file_stamp(path: Path) -> FileStamp | None:
    """The stamp of the file at ``path``; None where there is none. One taken before reading misses no change.

    Raises:
        OSError: it cannot be looked at.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_mtime_ns, found.st_ino


def replace_file(target: Path, text: str, *, mode: int = 0o600, durable: bool = True) -> None:
    """Let ``target`` hold ``text`` in UTF-8. As :func:`replaced`, and raises what that does."""
    with replaced(target, mode=mode, durable=durable) as file:
        file.write(text.encode())


@contextlib.contextmanager
def replaced(target: Path, *, mode: int = 0o600, durable: bool = True) -> Iterator[IO[bytes]]:
    """A file beside ``target``, to be written within the block, that takes its place when the block ends well.

    It has ``mode`` from its first byte on, whatever the umask. Without ``durable`` nothing waits for the disk: for what
    counts only as long as its writer lives.

    Raises:
        OSError: it cannot be written; the old file is as it was.
    """
    temporary = target.parent / f".{target.name}.{secrets.token_hex(8)}"
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with os.fdopen(handle, "wb") as file:
            os.fchmod(file.fileno(), mode)
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:  # an interruption leaves no half file, either
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    if durable:
        _sync_directory(target.parent)


def is_disk_full(error: OSError) -> bool:
    """Whether no space is left, or none that this user may take."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def _sync_directory(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
