"""What a file says, read again only when another one took its place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from everfind_core.files.whole import FileStamp, file_stamp

T = TypeVar("T")


class WhileUnchanged(Generic[T]):
    """Reads a file that is replaced whole, and remembers what it said. Thread-safe."""

    def __init__(self, path: Path, read: Callable[[], T]) -> None:
        self._path = path
        self._read = read
        self._known: tuple[FileStamp | None, T] | None = None

    def get(self) -> T:
        """What it says now. Raises what reading raises, and remembers nothing then."""
        try:
            stamp = file_stamp(self._path)
        except OSError:
            return self._read()
        known = self._known
        if known is None or known[0] != stamp:
            self._known = known = (stamp, self._read())
        return known[1]
