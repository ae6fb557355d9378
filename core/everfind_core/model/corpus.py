"""Folders, files, and what was left out of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

EMPTY_COUNTS: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Folder:
    """A directory that a user added.

    ``name`` is short and unique in the workspace, ``root`` its absolute path in string form (in a team, the path on
    the indexer), ``include`` globs that keep only matching files (empty: all).
    """

    name: str
    root: str
    include: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AddFolderRequest:
    """Add a directory of the indexer's machine: ``root`` is its absolute path in string form.

    An empty ``name`` takes the directory's, made unique; ``include`` as in :class:`Folder`.
    """

    root: str
    name: str = ""
    include: tuple[str, ...] = ()
    workspace: str = ""


@dataclass(frozen=True, slots=True)
class RemoveFolderRequest:
    """Remove a folder, by its name or its root. Its chunks go, too, unless ``keep_index``.

    With ``purge`` nothing of it stays for readers of older generations, and none of its vectors for reuse. ``wait``
    waits while another process writes the index.
    """

    folder: str
    keep_index: bool = False
    purge: bool = False
    workspace: str = ""
    wait: bool = True


@dataclass(frozen=True, slots=True)
class RemovedFolder:
    """A folder that was removed, and how many files the index forgot."""

    folder: Folder
    files_forgotten: int = 0


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
class Coverage:
    """What an answer was searched in, so that "nothing found" means something.

    ``files`` and ``chunks`` are searchable, ``skipped`` counts by reason, ``pending`` are files known to have changed
    or to wait for their vectors; it is never 0 while a run that changes something has not settled. ``unembedded``
    chunks wait for their vectors: only the lexical arm finds them.
    """

    files: int = 0
    chunks: int = 0
    skipped: Mapping[str, int] = field(default_factory=lambda: EMPTY_COUNTS)
    pending: int = 0
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


@dataclass(frozen=True, slots=True)
class ReadFileRequest:
    """Read lines of an indexable file. Lines count from 1, both ends included; ``end_line`` 0 means the last."""

    folder: str
    path: str
    start_line: int = 1
    end_line: int = 0
    workspace: str = ""


@dataclass(frozen=True, slots=True)
class FileText:
    """Lines of a file, secrets masked. ``indexed`` says whether these bytes are the ones the index holds.

    ``extracted_from`` names the format (``pdf``, ``docx``) where the lines are those of extracted text.
    """

    ref: FileRef
    absolute_path: str
    start_line: int
    end_line: int
    total_lines: int
    text: str
    truncated: bool = False
    indexed: bool = True
    redactions: int = 0
    extracted_from: str = ""


@dataclass(frozen=True, slots=True)
class GrepRequest:
    """Search exactly the indexable files line by line.

    ``pattern`` is literal unless ``regex``; ``folders`` empty means all; ``globs`` are path globs, empty means all.
    ``seconds`` bounds the whole call.
    """

    pattern: str
    regex: bool = False
    case_sensitive: bool = True
    folders: tuple[str, ...] = ()
    globs: tuple[str, ...] = ()
    max_results: int = 100
    seconds: float = 10.0
    workspace: str = ""


@dataclass(frozen=True, slots=True)
class GrepMatch:
    """One matching line: number from 1, and the line's text (masked, cut around the match when very long).

    ``page`` counts from 1 where the file has pages. ``extracted_from`` as in :class:`FileText`.
    """

    ref: FileRef
    absolute_path: str
    line: int
    text: str
    page: int = 0
    extracted_from: str = ""


@dataclass(frozen=True, slots=True)
class GrepAnswer:
    """All matches found, ordered by folder, path and line. ``truncated`` says why it is not all of them, if so."""

    matches: tuple[GrepMatch, ...]
    files_searched: int
    truncated: str = ""
