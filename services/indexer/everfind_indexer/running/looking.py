"""What a run does with one file that may have changed: look at it, and say what follows."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from everfind_core.model import FileRef, FileState, Folder, IndexStage, SkipReason
from everfind_core.ports import NotExtractedError
from everfind_indexer.files.found import FoundFile
from everfind_indexer.files.reading import read_file
from everfind_indexer.files.sizes import SizeLimits
from everfind_indexer.running.pipeline import Clock
from everfind_indexer.running.preparing import Preparation, PreparedFile, prepare, skipped


@dataclass(frozen=True, slots=True)
class Changed:
    """The store must take these rows in place of the file's old ones; none if it lost its text."""

    file: PreparedFile


@dataclass(frozen=True, slots=True)
class Settled:
    """Only what is known of the file changes: it was touched, or was and stays without text. ``same``: touched."""

    state: FileState
    same: bool


@dataclass(frozen=True, slots=True)
class Vanished:
    """The file is gone; ``state`` is what was known of it."""

    state: FileState | None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The file is there and cannot be read now; what the index has of it stays."""

    state: FileState


Outcome = Changed | Settled | Vanished | Unreadable


@dataclass(frozen=True, slots=True)
class Looker:
    """Looks at files of one folder. ``known`` are their states by path; ``force`` prepares unchanged ones, too."""

    folder: Folder
    known: dict[str, FileState]
    how: Preparation
    sizes: SizeLimits
    force: bool
    clock: Clock

    def look(self, found: FoundFile) -> Outcome:
        """Read the file, compare it with what is known, and prepare it if it differs.

        Raises:
            FolderUnusableError: the folder's directory went away.
        """
        ref = FileRef(self.folder.name, found.path)
        before = self.known.get(found.path)
        looked = time.time_ns()
        try:
            with self.clock.measure(IndexStage.READ):
                raw = read_file(self.folder.root, found.path, self.sizes.of(found.path))
        except NotExtractedError as error:
            if error.reason is SkipReason.VANISHED:
                return Vanished(before)
            left_out = skipped(file_state(ref, found, looked), error.reason, error.message)
            if error.reason is SkipReason.UNREADABLE and before and before.chunks:
                return Unreadable(left_out)
            return _without_text(left_out, before)
        state = file_state(ref, raw.found, looked, raw.content_hash)
        if before and not self.force and not before.unembedded and before.content_hash == raw.content_hash:
            return Settled(_looked_at(before, state), same=True)
        with self.clock.measure(IndexStage.CHUNK):
            prepared = prepare(state, raw.data, self.how)
        return Changed(prepared) if prepared.rows else _without_text(prepared.state, before)


def file_state(ref: FileRef, found: FoundFile, looked_ns: int, content_hash: str = "") -> FileState:
    """The state of a file that was looked at from ``looked_ns`` on, before anything is known of its chunks."""
    return FileState(
        ref=ref,
        size=found.size,
        mtime_ns=found.mtime_ns,
        ctime_ns=found.ctime_ns,
        inode=found.inode,
        checked_ns=looked_ns,
        content_hash=content_hash,
        chunks=0,
    )


def _looked_at(before: FileState, now: FileState) -> FileState:
    """What was known of the content, with the stat of now."""
    return replace(
        before,
        size=now.size,
        mtime_ns=now.mtime_ns,
        ctime_ns=now.ctime_ns,
        inode=now.inode,
        checked_ns=now.checked_ns,
    )


def _without_text(state: FileState, before: FileState | None) -> Outcome:
    """A file without text is a matter for the store only if it has rows there."""
    return Changed(PreparedFile(state)) if before and before.chunks else Settled(state, same=False)
