"""Locks of the operating system on files: a lock ends with whoever holds it, however that ends.

It belongs to an open file, so it is held until the descriptor is closed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW

TRIES, PAUSE_SECONDS = 5, 0.02
"""Whoever only asks (:func:`is_locked`) holds a lock for a moment, so a lock is not given up at the first try."""


def try_lock(descriptor: int, *, shared: bool = False) -> bool:
    """Lock an open file if nobody else has; ``shared`` stands beside other shared locks.

    Raises:
        OSError: the file system has no locks.
    """
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextlib.contextmanager
def try_file_lock(path: Path, *, mode: int = 0o600) -> Iterator[bool]:
    """Lock the file, which is made where it is not there, for the length of the block; gives whether it is held.

    Raises:
        OSError: the file cannot be opened, or its file system has no locks.
    """
    with locked_file(path, mode=mode) as descriptor:
        yield descriptor is not None


@contextlib.contextmanager
def locked_file(path: Path, *, mode: int = 0o600) -> Iterator[int | None]:
    """The same; gives the open file whose lock is held, for a process to inherit: it then holds the lock, too.

    Raises:
        OSError: as :func:`try_file_lock`.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _FLAGS, mode)
    try:
        yield descriptor if any(_tries(descriptor)) else None
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def inherited_file_lock(path: Path, descriptor: int) -> Iterator[bool]:
    """Hold the lock that came with ``descriptor`` for the length of the block, if it is that of the file.

    No child of this process gets it in turn.
    """
    try:
        os.set_inheritable(descriptor, False)
        yield os.path.samestat(os.fstat(descriptor), path.stat()) and try_lock(descriptor)
    finally:
        os.close(descriptor)


def _tries(descriptor: int) -> Iterator[bool]:
    for number in range(TRIES):
        if number:
            time.sleep(PAUSE_SECONDS)
        yield try_lock(descriptor)


def is_locked(path: Path) -> bool:
    """Whether somebody holds the file's lock; false where that cannot be told. Reads only."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | _FLAGS)
    except OSError:
        return False
    try:
        return not try_lock(descriptor, shared=True)
    except OSError:
        return False
    finally:
        os.close(descriptor)
