"""Decides, from a folder's files as found now and as known before, what an index run must do. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from everfind_core.model import FileState, SkipReason
from everfind_indexer.files.found import FoundFile

CLOCK_GRANULARITY_NS = 2_000_000_000
"""A file changed within this time before it was looked at may change again without a new mtime (FAT: 2 s)."""

_MAY_PASS = frozenset({SkipReason.UNREADABLE, SkipReason.EXTRACTION_FAILED})
"""Reasons that can go away while the file stays as it is: such a file is looked at in every run."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do: ``read`` these files, of which ``known`` has what was known; forget the ``gone``; in path order.

    Files that wait for vectors are read, too.

    ``unchanged`` counts indexed ones.
    """

    read: tuple[FoundFile, ...]
    known: Mapping[str, FileState]
    gone: tuple[FileState, ...]
    unchanged: int

    def first(self, count: int) -> tuple[FoundFile, ...]:
        """So many of ``read``, changes first: what is only looked at again may be there in every run."""
        return tuple(sorted(self.read, key=lambda file: _is_as_known(file, self.known.get(file.path)))[:count])


def plan(found: Iterable[FoundFile], known: Iterable[FileState], *, force: bool = False) -> Plan:
    """Compare what was found with what is known, both in path order. ``force`` reads everything again.

    One pass over both: what is known of a file that did not change need not be held.
    """
    read: list[FoundFile] = []
    gone: list[FileState] = []
    before: dict[str, FileState] = {}
    unchanged = 0
    states = iter(known)
    state = next(states, None)
    for file in found:
        while state is not None and state.ref.path < file.path:
            gone.append(state)
            state = next(states, None)
        if state is None or state.ref.path != file.path:
            read.append(file)
            continue
        if not force and not state.unembedded and same_by_stat(file, state):
            unchanged += state.skip is None
        else:
            read.append(file)
            before[file.path] = state
        state = next(states, None)
    if state is not None:
        gone += [state, *states]
    return Plan(tuple(read), before, tuple(gone), unchanged)


def same_by_stat(file: FoundFile, state: FileState) -> bool:
    """Whether the file need not be read: same size, times and inode, and old enough when last looked at.

    A change within the clock's granularity of the last look leaves no trace in the times (git calls such an entry
    racily clean), so a file that was young then is read once more.
    """
    return (
        same_stamps(file, state)
        and max(file.mtime_ns, file.ctime_ns) + CLOCK_GRANULARITY_NS < state.checked_ns
        and state.skip not in _MAY_PASS
    )


def _is_as_known(file: FoundFile, state: FileState | None) -> bool:
    """Whether the file is as it was, as far as one sees, and nothing of it waits."""
    return state is not None and not state.unembedded and same_stamps(file, state)


def same_stamps(file: FoundFile, state: FileState) -> bool:
    """Whether nothing that the system tells of the file speaks for a change."""
    found = (file.size, file.mtime_ns, file.ctime_ns, file.inode)
    return found == (state.size, state.mtime_ns, state.ctime_ns, state.inode)


def outermost(paths: Iterable[str]) -> tuple[str, ...]:
    """Those of ``paths`` that lie below none of the others, each once, in their order as directories."""
    kept: list[str] = []
    for path in sorted(paths, key=lambda path: f"{path}/"):
        if not kept or not f"{path}/".startswith(f"{kept[-1]}/"):
            kept.append(path)
    return tuple(kept)
