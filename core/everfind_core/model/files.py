"""Files, what the index knows of each, and what was left out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True, order=True)
class FileRef:
    """A file's identity: folder name, and path below it in string form (see :mod:`everfind_core.files.paths`)."""

    folder: str
    path: str


class SkipReason(StrEnum):
    """Why something under a folder is not in the index. Every one is counted."""

    IGNORED = "ignored"
    BINARY = "binary"
    TOO_LARGE = "too_large"
    UNREADABLE = "unreadable"
    LINK = "link"
    EMPTY = "empty"
    SPECIAL = "special"
    VANISHED = "vanished"
    NO_TEXT = "no_text"
    EXTRACTION_FAILED = "extraction_failed"
    ENCRYPTED = "encrypted"
    OVER_LIMIT = "over_limit"


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """One thing left out: its place, the reason, and a sentence where the reason alone says too little.

    A directory that git ignores as a whole is one entry, and its path ends in ``/``.
    """

    ref: FileRef
    reason: SkipReason
    message: str = ""


@dataclass(frozen=True, slots=True)
class FileState:
    """What the index knows of a file, to tell whether it changed.

    Times are nanoseconds since the epoch. ``content_hash`` is of the raw bytes (hex, BLAKE2b 128); empty for a file
    that was skipped without reading. ``checked_ns`` is when the stat was taken: an mtime that is not older than it by
    more than the clock's granularity proves nothing. ``unembedded`` of its chunks wait for their vectors.
    """

    ref: FileRef
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    checked_ns: int
    content_hash: str
    chunks: int
    tokens: int = 0
    redactions: int = 0
    skip: SkipReason | None = None
    message: str = ""
    unembedded: int = 0


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """A file that the index holds. ``size`` in bytes; ``modified`` in seconds since the epoch, 0 if unknown."""

    ref: FileRef
    size: int
    modified: float
    chunks: int
    tokens: int = 0
    redactions: int = 0
