"""From what lance raises to the error tree. Lance tells its errors apart by text only."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Iterator
from pathlib import Path

from everfind_core.errors import EverfindError, IndexDamagedError, IndexLockedError, StorageError
from everfind_core.index_directory import REBUILD_HINT, storage_error

_OS_ERROR = re.compile(r"\(os error (\d+)\)")
_CONFLICT = re.compile(r"commit conflict|concurrent (?:commit|transaction)|too much contention", re.IGNORECASE)
_SOURCE_PLACE = re.compile(r",? /\S+\.rs:\d+:\d+")
_ENVIRONMENT = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE}
    | {errno.ENOTDIR, errno.EFBIG, errno.ENOMEM}
)
"""Faults of the disk or the process's limits rather than of the index's files."""

_DAMAGE = (
    "not found",
    "failed to fill whole buffer",
    "invalid range",
    "file size is too small",
    "does not appear to be a lance file",
    "unsupported index version",
    "corrupt",
    "decode",
    "magic",
)


def translate(error: Exception, directory: Path) -> EverfindError:
    """The error of the tree that stands for ``error``, raised by lance or Arrow over the store in ``directory``."""
    if isinstance(error, OSError) and error.errno:
        return storage_error(error, directory)
    text = str(error)
    number = _OS_ERROR.search(text)
    if number and int(number.group(1)) in _ENVIRONMENT:
        code = int(number.group(1))
        return storage_error(OSError(code, os.strerror(code)), directory)
    if _CONFLICT.search(text):
        return IndexLockedError(
            f"another process changed the index in {directory} during this write",
            hint="Let it end, then run `everfind index` again; nothing that was committed is lost.",
        )
    if any(sign in text.lower() for sign in _DAMAGE):
        return IndexDamagedError(f"the index in {directory} is damaged", hint=REBUILD_HINT)
    return StorageError(
        f"the index in {directory} cannot be written: {_SOURCE_PLACE.sub('', text).strip()[:300]}",
        hint="Check its owner and mode, or set `index_dir` elsewhere.",
    )


@contextlib.contextmanager
def store_errors(directory: Path) -> Iterator[None]:
    """Let the block raise errors of the tree only."""
    try:
        yield
    except EverfindError:
        raise
    except (OSError, ValueError, RuntimeError, NotImplementedError) as error:
        raise translate(error, directory) from error
