"""The walk from a folder's root to every entry below it: each visited once, each kept or left out for a reason."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from everfind_core.cancellation import Cancellation
from everfind_core.errors import FolderUnusableError
from everfind_core.files.globs import Globs
from everfind_core.files.paths import encode_path, printable
from everfind_core.model import FileRef, SkippedFile, SkipReason
from everfind_core.ports import NotExtractedError
from everfind_indexer.discovery.git import GitListing, GitUnusableError, is_linked_copy, list_files
from everfind_indexer.discovery.names import (
    CACHE_SIGNATURE,
    CACHE_TAG,
    TOOL_DIRECTORIES,
    VIRTUAL_ENVIRONMENT,
    has_binary_extension,
    is_agent_guide,
)
from everfind_indexer.discovery.rules import Chain, RuleFile, verdict
from everfind_indexer.files.found import FoundFile
from everfind_indexer.files.reading import read_file
from everfind_indexer.files.sizes import SizeLimits, too_large

INDEX_IGNORE = b".indexignore"
GIT_IGNORE = b".gitignore"
_MAX_IGNORE_FILE_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class VisitedDirectory:
    """A directory to visit, and what holds for its entries.

    ``path`` is below the folder, with ``/`` at the end (empty: the folder itself). ``listing`` is git's answer for the
    repository around it. Where git cannot be asked, ``git_rules`` stand in for it; None: ``.gitignore`` has no
    meaning here. ``index_rules`` are the ``.indexignore`` files that hold.
    """

    path: bytes
    index_rules: Chain
    listing: GitListing | None = None
    git_rules: Chain | None = None


@dataclass(frozen=True)
class Limits:
    """What narrows a walk: to ``below`` (files and directories; none: everything), to files that ``include`` keeps, and
    not into ``exclude`` (directories without ``/`` at the end), all below the folder.
    """

    sizes: SizeLimits
    include: Globs | None = None
    exclude: frozenset[bytes] = frozenset()
    below: frozenset[bytes] = frozenset()

    def on_the_way(self, path: bytes) -> bool:
        """Whether the entry at ``path`` is one of ``below``, lies in one, or leads to one."""
        return path in self._leading or any(above in self.below for above in _with_parents(path))

    def below_directory(self, directory: bytes) -> list[bytes]:
        """``below`` as seen from a directory (with ``/`` at the end); none if all of it is wanted."""
        inside = [path[len(directory) :] for path in self.below if path.startswith(directory)]
        return [] if directory[:-1] in self.below else inside

    @cached_property
    def _leading(self) -> frozenset[bytes]:
        return frozenset(above for path in self.below for above in _with_parents(path))


class Walk:
    """One walk. After :meth:`run`, the attributes hold what it found, in no particular order."""

    def __init__(self, root: bytes, folder: str, limits: Limits, cancel: Cancellation | None = None) -> None:
        self.files: list[FoundFile] = []
        self.skipped: list[SkippedFile] = []
        self.warnings: list[str] = []
        self._root = root
        self._folder = folder
        self._limits = limits
        self._cancel = cancel

    @property
    def below(self) -> frozenset[bytes]:
        """What the walk is limited to; none: everything."""
        return self._limits.below

    def check_root(self) -> None:
        """Raise FolderUnusableError unless the root is a directory that can be listed."""
        try:
            os.scandir(self._root).close()
        except OSError as error:
            raise _unusable(self._root, error) from error

    def run(self, start: VisitedDirectory) -> None:
        """Visit everything from ``start`` downwards."""
        places = [start]
        while places:
            if self._cancel:
                self._cancel.check()
            places += self._visit(places.pop())

    # --- directories --------------------------------------------------------------------------------------------------

    def _visit(self, place: VisitedDirectory) -> list[VisitedDirectory]:
        """Keep or leave out the files of one directory; gives the directories in it that are to be visited."""
        try:
            with os.scandir(self._absolute(place.path)) as scan:
                entries = {entry.name: entry for entry in scan if entry.name != b".git"}
        except OSError as error:
            if not place.path:
                raise _unusable(self._root, error) from error
            self._skip(place.path, _reason(error), error.strerror or "")
            return []
        if place.listing is None and self._is_tool_directory(place, entries.keys()):
            self._skip(place.path, SkipReason.IGNORED, "made by a tool, which can make it again")
            return []
        place = self._with_rules(place, entries.keys())
        inner: list[VisitedDirectory] = []
        for entry in entries.values():
            path = place.path + entry.name
            if self._limits.below and not self._limits.on_the_way(path):
                continue
            if entry.is_dir(follow_symlinks=False):
                inner += self._enter(place, path)
            else:
                self._file(place, path, entry)
        return inner

    def _enter(self, place: VisitedDirectory, path: bytes) -> list[VisitedDirectory]:
        """The directory at ``path`` as a place to visit, unless it is left out as a whole."""
        if path in self._limits.exclude:
            return []
        directory = path + b"/"
        if self._git_ignores(place, path, directory):
            self._skip(directory, SkipReason.IGNORED, "ignored by git")
            return []
        excluded = verdict(place.index_rules, path, is_directory=True)
        if excluded:
            self._skip(directory, SkipReason.IGNORED, "excluded by an .indexignore file")
            return []
        name = path[len(place.path) :]
        if place.listing is None and excluded is None and name in TOOL_DIRECTORIES:
            self._skip(directory, SkipReason.IGNORED, "a tool's directory")
            return []
        inner = replace(place, path=directory)
        return self._repository(inner) if self._starts_repository(place, path) else [inner]

    def _git_ignores(self, place: VisitedDirectory, path: bytes, directory: bytes) -> bool:
        if place.listing is not None:
            return directory in place.listing.ignored and directory not in place.listing.guide_directories
        return bool(place.git_rules and verdict(place.git_rules, path, is_directory=True))

    def _starts_repository(self, place: VisitedDirectory, path: bytes) -> bool:
        """Whether another repository than the one around it begins at ``path``; git decides where git was asked."""
        listing = place.listing
        if listing is not None and path not in listing.listed and path + b"/" not in listing.listed:
            return False
        return os.path.lexists(self._absolute(path + b"/.git"))

    def _repository(self, place: VisitedDirectory) -> list[VisitedDirectory]:
        """The place at which another repository begins, unless all of it is a second copy."""
        if is_linked_copy(self._absolute(place.path[:-1])):
            why = "a linked work tree of the repository around it; it can be added"
            self._skip(place.path, SkipReason.IGNORED, why)
            return []
        return [self._into_repository(place)]

    def _into_repository(self, place: VisitedDirectory) -> VisitedDirectory:
        directory = self._absolute(place.path).removesuffix(b"/")
        try:
            below = self._limits.below_directory(place.path)
            listing = list_files(directory, directory, below=below, prefix=place.path, cancel=self._cancel)
        except GitUnusableError as error:
            self.warn_about_git(error)
            return replace(place, listing=None, git_rules=())
        return replace(place, listing=listing, git_rules=None)

    def _is_tool_directory(self, place: VisitedDirectory, names: Iterable[bytes]) -> bool:
        if not place.path or verdict(place.index_rules, place.path[:-1], is_directory=True) is False:
            return False
        if VIRTUAL_ENVIRONMENT in names:
            return True
        return CACHE_TAG in names and self._starts_with(place.path + CACHE_TAG, CACHE_SIGNATURE)

    # --- ignore files -------------------------------------------------------------------------------------------------

    def _with_rules(self, place: VisitedDirectory, names: Iterable[bytes]) -> VisitedDirectory:
        if INDEX_IGNORE in names and (rules := self._rules(place.path, INDEX_IGNORE)):
            place = replace(place, index_rules=(*place.index_rules, rules))
        if place.git_rules is not None and GIT_IGNORE in names and (rules := self._rules(place.path, GIT_IGNORE)):
            place = replace(place, git_rules=(*place.git_rules, rules))
        return place

    def _rules(self, directory: bytes, name: bytes) -> RuleFile | None:
        path = encode_path(directory + name)
        try:
            content = read_file(self._root, path, _MAX_IGNORE_FILE_BYTES).data
        except NotExtractedError as error:
            if error.reason not in {SkipReason.EMPTY, SkipReason.VANISHED}:
                self.warnings.append(f"{printable(path)} cannot be read ({error.reason}), so its rules do not hold")
            return None
        rules = RuleFile(content, base=directory)
        self.warnings += (f"{printable(path)}: {printable(line)!r} is not a pattern" for line in rules.faults)
        return rules

    def _starts_with(self, path: bytes, beginning: bytes) -> bool:
        try:
            return read_file(self._root, encode_path(path), _MAX_IGNORE_FILE_BYTES).data.startswith(beginning)
        except NotExtractedError:
            return False

    # --- files --------------------------------------------------------------------------------------------------------

    def _file(self, place: VisitedDirectory, path: bytes, entry: os.DirEntry[bytes]) -> None:
        """Keep a file that is not a directory, or leave it out for the first reason that holds."""
        if not entry.is_file(follow_symlinks=False):
            self._skip(path, SkipReason.LINK if entry.is_symlink() else SkipReason.SPECIAL)
            return
        left_out = self._left_out_by_rule(place, path)
        if left_out is not None:
            if left_out:
                self._skip(path, SkipReason.IGNORED, left_out)
            return
        if has_binary_extension(entry.name):
            self._skip(path, SkipReason.BINARY)
            return
        try:
            stat = entry.stat(follow_symlinks=False)
        except OSError as error:
            self._skip(path, _reason(error), error.strerror or "")
            return
        self._by_size(path, stat)

    def _left_out_by_rule(self, place: VisitedDirectory, path: bytes) -> str | None:
        """Why rules leave the file out; None if they do not, empty if it is too new for git's answer."""
        listing = place.listing
        if listing is not None and path not in listing.listed:
            if path not in listing.ignored:
                return ""
            if not is_agent_guide(path):
                return "ignored by git"
        if place.git_rules and verdict(place.git_rules, path, is_directory=False) and not is_agent_guide(path):
            return "ignored by git"
        if place.index_rules and verdict(place.index_rules, path, is_directory=False):
            return "excluded by an .indexignore file"
        include = self._limits.include
        if include is not None and not include.matches(encode_path(path)):
            return "not among the folder's include patterns"
        return None

    def _by_size(self, path: bytes, stat: os.stat_result) -> None:
        if stat.st_size == 0:
            self._skip(path, SkipReason.EMPTY)
            return
        name = encode_path(path)
        limit = self._limits.sizes.of(name)
        if stat.st_size > limit:
            refused = too_large(name, stat.st_size, limit)
            self._skip(path, refused.reason, refused.message)
        else:
            self.files.append(FoundFile.of(name, stat))

    # --- both ---------------------------------------------------------------------------------------------------------

    def warn_about_git(self, error: GitUnusableError) -> None:
        """Say that git's own list is missing here, and what stands in for it."""
        self.warnings.append(f"{error}; its .gitignore files were read instead, so tracked files may be left out")

    def _absolute(self, path: bytes) -> bytes:
        return b"%b/%b" % (self._root, path)

    def _skip(self, path: bytes, reason: SkipReason, message: str = "") -> None:
        self.skipped.append(SkippedFile(FileRef(self._folder, encode_path(path)), reason, message))


def _with_parents(path: bytes) -> Iterator[bytes]:
    """The path and every directory above it, below the folder."""
    yield path
    end = path.rfind(b"/")
    while end > 0:
        yield path[:end]
        end = path.rfind(b"/", 0, end)


def _unusable(root: bytes, error: OSError) -> FolderUnusableError:
    """Why ``root`` cannot be a folder, for its user."""
    shown = printable(encode_path(root))
    problem, hint = f"cannot be listed: {error.strerror}", "Give the user that runs everfind read access."
    if isinstance(error, NotADirectoryError):
        problem, hint = "is not a directory", "Add the directory that holds it."
    elif isinstance(error, FileNotFoundError):
        problem, hint = "does not exist", "Mount or restore it, or remove the folder."
    return FolderUnusableError(f"{shown} {problem}", hint=hint, details={"path": shown})


def _reason(error: OSError) -> SkipReason:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return SkipReason.VANISHED
    return SkipReason.UNREADABLE
