"""Whether the index is what the folders hold: they are listed as by a run, and no file is read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from everfind_core.errors import EverfindError, FolderUnusableError
from everfind_core.model import FileState, Folder, HealthFinding, Severity
from everfind_core.text.numbers import count
from everfind_indexer.files.found import FoundFile
from everfind_indexer.index.catalog import current_catalog
from everfind_indexer.running.planning import plan
from everfind_indexer.sources import Sources

_HINT = "Run `everfind index`, or let `everfind watch` follow the folders."


@dataclass(frozen=True, slots=True)
class Difference:
    """Files of folders: ``indexed`` ones, and of those the ``changed`` and the ``gone``; and files that are ``new``."""

    indexed: int = 0
    changed: int = 0
    gone: int = 0
    new: int = 0

    def __add__(self, other: Difference) -> Difference:
        return Difference(
            self.indexed + other.indexed, self.changed + other.changed, self.gone + other.gone, self.new + other.new
        )


def stale_findings(index_directory: Path, folders: Sequence[Folder], sources: Sources) -> list[HealthFinding]:
    """One finding of the check ``stale`` over the folders that can be read; nothing before the first run."""
    try:
        with current_catalog(index_directory) as catalog:
            known = frozenset(catalog.folders())
            difference = Difference()
            for folder in folders:
                with suppress(FolderUnusableError):  # the check of the folders says so
                    states = list(catalog.states(folder.name)) if folder.name in known else []
                    difference += compared(sources.discover(folder).files, states)
    except EverfindError:  # said by the check of the index
        return []
    return [_finding(difference)]


def compared(found: Iterable[FoundFile], known: Sequence[FileState]) -> Difference:
    """What differs between a folder's files as found now and as known, both in path order."""
    todo = plan(found, known)
    before = [(file, todo.known.get(file.path)) for file in todo.read]
    return Difference(
        indexed=sum(state.skip is None for state in known),
        changed=sum(state is not None and state.skip is None and _changed(file, state) for file, state in before),
        gone=sum(state.skip is None for state in todo.gone),
        new=sum(state is None for _, state in before),
    )


def _changed(file: FoundFile, state: FileState) -> bool:
    """By size and time; without a time nothing is known but the content."""
    return bool(state.mtime_ns) and (file.size, file.mtime_ns) != (state.size, state.mtime_ns)


def _finding(difference: Difference) -> HealthFinding:
    numbers = ((difference.changed, "changed"), (difference.gone, "gone"), (difference.new, "new"))
    parts = [f"{number:,} {what}" for number, what in numbers if number]
    files = count(difference.indexed, "file")
    if not parts:
        return HealthFinding("stale", Severity.OK, f"{files} on disk as indexed, and no others")
    return HealthFinding("stale", Severity.WARNING, f"beside {files} that are indexed: {', '.join(parts)} since", _HINT)
