"""What the store's library says, read for both sides of the store. It tells its errors apart by text only."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from everfind_core.errors import IndexDamagedError
from everfind_core.index.json_files import REPAIR_HINT

LIBRARY_ERRORS: Final = (OSError, ValueError, RuntimeError, NotImplementedError)
"""What lance and Arrow raise; Arrow's own errors are subclasses."""

_OS_ERROR = re.compile(r"\(os error (\d+)\)")
_SOURCE_PLACE = re.compile(r",? /\S+\.rs:\d+:\d+")
_SHOWN = 300
_ENVIRONMENT = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE}
    | {errno.ENOTDIR, errno.EFBIG, errno.ENOMEM}
)
"""Faults of the disk, of permissions or of the process's limits rather than of the index's files."""


def system_error(error: Exception) -> OSError | None:
    """The refusal of the operating system in ``error``; None if it says something about the index's files."""
    number = error.errno if isinstance(error, OSError) else None
    if not number and (match := _OS_ERROR.search(str(error))):
        number = int(match.group(1))
    return OSError(number, os.strerror(number)) if number in _ENVIRONMENT else None


def said(error: Exception, directory: Path) -> str:
    """What ``error`` says, without places in the library's source and without the store's own path."""
    text = _SOURCE_PLACE.sub("", str(error))
    return text.replace(str(directory).lstrip("/"), "").strip()[:_SHOWN]


def damaged(directory: Path) -> IndexDamagedError:
    """The store in ``directory`` cannot be read."""
    return IndexDamagedError(f"the index in {directory} is damaged", hint=REPAIR_HINT)


@contextlib.contextmanager
def panics_are_damage(directory: Path) -> Iterator[None]:
    """A panic of the library while it reads a table, which is no ``Exception``, says that files of it are damaged."""
    try:
        yield
    except BaseException as error:  # a panic of the library is no Exception
        if type(error).__name__ != "PanicException":  # pyo3 makes this class without a module to import it from
            raise
        raise damaged(directory) from error
