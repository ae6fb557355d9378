"""Decides, from a folder's files as found now and as known before, what an index run must do. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from everfind_core.model import FileState, SkipReason
from everfind_indexer.found import FoundFile

CLOCK_GRANULARITY_NS = 2_000_000_000
"""A file changed within this time before it was looked at may change again without a new mtime (FAT: 2 s)."""

_MAY_PASS = frozenset({SkipReason.UNREADABLE, SkipReason.EXTRACTION_FAILED})
"""Reasons that can go away while the file stays as it is: such a file is looked at in every run."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do: ``read`` these files, forget the ``gone``, both in path order. ``unchanged`` counts indexed ones."""

    read: tuple[FoundFile, ...]
    gone: tuple[FileState, ...]
    unchanged: int


def plan(found: Iterable[FoundFile], known: Mapping[str, FileState], *, force: bool = False) -> Plan:
    """Compare what was found with what is known. ``force`` reads everything again."""
    read: list[FoundFile] = []
    unchanged = 0
    here: set[str] = set()
    for file in found:
        here.add(file.path)
        state = known.get(file.path)
        if state is not None and not force and same_by_stat(file, state):
            unchanged += state.skip is None
        else:
            read.append(file)
    gone = [state for path, state in sorted(known.items()) if path not in here]
    return Plan(tuple(read), tuple(gone), unchanged)


def same_by_stat(file: FoundFile, state: FileState) -> bool:
    """Whether the file need not be read: same size, times and inode, and old enough when last looked at.

    A change within the clock's granularity of the last look leaves no trace in the times (git calls such an entry
    racily clean), so a file that was young then is read once more.
    """
    return (
        file.size == state.size
        and file.mtime_ns == state.mtime_ns
        and file.ctime_ns == state.ctime_ns
        and file.inode == state.inode
        and max(file.mtime_ns, file.ctime_ns) + CLOCK_GRANULARITY_NS < state.checked_ns
        and state.skip not in _MAY_PASS
    )
