r"""Path globs: one dialect for searches, for grep and for a folder's ``include``.

A glob is one line of a ``.gitignore`` without negation, over a path below its folder in string form: what ``pathspec``
makes of it, with ``#`` and a leading ``\!`` as plain characters and with git's named character classes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from everfind_core.errors import InvalidRequestError
from everfind_core.files.glob_regexes import ANY, bounded
from everfind_core.model.files import FileRef

MAX_GLOB: Final = 1_000
"""Characters of the longest glob."""

CHARACTER_CLASSES: Final = {
    "[:alnum:]": "a-zA-Z0-9", "[:alpha:]": "a-zA-Z", "[:digit:]": "0-9", "[:lower:]": "a-z", "[:upper:]": "A-Z",
    "[:xdigit:]": "0-9a-fA-F", "[:space:]": " \t", "[:blank:]": " \t", "[:punct:]": "!-.:-@^-`{-~",
}  # fmt: skip
"""What git knows inside brackets and pathspec does not, and what stands for it there."""

_HINT = "Globs are as in .gitignore, without `!`: `*.py`, `docs/`, `src/**/test_*`; `\\` escapes a special character."


@dataclass(frozen=True, slots=True)
class Dialect:
    """What regular expression engines differ in.

    ``bracket`` is a format with the members of a bracket expression for ``{}``, which must not match ``/``; ``end`` is
    the end of the text; ``backtracks`` is whether the engine tries every way to match.
    """

    bracket: str
    end: str
    backtracks: bool


PYTHON: Final = Dialect(bracket="(?:(?!/)[{}])", end=r"\Z", backtracks=True)
RUST: Final = Dialect(bracket="[[{}]&&[^/]]", end=r"\z", backtracks=False)
"""Rust's ``regex``, which the store runs."""


@dataclass(frozen=True, slots=True)
class Globs:
    """Compiled globs."""

    _patterns: tuple[re.Pattern[str], ...]

    def matches(self, path: str) -> bool:
        """Whether any of them names ``path`` (below its folder, in string form) or a directory that it lies in."""
        return any(pattern.search(path) for pattern in self._patterns)


@dataclass(frozen=True, slots=True)
class FileGlobs:
    """Compiled globs for files of any folder: each with the one folder that it counts in, empty for every one."""

    _globs: tuple[tuple[str, Globs], ...]

    def matches(self, ref: FileRef) -> bool:
        """Whether any of them names the file or a directory that it lies in."""
        return any(folder in ("", ref.folder) and globs.matches(ref.path) for folder, globs in self._globs)


def scoped(glob: str) -> tuple[str, str]:
    """The folder that a glob counts in and the glob itself: ``notes//drafts`` is of one, ``drafts`` of all (empty).

    No path has ``//`` in it, so that nothing else can be meant.
    """
    folder, separator, rest = glob.partition("//")
    return (folder, rest) if separator and rest and folder and "/" not in folder else ("", glob)


def compile_file_globs(globs: Iterable[str], *, field: str) -> FileGlobs | None:
    """What ``globs``, some of which may count in one folder only, match together; None without any.

    Raises:
        InvalidRequestError: as :func:`compile_globs`.
    """
    made = [
        (folder, Globs((re.compile(glob_regex(glob, PYTHON, field=field)),))) for folder, glob in map(scoped, globs)
    ]
    return FileGlobs(tuple(made)) if made else None


def compile_globs(globs: Iterable[str], *, field: str) -> Globs | None:
    """What ``globs`` match together; None without any, which is no limit.

    Raises:
        InvalidRequestError: one names nothing, is negated, malformed or too long; it names the caller's ``field``.
    """
    patterns = tuple(re.compile(glob_regex(glob, PYTHON, field=field)) for glob in globs)
    return Globs(patterns) if patterns else None


def glob_regex(glob: str, dialect: Dialect, *, field: str) -> str:
    """A regular expression that finds a match exactly in the paths below a folder that ``glob`` names.

    Raises:
        InvalidRequestError: ``glob`` names nothing, is negated, malformed or too long; it names the caller's ``field``.
    """
    if len(glob) > MAX_GLOB:
        raise InvalidRequestError.of(field, f"a glob of {len(glob):,} characters is too long; {MAX_GLOB:,} are allowed")
    if glob.startswith("!"):
        raise InvalidRequestError.of(field, f"{glob!r} is negated", hint=_HINT)
    pattern = f"\\{glob}" if glob.startswith("#") else glob
    for name, characters in CHARACTER_CLASSES.items():
        pattern = pattern.replace(name, characters)
    try:
        regex, _ = GitIgnoreSpecPattern.pattern_to_regex(pattern)
        if regex is not None and dialect.backtracks:
            regex = bounded(regex)
        translated = None if regex is None or "\0" in glob else _translated(regex, dialect)
    except ValueError:
        translated = None
    if translated is None:
        raise InvalidRequestError.of(field, f"{glob!r} is not a path glob", hint=_HINT)
    return f"(?s:{translated})"


def _translated(regex: str, dialect: Dialect) -> str:
    """``regex`` in the engine's dialect."""
    pieces: list[str] = []
    position = 0
    while position < len(regex):
        character = regex[position]
        if character == "\\":
            pieces.append(regex[position : position + 2])
            position += 2
        elif regex.startswith(ANY, position):
            pieces.append(ANY)
            position += len(ANY)
        elif character == "[":
            members, position = _bracket(regex, position + 1)
            pieces.append(dialect.bracket.format(members))
        else:
            pieces.append(dialect.end if character == "$" else character)
            position += 1
    return "".join(pieces)


def _bracket(regex: str, position: int) -> tuple[str, int]:
    """The members of the bracket expression whose content starts at ``position``, and where it ends.

    Raises:
        ValueError: it holds a range that ends before it starts.
    """
    negated = regex[position] == "^"
    position += negated
    members: list[str] = []
    first = True
    while first or regex[position] != "]":
        first = False
        member, position = _member(regex, position)
        if regex[position] == "-" and regex[position + 1] != "]":
            end, position = _member(regex, position + 1)
            if end < member:
                raise ValueError(f"the range {member}-{end} is empty")
            members.append(f"{_escaped(member)}-{_escaped(end)}")
        else:
            members.append(_escaped(member))
    return f"{'^' if negated else ''}{''.join(members)}", position + 1


def _member(regex: str, position: int) -> tuple[str, int]:
    """One character of a bracket expression, and where it ends."""
    escaped = regex[position] == "\\"
    return regex[position + escaped], position + 1 + escaped


def _escaped(character: str) -> str:
    return f"\\U{ord(character):08x}"
