"""Reads one file of a folder: whole, bounded, and never anything but a regular file inside the folder."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from everfind_core.errors import FolderUnusableError
from everfind_core.files.paths import check_relative, decode_path, encode_path, printable
from everfind_core.model import SkipReason
from everfind_core.ports import NotExtractedError
from everfind_indexer.files.found import FoundFile
from everfind_indexer.files.sizes import too_large

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_ON_THE_WAY = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""Looking a name up in a directory takes no right to list it."""
# O_NONBLOCK: a fifo that took the file's place must not hold the run.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class RawFile:
    """A file's bytes, its stat from before they were read, and their hash (BLAKE2b, 128 bits, hex)."""

    data: bytes
    found: FoundFile
    content_hash: str


class _TooLargeError(Exception):
    """A file has more bytes than it may."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


def read_file(root: str | bytes | Path, path: str, max_bytes: int) -> RawFile:
    """The file at ``path`` (string form) below the directory ``root`` (string form, or bytes as on disk).

    No link is followed, in ``root`` or below. A file that changes meanwhile is read once more; if it goes on changing,
    the stat is the one from before, so that the next run sees the change.

    Raises:
        NotExtractedError: VANISHED, UNREADABLE, LINK, SPECIAL, TOO_LARGE or EMPTY.
        InvalidRequestError: ``path`` is not a path relative to a folder.
        FolderUnusableError: ``root`` cannot be opened.
    """
    segments = decode_path(check_relative(path)).split(b"/")
    with ExitStack() as stack:
        directory = open_root(root)
        stack.callback(os.close, directory)
        try:
            for segment in segments[:-1]:
                directory = _open_directory(segment, directory)
                stack.callback(os.close, directory)
            data, before, settled = _read(segments[-1], directory, max_bytes)
            if not settled:
                data, before, _ = _read(segments[-1], directory, max_bytes)
        except _TooLargeError as error:
            raise too_large(path, error.size, max_bytes) from error
        except OSError as error:
            raise NotExtractedError(_reason(error), error.strerror or "") from error
    if not data:
        raise NotExtractedError(SkipReason.EMPTY)
    return RawFile(data, FoundFile.of(path, before), content_hash(data))


def content_hash(data: bytes) -> str:
    """BLAKE2b of ``data``, 128 bits, hex."""
    return blake2b(data, digest_size=16).hexdigest()


def open_root(root: str | bytes | Path) -> int:
    """A descriptor of a folder's directory, for its caller to close.

    Roots are resolved when folders are added: a link on the way has come later, and may lead anywhere.

    Raises:
        FolderUnusableError: it cannot be opened without following a link.
    """
    raw = decode_path(root) if isinstance(root, str) else os.fsencode(root)
    *above, last = raw.strip(b"/").split(b"/")
    try:
        with ExitStack() as stack:
            directory = os.open(b"/" if raw.startswith(b"/") else b".", _ON_THE_WAY)
            stack.callback(os.close, directory)
            for segment in above:
                directory = os.open(segment, _ON_THE_WAY, dir_fd=directory)
                stack.callback(os.close, directory)
            return os.open(last or b".", _DIRECTORY | os.O_NOFOLLOW, dir_fd=directory)
    except OSError as error:
        shown = printable(encode_path(raw))
        raise FolderUnusableError(
            f"{shown} cannot be opened: {error.strerror}",
            hint="Mount or restore it, or remove the folder.",
            details={"path": shown},
        ) from error


def _open_directory(name: bytes, parent: int) -> int:
    try:
        return os.open(name, _DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
    except NotADirectoryError:
        # Linux says so of a link, too.
        if stat.S_ISLNK(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
            raise NotExtractedError(SkipReason.LINK, "a directory above it is a link") from None
        raise


def _read(name: bytes, directory: int, max_bytes: int) -> tuple[bytes, os.stat_result, bool]:
    """The bytes, the stat from before, and whether nothing changed meanwhile."""
    # Opening a device can act on it, so what the entry is comes first; fstat then tells what was opened.
    _check_regular(os.stat(name, dir_fd=directory, follow_symlinks=False), max_bytes)
    file = os.open(name, _FILE, dir_fd=directory)
    try:
        before = os.fstat(file)
        _check_regular(before, max_bytes)
        data = _read_all(file, max_bytes)
        after = os.fstat(file)
    finally:
        os.close(file)
    settled = (before.st_mtime_ns, before.st_ctime_ns) == (after.st_mtime_ns, after.st_ctime_ns)
    return data, before, settled and len(data) == after.st_size


def _check_regular(found: os.stat_result, max_bytes: int) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise NotExtractedError(SkipReason.LINK)
    if stat.S_ISDIR(found.st_mode):
        raise NotExtractedError(SkipReason.VANISHED, "a directory took its place")
    if not stat.S_ISREG(found.st_mode):
        raise NotExtractedError(SkipReason.SPECIAL)
    if found.st_size > max_bytes:
        raise _TooLargeError(found.st_size)


def _read_all(file: int, max_bytes: int) -> bytes:
    """Everything, and one byte more than allowed is already too much: the file may grow while it is read."""
    blocks: list[bytes] = []
    size = 0
    while block := os.read(file, min(_BLOCK, max_bytes + 1 - size)):
        blocks.append(block)
        size += len(block)
        if size > max_bytes:
            raise _TooLargeError(size)
    return b"".join(blocks)


def _reason(error: OSError) -> SkipReason:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return SkipReason.VANISHED
    if error.errno == errno.ELOOP:
        return SkipReason.LINK
    if error.errno in {errno.ENXIO, errno.ENODEV}:
        return SkipReason.SPECIAL
    return SkipReason.UNREADABLE
