"""From what lance raises to the error tree, for the writing side."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

from everfind_core.errors import EverfindError, IndexLockedError, StorageError
from everfind_core.index.json_files import storage_error
from everfind_core.index.store_errors import LIBRARY_ERRORS, damaged, panics_are_damage, said, system_error

_CONFLICT = re.compile(r"commit conflict|concurrent (?:commit|transaction)|too much contention", re.IGNORECASE)

_DAMAGE = (
    "not found",
    "failed to fill whole buffer",
    "invalid range",
    "sufficient data",
    "file size is too small",
    "does not appear to be a lance file",
    "unsupported index version",
    "corrupt",
    "decode",
    "magic",
)


def translate(error: Exception, directory: Path, *, opening: bool = False) -> EverfindError:
    """The error of the tree that stands for ``error``, raised by lance or Arrow over the store in ``directory``.

    ``opening`` an existing table only reads it: what is neither the system's refusal nor another writer is damage.
    """
    if refusal := system_error(error):
        return storage_error(refusal, directory)
    text = said(error, directory)
    if _CONFLICT.search(text):
        return IndexLockedError(
            f"another process changed the index in {directory} during this write",
            hint="Let it end, then run `everfind index` again; nothing that was committed is lost.",
        )
    if opening or any(sign in text.lower() for sign in _DAMAGE):
        return damaged(directory)
    return StorageError(
        f"the index in {directory} cannot be written: {text}",
        hint="Check its owner and mode, or set `index_dir` elsewhere.",
    )


@contextlib.contextmanager
def store_errors(directory: Path, *, opening: bool = False) -> Iterator[None]:
    """Let the block raise errors of the tree only; ``opening`` as for :func:`translate`."""
    try:
        with panics_are_damage(directory):
            yield
    except EverfindError:
        raise
    except LIBRARY_ERRORS as error:
        raise translate(error, directory, opening=opening) from error
