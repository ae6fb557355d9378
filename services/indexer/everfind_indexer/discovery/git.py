"""Asks git what belongs to a work tree. The only place that runs git.

A repository is untrusted data: nothing in its settings may run a command, reach the network, or widen the answer.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import time
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from everfind_core.cancellation import Cancellation
from everfind_core.files.paths import encode_path, printable
from everfind_indexer.discovery.names import is_agent_guide

SECONDS = 180.0
"""How long git may take for one work tree; a pipe in place of an ignore file would hold it for ever."""

MAX_NAMED_BYTES = 100_000
"""Bytes of paths that git is asked for by name; beyond, everything is asked for. A system takes about 2 MB."""

# What a user may set for all of git; everything else of git's in the environment (a hook's GIT_DIR, GIT_INDEX_FILE …)
# belongs to another repository.
_KEPT_VARIABLES = frozenset({"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH"})
_SET_VARIABLES = {
    "LC_ALL": "C",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM": "1",
}
_SETTINGS = (
    # The folder's user may not own it (a mounted volume): reading is what they asked for.
    "safe.directory=*",
    # These two name programs that git would start.
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
)
_LIST = ("--literal-pathspecs", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
_LIST_IGNORED = (
    *("--literal-pathspecs", "ls-files", "-z"),
    *("--others", "--ignored", "--exclude-standard", "--directory"),
)


class GitUnusableError(Exception):
    """git is missing, or cannot read this work tree. The message is a sentence."""


@dataclass(frozen=True, slots=True)
class GitListing:
    """What git says of a work tree, as paths below the folder.

    ``listed``: tracked, or untracked and not ignored; repositories inside it end in ``/`` or, as submodules, do not.
    ``ignored``: files, and whole directories with ``/`` at the end. ``guide_directories``: directories on the way to
    ignored agent guides, likewise with ``/``.
    """

    listed: frozenset[bytes]
    ignored: frozenset[bytes]
    guide_directories: frozenset[bytes]


def find_work_tree(directory: Path) -> Path | None:
    """The nearest directory at or above ``directory`` that holds a ``.git``; None outside any."""
    return next((d for d in (directory, *directory.parents) if os.path.lexists(d / ".git")), None)


def git_directory(work_tree: Path) -> Path | None:
    """Where git keeps what it knows of this work tree: its ``.git``, or where that file points to; None if nowhere."""
    place = work_tree / ".git"
    if place.is_dir():
        return place
    try:
        line = place.read_text(encoding="utf-8", errors="surrogateescape").strip()
    except OSError:
        return None
    return work_tree / line.removeprefix("gitdir:").strip() if line.startswith("gitdir:") else None


def shared_directory(git: Path) -> Path:
    """What the work trees of one repository share, from what git keeps of one of them."""
    try:
        return git / (git / "commondir").read_text(encoding="utf-8", errors="surrogateescape").strip()
    except OSError:
        return git


def is_linked_copy(directory: bytes) -> bool:
    """Whether ``directory`` is a linked work tree of the very repository around it: another copy of its files."""
    tree = Path(os.fsdecode(directory))
    git, around = git_directory(tree), find_work_tree(tree.parent)
    outer = git_directory(around) if around is not None else None
    if git is None or outer is None or git.parent.name != "worktrees":
        return False
    return os.path.realpath(shared_directory(git)) == os.path.realpath(shared_directory(outer))


def tracked_digest(directory: bytes, work_tree: bytes, *, cancel: Cancellation | None = None) -> str:
    """A hash over the names that git tracks at or below ``directory``.

    Raises:
        GitUnusableError: git cannot tell.
    """
    return blake2b(_run(directory, work_tree, ("ls-files", "-z", "--cached"), cancel), digest_size=16).hexdigest()


def list_files(
    directory: bytes,
    work_tree: bytes,
    *,
    below: Collection[bytes] = (),
    prefix: bytes = b"",
    cancel: Cancellation | None = None,
) -> GitListing:
    """What git lists at or below ``directory``, each path with ``prefix`` before it.

    ``work_tree`` is the directory that holds the ``.git``: ``directory`` or one above it. ``below`` (paths below
    ``directory``; none: everything) may leave out what a walk to those entries and down from them does not look at.

    Raises:
        GitUnusableError: git is missing, fails or takes too long.
        CancelledError, DeadlineExceededError: as ``cancel`` says.
    """
    reaches = sorted({_reach(directory, one) for one in below})
    only = [b"--", *reaches] if all(reaches) and 0 < sum(map(len, reaches)) <= MAX_NAMED_BYTES else []
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(_run, directory, work_tree, (*args, *only), cancel) for args in (_LIST, _LIST_IGNORED)]
        listed = _paths(both[0].result(), prefix)
        if only and not _each_has_some(listed, [prefix + reach for reach in reaches]):
            # Ignored or absent. Which directory above is ignored as a whole, only the whole listing says.
            return list_files(directory, work_tree, prefix=prefix, cancel=cancel)
        try:
            ignored = _paths(both[1].result(), prefix)
        except GitUnusableError:
            # Inside an ignored directory git (2.39) fails to list what is ignored; then it lists nothing else, either.
            if listed:
                raise
            ignored = []
    return GitListing(frozenset(listed), frozenset(ignored), _guide_directories(ignored, prefix))


def _guide_directories(ignored: Iterable[bytes], prefix: bytes) -> frozenset[bytes]:
    """The directories between ``prefix`` and the agent guides among ``ignored``."""
    found: set[bytes] = set()
    for path in filter(is_agent_guide, ignored):
        end = path.find(b"/", len(prefix))
        while end >= 0:
            found.add(path[: end + 1])
            end = path.find(b"/", end + 1)
    return frozenset(found)


def _each_has_some(listed: list[bytes], reaches: Sequence[bytes]) -> bool:
    """Whether at or below each of ``reaches`` something is listed."""
    exact = {path.removesuffix(b"/") for path in listed}
    order = sorted(listed)

    def any_below(directory: bytes) -> bool:
        place = bisect_left(order, directory)
        return place < len(order) and order[place].startswith(directory)

    return all(reach in exact or any_below(reach + b"/") for reach in reaches)


def _reach(directory: bytes, below: bytes) -> bytes:
    """The part of ``below`` that git can be asked for: it looks through neither a link nor into another repository."""
    end = below.find(b"/")
    while end >= 0:
        entry = b"%b/%b" % (directory, below[:end])
        try:
            plain = stat.S_ISDIR(os.lstat(entry).st_mode)
        except OSError:
            plain = False
        if not plain or os.path.lexists(entry + b"/.git"):
            return below[:end]
        end = below.find(b"/", end + 1)
    return below


def is_ignored(directory: bytes, work_tree: bytes, *, cancel: Cancellation | None = None) -> bool:
    """Whether the repository around ``directory`` ignores it as a whole.

    Raises:
        GitUnusableError: git cannot tell.
    """
    return bool(_run(directory, work_tree, ("check-ignore", "--", "."), cancel, no=1))


def _paths(output: bytes, prefix: bytes) -> list[bytes]:
    paths = output.split(b"\0")
    paths.pop()
    return [prefix + path for path in paths] if prefix else paths


def _run(
    directory: bytes, work_tree: bytes, args: Sequence[str | bytes], cancel: Cancellation | None, *, no: int = 0
) -> bytes:
    """What git prints; nothing where it exits with ``no``."""
    program = shutil.which("git")
    if program is None:
        raise GitUnusableError("git is not installed")
    settings = [part for setting in _SETTINGS for part in ("-c", setting)]
    argv: list[str | bytes] = [program, "-C", directory, *settings, *args]
    with subprocess.Popen(
        argv, env=_environment(work_tree), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            output, errors = _communicate(process, cancel)
        except TimeoutError:
            raise _unusable(directory, f"it took longer than {SECONDS:.0f} seconds") from None
    if process.returncode not in {0, no}:
        raise _unusable(directory, encode_path(errors.strip().rpartition(b"\n")[2].removeprefix(b"fatal: ")))
    return output


def _unusable(directory: bytes, problem: str) -> GitUnusableError:
    return GitUnusableError(f"git cannot list {printable(encode_path(directory))}: {printable(problem)}")


def _communicate(process: subprocess.Popen[bytes], cancel: Cancellation | None) -> tuple[bytes, bytes]:
    end = time.monotonic() + SECONDS
    try:
        while True:
            try:
                return process.communicate(timeout=0.1)
            except subprocess.TimeoutExpired:
                if cancel:
                    cancel.check()
                if time.monotonic() > end:
                    raise TimeoutError from None
    except BaseException:  # an interruption leaves no git behind
        process.kill()
        raise


def _environment(work_tree: bytes) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or k in _KEPT_VARIABLES}
    kept.pop("LANGUAGE", None)
    place = Path(os.fsdecode(work_tree))
    # This repository and no other: neither one further up, nor a work tree that its settings put elsewhere.
    return kept | _SET_VARIABLES | {"GIT_WORK_TREE": str(place), "GIT_CEILING_DIRECTORIES": str(place.parent)}
