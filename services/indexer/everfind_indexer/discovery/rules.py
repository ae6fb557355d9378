"""Ignore files in gitignore syntax, with git's meaning for each single entry.

pathspec compiles the patterns. What it answers for a path includes what its parents match; a walk asks for each
directory on the way down, as git does, and so needs to know whether a pattern matches the entry itself.
"""

from __future__ import annotations

import re
import warnings
from typing import NamedTuple, TypeAlias

from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from everfind_core.files.glob_regexes import bounded
from everfind_core.files.globs import CHARACTER_CLASSES

# pathspec's group that holds the slash after what the pattern matched: set, it was a parent of the entry.
_BELOW_MATCH = "ps_d"

_CHARACTER_CLASSES = {name.encode(): characters.encode() for name, characters in CHARACTER_CLASSES.items()}


class _Pattern(NamedTuple):
    """``regex`` finds paths without a trailing slash; ``excludes`` is false for a pattern with ``!``."""

    regex: re.Pattern[bytes]
    excludes: bool
    directories_only: bool


class RuleFile:
    """The patterns of one ignore file, for paths at or below the directory that holds it."""

    __slots__ = ("_patterns", "_prefix", "_skip", "faults")

    def __init__(self, content: bytes, *, base: bytes = b"", prefix: bytes = b"") -> None:
        """Parse ``content``.

        ``base`` is the directory of the file below the folder (``b"a/b/"``; empty: the folder itself). ``prefix`` is
        the other way round: where the folder lies below the file's directory.
        """
        self._skip = len(base)
        self._prefix = prefix
        self.faults: list[str] = []
        patterns = map(self._compile, content.removeprefix(b"\xef\xbb\xbf").split(b"\n"))
        # Later lines win, so they are tried first.
        self._patterns = tuple(p for p in patterns if p is not None)[::-1]

    def verdict(self, path: bytes, *, is_directory: bool) -> bool | None:
        """Whether the last pattern that matches this entry excludes it; None if none does.

        ``path`` is below the folder, without a trailing slash.
        """
        entry = self._prefix + path[self._skip :]
        for regex, excludes, directories_only in self._patterns:
            if directories_only and not is_directory:
                continue
            match = regex.search(entry)
            if match and match.groupdict().get(_BELOW_MATCH) is None:
                return excludes
        return None

    def _compile(self, line: bytes) -> _Pattern | None:
        # Whether the entry is a directory is asked here: a slash at the end would make pathspec match what is below it.
        bare = line.rstrip()
        pattern = bare.removesuffix(b"/") if bare.endswith(b"/") else line
        for name, characters in _CHARACTER_CLASSES.items():
            pattern = pattern.replace(name, characters)
        try:
            with warnings.catch_warnings():
                # "[[a]" may mean something else in a later Python; it means here what it means to git.
                warnings.simplefilter("ignore", FutureWarning)
                compiled = GitIgnoreSpecPattern(pattern)
        except (ValueError, re.error):
            # git, too, takes a line that is no pattern as one that matches nothing.
            self.faults.append(line.decode("utf-8", "backslashreplace"))
            return None
        regex: re.Pattern[bytes] | None = compiled.regex
        if regex is None or compiled.include is None:
            return None
        quick = re.compile(bounded(regex.pattern.decode("latin-1")).encode("latin-1"), regex.flags)
        return _Pattern(quick, compiled.include, bare.endswith(b"/"))


Chain: TypeAlias = tuple[RuleFile, ...]
"""Ignore files from the outermost to the innermost."""


def verdict(chain: Chain, path: bytes, *, is_directory: bool) -> bool | None:
    """What the innermost ignore file with an opinion says of an entry: excluded, brought back, or nothing."""
    for rules in reversed(chain):
        found = rules.verdict(path, is_directory=is_directory)
        if found is not None:
            return found
    return None
