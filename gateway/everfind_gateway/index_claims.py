"""Which workspace of a process has which index directory: two with one index would both write to it."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from everfind_core.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path


class IndexClaims:
    """Which index directories are open by which workspaces; one may have its own open twice. Thread-safe."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._held: list[tuple[Path, str]] = []

    def claim(self, index: Path, workspace: str) -> None:
        """Let no other workspace be open with the same index, however its path is written.

        Raises:
            ConfigError: one is.
        """
        with self._guard:
            for held, other in self._held:
                if other != workspace and same_index(held, index):
                    raise ConfigError(
                        f"the workspaces {other} and {workspace} have one index directory, {index}",
                        hint="Give each its own index_dir.",
                    )
            self._held.append((index, workspace))

    def release(self, index: Path, workspace: str) -> None:
        """Give one claim back."""
        with self._guard:
            self._held.remove((index, workspace))

    @contextmanager
    def held(self, index: Path, workspace: str) -> Iterator[None]:
        """Claim it within the block; raises as :meth:`claim`."""
        self.claim(index, workspace)
        try:
            yield
        finally:
            self.release(index, workspace)


def same_index(one: Path, other: Path) -> bool:
    """Whether two paths are one directory, there or not."""
    if one == other or os.path.realpath(one) == os.path.realpath(other):
        return True
    try:
        return one.samefile(other)
    except OSError:
        return False
