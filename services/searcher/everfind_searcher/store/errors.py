"""From what lance raises to the error tree, for the reading side."""

from __future__ import annotations

from pathlib import Path

from everfind_core.errors import EverfindError, InternalError, InvalidRequestError, StorageError
from everfind_core.index.store_errors import damaged, said, system_error
from everfind_searcher.store.remote import remote_table


def translate(error: Exception, directory: Path, *, opening: bool = False) -> EverfindError:
    """The error of the tree that stands for ``error``, raised by lance or Arrow over the store in ``directory``.

    ``opening`` asks nothing of the table yet: what is not the system's refusal is damage.
    """
    if refusal := system_error(error):
        return StorageError(
            f"cannot read the index in {directory}: {refusal.strerror}", hint="Check its owner and mode, and the disk."
        )
    text = said(error, directory)
    if not opening and "regex" in text.lower():
        return InvalidRequestError.of("filters", "a path glob is too long or too complex", hint="Use shorter globs.")
    if not opening and "sql" in text.lower():
        return InternalError(f"the store refused a condition: {text}")
    remote = remote_table(directory)
    return remote.unreadable() if remote else damaged(directory)
