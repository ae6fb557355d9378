"""A folder's indexable files: git's own list in a work tree, a walk elsewhere."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from everfind_core.cancellation import Cancellation
from everfind_core.errors import ConfigError
from everfind_core.files.globs import compile_globs
from everfind_core.files.paths import check_relative, decode_path, encode_path, printable
from everfind_indexer.discovery.git import GitUnusableError, find_work_tree, is_ignored, list_files
from everfind_indexer.discovery.rules import Chain, RuleFile
from everfind_indexer.discovery.walk import Limits, VisitedDirectory, Walk
from everfind_indexer.files.found import Discovery
from everfind_indexer.files.sizes import DEFAULT_SIZES, SizeLimits

FolderRoot: TypeAlias = str | bytes | Path
"""An absolute directory: everfind's string form, bytes as on disk, or a path of the operating system."""


def discover(
    root: FolderRoot,
    *,
    folder: str = "",
    exclude_roots: Iterable[FolderRoot] = (),
    include: Iterable[str] = (),
    user_ignore: Path | None = None,
    sizes: SizeLimits = DEFAULT_SIZES,
    below: str | Collection[str] = (),
    cancel: Cancellation | None = None,
) -> Discovery:
    """The indexable files below ``root``, and everything that was left out of it with the reason.

    ``folder`` is the folder's name in what is reported. ``exclude_roots`` are directories that are not this folder's:
    added folders inside it, the index. ``include`` are path globs (:mod:`everfind_core.files.globs`) of what is
    kept (empty: all). ``user_ignore`` is the ``.indexignore`` beside the user's config. ``below`` limits the answer
    to files and directories, in string form; the same rules hold.

    Raises:
        FolderUnusableError: ``root`` is not a directory that can be listed.
        ConfigError: ``user_ignore`` exists and cannot be read.
        InvalidRequestError: ``below`` or ``include`` is malformed.
        CancelledError, DeadlineExceededError: as ``cancel`` says.
    """
    directory = os.path.realpath(_raw(root))
    named = _named(below)
    limits = Limits(
        sizes=sizes,
        include=compile_globs(include, field="include"),
        exclude=frozenset(_inside(directory, exclude_roots)),
        below=frozenset(_present(directory, named)),
    )
    walk = Walk(directory, folder, limits, cancel)
    walk.check_root()
    if named and not limits.below:
        return Discovery(())
    walk.run(_start(walk, directory, _user_rules(user_ignore), cancel))
    return _found(walk)


def is_indexable(
    root: FolderRoot,
    path: str,
    *,
    exclude_roots: Iterable[FolderRoot] = (),
    include: Iterable[str] = (),
    user_ignore: Path | None = None,
    sizes: SizeLimits = DEFAULT_SIZES,
    cancel: Cancellation | None = None,
) -> bool:
    """Whether :func:`discover` would list the file at ``path`` (string form, below ``root``). Raises as it does."""
    found = discover(
        root,
        exclude_roots=exclude_roots,
        include=include,
        user_ignore=user_ignore,
        sizes=sizes,
        below=check_relative(path),
        cancel=cancel,
    )
    return any(file.path == path for file in found.files)


def _named(below: str | Collection[str]) -> list[bytes]:
    """The paths that an answer is limited to, as on disk."""
    given = ([below] if below else []) if isinstance(below, str) else below
    return [decode_path(check_relative(path, field="below")) for path in given]


def _found(walk: Walk) -> Discovery:
    """What a walk that is over has seen, in order."""
    return Discovery(
        files=tuple(sorted(walk.files)),
        skipped=tuple(sorted(walk.skipped, key=lambda skipped: skipped.ref.path)),
        warnings=tuple(dict.fromkeys(walk.warnings)),
    )


def _start(walk: Walk, directory: bytes, user_rules: Chain, cancel: Cancellation | None) -> VisitedDirectory:
    """The folder itself as a place: in a work tree with git's listing, or with what stands in for it."""
    plain = VisitedDirectory(b"", user_rules)
    path = Path(os.fsdecode(directory))
    work_tree = find_work_tree(path)
    if work_tree is None:
        return plain
    try:
        top = os.fsencode(work_tree)
        listing = list_files(directory, top, below=walk.below, cancel=cancel)
        ignored = not listing.listed and is_ignored(directory, top, cancel=cancel)
    except GitUnusableError as error:
        walk.warn_about_git(error)
        return replace(plain, git_rules=_outer_git_rules(work_tree, path))
    if ignored:
        walk.warnings.append(
            f"{printable(encode_path(directory))} is ignored by the git repository around it, but was added; "
            "its own .gitignore files hold"
        )
        return replace(plain, git_rules=())
    return replace(plain, listing=listing)


def _outer_git_rules(work_tree: Path, directory: Path) -> Chain:
    """The git rules that hold in ``directory`` from outside it: the repository's own, and of each directory above."""
    above = [d for d in reversed(directory.parents) if d.is_relative_to(work_tree)]
    sources = [(work_tree, work_tree / ".git" / "info" / "exclude"), *((d, d / ".gitignore") for d in above)]
    chain: list[RuleFile] = []
    for base, source in sources:
        prefix = os.fsencode(directory.relative_to(base)) + b"/" if base != directory else b""
        try:
            chain.append(RuleFile(source.read_bytes() if source.is_file() else b"", prefix=prefix))
        except OSError:
            continue
    return tuple(chain)


def _user_rules(user_ignore: Path | None) -> Chain:
    if user_ignore is None:
        return ()
    try:
        return (RuleFile(user_ignore.read_bytes()),)
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise ConfigError(
            f"{printable(str(user_ignore))} cannot be read: {error.strerror}",
            hint="Make it a readable file, or remove it.",
        ) from error


def _present(directory: bytes, paths: Iterable[bytes]) -> Iterator[bytes]:
    """Those of ``paths`` that may be there. What is surely absent needs no rule, and git no look at its whole list."""
    for path in paths:
        try:
            os.lstat(b"%b/%b" % (directory, path))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            pass
        yield path


def _inside(directory: bytes, roots: Iterable[FolderRoot]) -> Iterable[bytes]:
    """Those of ``roots`` that lie inside ``directory``, relative to it."""
    start = directory.rstrip(b"/") + b"/"
    for root in roots:
        real = os.path.realpath(_raw(root))
        if real.startswith(start):
            yield real[len(start) :]


def _raw(root: FolderRoot) -> bytes:
    return decode_path(root) if isinstance(root, str) else os.fsencode(root)
