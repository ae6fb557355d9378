"""What discovery gives: files with their stat, and what was left out."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import NamedTuple

from everfind_core.model import SkippedFile


class FoundFile(NamedTuple):
    """One indexable file: its path below the folder in string form, and its stat (times in nanoseconds).

    A named tuple, as a run makes one for each of maybe a million files.
    """

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    @classmethod
    def of(cls, path: str, stat: os.stat_result) -> FoundFile:
        """The file at ``path`` with this stat."""
        return cls(path, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)


@dataclass(frozen=True, slots=True)
class Discovery:
    """A folder as found: ``files`` sorted by path, what was left out sorted by path, and sentences for its user."""

    files: tuple[FoundFile, ...]
    skipped: tuple[SkippedFile, ...] = ()
    warnings: tuple[str, ...] = ()
