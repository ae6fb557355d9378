"""One folder, and what its follower knows of it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from everfind_core.cancellation import Cancellation
from everfind_core.files.paths import decode_os_path, encode_os_path
from everfind_core.model import Folder
from everfind_indexer.settings import IndexerSettings
from everfind_indexer.watching import places, scope

GIT_INDEX = ".git/index"
"""Stands for a change of what git tracks around the folder, wherever that index lies."""

OUTSIDE_SECONDS = 1.0


class Followed:
    """Not thread-safe. ``looked`` is when the last look at all of the folder ended, 0 before the first."""

    def __init__(self, folder: Folder, settings: IndexerSettings) -> None:
        self.folder = folder
        self.looked = 0.0
        self.look_seconds = 0.0
        self._root = Path(decode_os_path(folder.root))
        self._user_ignore = settings.user_ignore
        self._apart = frozenset(_apart(folder, settings))
        self._ignored: frozenset[str] = frozenset()
        self._rule_changes = self._rule_changes_begun = 0
        self._tracked = ""
        self._outside_due = 0.0
        self._outside: tuple[object, object] | None = None

    def relevant(self, paths: Iterable[str]) -> set[str]:
        """Where in the folder something may be indexed otherwise after changes at ``paths``; empty for all of it."""
        found: set[str] = set()
        for path in paths:
            if scope.lies_in(f"{path}/", self._apart) or self._is_noise(path):
                continue
            place = path if path == GIT_INDEX else scope.affected(path)
            if place is None:
                continue
            if path != GIT_INDEX and scope.is_rule(path):  # git writes its index for less: `begin` looks at it
                self._rule_changes += 1
                self._ignored = frozenset()  # until a run has said anew what is left out
            found.add(place)
        return found

    def outside_changes(self) -> Iterator[str]:
        """What changed since the last look at the files outside that decide about this folder."""
        now = time.monotonic()
        if now < self._outside_due:
            return
        self._outside_due = now + OUTSIDE_SECONDS
        rules = places.signature(places.outside_rules(self._root, self._user_ignore))
        index = places.signature(places.outside_index(self._root))
        before, self._outside = self._outside, (rules, index)
        if before is None:
            return
        if before[0] != rules:
            self._rule_changes += 1
            self._ignored = frozenset()
            yield ""
        if before[1] != index:
            yield GIT_INDEX

    def git_is_busy(self) -> bool:
        """Whether git is just changing the folder's files."""
        return places.git_is_busy(self._root)

    def begin(self, paths: tuple[str, ...] | None, cancel: Cancellation) -> tuple[str, ...] | None:
        """What of ``paths`` (None: everything) a run has to look at: an index that git only refreshed is no change."""
        self._rule_changes_begun = self._rule_changes
        if paths is not None and GIT_INDEX not in paths:
            return paths
        before, self._tracked = self._tracked, places.tracked(self._root, cancel)
        if paths is None or before != self._tracked:
            self._ignored = frozenset()
            return None
        return tuple(path for path in paths if path != GIT_INDEX)

    def end(self, ignored: frozenset[str], *, everything: bool, seconds: float) -> None:
        """A run succeeded, after which these directories are left out as a whole."""
        if self._rule_changes == self._rule_changes_begun:
            self._ignored = ignored
        if everything:
            self.looked, self.look_seconds = time.monotonic(), seconds

    def _is_noise(self, path: str) -> bool:
        return bool(self._ignored) and scope.is_noise(
            path, self._ignored, is_directory=(self._root / decode_os_path(path)).is_dir()
        )


def _apart(folder: Folder, settings: IndexerSettings) -> Iterator[str]:
    """Directories inside the folder whose changes are not its own: other added folders, the index, kept vectors."""
    start = folder.root.rstrip("/") + "/"
    own = [encode_os_path(os.path.realpath(settings.index_directory))]
    if settings.kept_vectors is not None:
        own.append(encode_os_path(os.path.realpath(settings.kept_vectors.directory)))
    for root in (*(other.root for other in settings.folders), *own):
        if root.startswith(start):
            yield root[len(start) :].rstrip("/") + "/"
