"""From what lance raises to the error tree. Lance tells its errors apart by text only."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

from everfind_core.errors import (
    EverfindError,
    IndexDamagedError,
    IndexMissingError,
    InternalError,
    InvalidRequestError,
    StorageError,
)
from everfind_core.index_directory import REBUILD_HINT

LANCE_ERRORS = (OSError, ValueError, RuntimeError, NotImplementedError)
"""What lance and Arrow raise; Arrow's own errors are subclasses."""

_OS_ERROR = re.compile(r"\(os error (\d+)\)")
_ENVIRONMENT = frozenset({errno.EACCES, errno.EPERM, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM})
_SOURCE_PLACE = re.compile(r",? /\S+\.rs:\d+:\d+")


def vanished(error: Exception) -> bool:
    """Whether a file was not there: it may have been cleaned up since this version was opened."""
    return "not found" in str(error).lower() or "(os error 2)" in str(error)


def translate(error: Exception, directory: Path) -> EverfindError:
    """The error of the tree that stands for ``error``, raised by lance or Arrow over the store in ``directory``."""
    text = str(error)
    number = _OS_ERROR.search(text)
    if number and int(number.group(1)) in _ENVIRONMENT:
        return StorageError(
            f"cannot read the index in {directory}: {os.strerror(int(number.group(1)))}",
            hint="Check its owner and mode, and the disk.",
        )
    if "regex" in text.lower():
        return InvalidRequestError.of("filters", "a path glob is too long or too complex", hint="Use shorter globs.")
    if "sql" in text.lower():
        return InternalError(f"the store refused a condition: {_SOURCE_PLACE.sub('', text).strip()[:300]}")
    return IndexDamagedError(f"the index in {directory} is damaged", hint=REBUILD_HINT)


def missing(directory: Path) -> IndexMissingError:
    """There is no table in ``directory``."""
    return IndexMissingError(f"there is no index in {directory}", hint="Run `everfind index`.")
