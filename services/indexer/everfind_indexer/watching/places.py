"""What to know of a folder's place: whether its file system tells of changes, and what outside it decides about it."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

from everfind_core.cancellation import Cancellation
from everfind_indexer.discovery.git import (
    GitUnusableError,
    find_work_tree,
    git_directory,
    shared_directory,
    tracked_digest,
)

_SILENT_TYPES = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "ceph", "afs", "glusterfs", "lustre", "virtiofs", "vboxsf", "drvfs"}
)
"""File systems that others change without the kernel hearing of it."""

_MOUNTS = Path("/proc/self/mountinfo")
LOCK_SECONDS = 60.0
"""How long an operation of git is waited for; a lock file that is older was left behind."""


def is_silent(root: str, mounts: Path = _MOUNTS) -> bool:
    """Whether changes below ``root`` may happen unheard: on a network mount, or one that a program serves."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return False
    found = ("", "")
    for line in lines:
        before, _, after = line.partition(" - ")
        point = before.split(" ")[4].encode("utf-8", "surrogateescape").decode("unicode_escape")
        if root == point or root.startswith(point.rstrip("/") + "/"):
            found = max(found, (point, after.split(" ")[0]), key=lambda one: len(one[0]))
    return found[1] in _SILENT_TYPES or found[1].startswith("fuse")


def outside_rules(root: Path, user_ignore: Path | None) -> Sequence[Path]:
    """Files outside the folder that say what in it is left out."""
    found = [] if user_ignore is None else [user_ignore]
    work_tree = find_work_tree(root)
    if work_tree is not None:
        found += [above / ".gitignore" for above in root.parents if above.is_relative_to(work_tree)]
        git = git_directory(work_tree)
        if git is not None and not git.is_relative_to(root):
            found += [place / name for place in (git, shared_directory(git)) for name in ("config", "info/exclude")]
    return found


def outside_index(root: Path) -> Sequence[Path]:
    """The file outside the folder that says what in it git tracks, if there is one."""
    work_tree = find_work_tree(root)
    git = None if work_tree is None else git_directory(work_tree)
    return [] if git is None or git.is_relative_to(root) else [git / "index"]


def signature(files: Sequence[Path]) -> tuple[tuple[int, int, int] | None, ...]:
    """Changes when one of ``files`` does."""
    return tuple(map(_stat, files))


def _stat(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size


def git_is_busy(root: Path) -> bool:
    """Whether git is just changing the work tree around ``root``."""
    work_tree = find_work_tree(root)
    git = git_directory(work_tree) if work_tree is not None else None
    if git is None:
        return False
    try:
        return time.time() - (git / "index.lock").stat().st_mtime < LOCK_SECONDS
    except OSError:
        return False


def tracked(root: Path, cancel: Cancellation) -> str:
    """Changes when other files are tracked by git; empty outside any work tree, or where git cannot tell."""
    work_tree = find_work_tree(root)
    if work_tree is None:
        return ""
    try:
        return tracked_digest(os.fsencode(root), os.fsencode(work_tree), cancel=cancel)
    except GitUnusableError:
        return ""
