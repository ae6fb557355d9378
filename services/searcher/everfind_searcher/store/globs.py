"""Path globs as regular expressions of the store.

A glob is one line of a ``.gitignore`` without negation: it is what ``pathspec`` makes of it, in the syntax that the
store's engine (Rust's ``regex``, linear in time) and Python's differ in.
"""

from __future__ import annotations

from typing import Final

from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from everfind_core.errors import InvalidRequestError

MAX_GLOB: Final = 1_000
"""Characters of the longest glob."""

_HINT = "Globs are as in .gitignore, without `!`: `*.py`, `docs/`, `src/**/test_*`; `\\` escapes a special character."


def glob_regex(glob: str, *, field: str) -> str:
    """A regular expression that finds a match exactly in the paths below a folder that ``glob`` names.

    Raises:
        InvalidRequestError: ``glob`` names nothing, is negated, malformed or too long.
    """
    if len(glob) > MAX_GLOB:
        raise InvalidRequestError.of(field, f"a glob of {len(glob)} characters is too long; {MAX_GLOB} are allowed")
    if glob.startswith("!"):
        raise InvalidRequestError.of(field, f"{glob!r} is negated", hint=_HINT)
    pattern = f"\\{glob}" if glob.startswith("#") else glob
    try:
        regex, _ = GitIgnoreSpecPattern.pattern_to_regex(pattern)
        translated = None if regex is None else _translated(regex)
    except ValueError:
        translated = None
    if translated is None:
        raise InvalidRequestError.of(field, f"{glob!r} is not a path glob", hint=_HINT)
    return f"(?s:{translated})"


def _translated(regex: str) -> str:
    """``regex`` with each bracket expression in the engine's syntax; everything else means the same there."""
    pieces: list[str] = []
    position = 0
    while position < len(regex):
        character = regex[position]
        if character == "\\":
            pieces.append(regex[position : position + 2])
            position += 2
        elif character == "[":
            piece, position = _bracket(regex, position + 1)
            pieces.append(piece)
        else:
            pieces.append(character)
            position += 1
    return "".join(pieces)


def _bracket(regex: str, position: int) -> tuple[str, int]:
    """The bracket expression whose content starts at ``position``, and where it ends. It never matches ``/``.

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
    return f"[[{'^' if negated else ''}{''.join(members)}]&&[^/]]", position + 1


def _member(regex: str, position: int) -> tuple[str, int]:
    """One character of a bracket expression, and where it ends."""
    escaped = regex[position] == "\\"
    return regex[position + escaped], position + 1 + escaped


def _escaped(character: str) -> str:
    return f"\\x{{{ord(character):x}}}"
