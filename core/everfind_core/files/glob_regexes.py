"""The regular expressions that ``pathspec`` makes of globs, in a form that takes Python's ``re`` no exponential time.

``*a*a*b`` becomes one loop a star, each of which ``re`` tries in every place for every place of the ones before: hours
for a glob of forty stars, with the interpreter held. But of several stars in a segment only the last one has a choice:
what stands between two of them has one length, and its first place leaves the next star the most. The same holds for
``**`` and the segments between two of them. So all but the last are made atomic, at their first place (as
``fnmatch.translate`` does for stars).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

ANY: Final = "[^/]"
"""What pathspec makes of ``?``, and of ``*`` with a star after it."""

_STAR = ANY + "*"
_BELOW = "(?:.+/)?"
"""What it begins with where a glob may match below any directory."""

_BETWEEN = "(?:/.+)?/"
"""What it makes of ``/**/``. Its slashes stand in no bracket and in no literal, which have none."""


def bounded(regex: str) -> str:
    """``regex``, matching the same."""
    *first, last = map(_bounded_stars, regex.split(_BETWEEN))
    if not first:
        return last
    start, *rest = first
    if start.startswith(f"^{_BELOW}"):
        start = f"^(?>(?:.+?/)??{start[len(_BELOW) + 1 :]}(?=/))"
    between = (f"(?>(?:/.+?)??/{segments}(?=/))" for segments in rest)
    return f"{start}{''.join(between)}{_BETWEEN}{last}"


def _bounded_stars(segments: str) -> str:
    """The same for the stars of each segment."""
    done: list[str] = []
    segment: list[str] = []
    for token in _tokens(segments):
        if token[0] in "/(":
            done += [*_one_choice(segment), token]
            segment = []
        else:
            segment.append(token)
    return "".join([*done, *_one_choice(segment)])


def _one_choice(segment: Sequence[str]) -> Iterator[str]:
    """A segment's tokens; all its stars but the last are atomic, each with what stands before the next."""
    stars = [place for place, token in enumerate(segment) if token == _STAR]
    position = 0
    for star, following in pairwise(stars):
        yield from segment[position:star]
        yield f"(?>{_STAR}?{''.join(segment[star + 1 : following])})"
        position = following
    yield from segment[position:]


def _tokens(regex: str) -> Iterator[str]:
    """Pieces that match one character each, stars, slashes, and the groups around as their single characters."""
    position = 0
    while position < len(regex):
        if regex.startswith(_STAR, position):
            end = position + len(_STAR)
        elif regex[position] == "\\":
            end = position + 2
        elif regex[position] == "[":
            end = _after_bracket(regex, position)
        else:
            end = position + 1
        yield regex[position:end]
        position = end


def _after_bracket(regex: str, position: int) -> int:
    position += 2 if regex[position + 1] == "^" else 1
    first = True
    while first or regex[position] != "]":
        first = False
        position += 2 if regex[position] == "\\" else 1
    return position + 1
