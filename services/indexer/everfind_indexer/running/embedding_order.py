"""In which order a first index takes files in: those that questions are likely to be about come first. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import IntEnum

from everfind_core.ranking.paths import Role, roles_of
from everfind_indexer.files.found import FoundFile

RECENT_NS = 7 * 24 * 3_600 * 1_000_000_000
"""Files changed at most so long before the newest one are what is being worked on."""

_MOST_RECENT = 0.5
"""Where more than this share is recent, a fresh checkout wrote all of it: then times tell nothing."""

_README = re.compile(r"(?:^|/)readme[^/]*$", re.IGNORECASE)
_ENTRY = re.compile(
    r"(?:architecture|contributing|agents|claude|overview|index|design)\.(?:md|mdx|rst|adoc|org|txt|html?)"
    r"|pyproject\.toml|setup\.(?:py|cfg)|package\.json|cargo\.toml|go\.mod|pom\.xml|build\.gradle(?:\.kts)?|composer\.json"
    r"|gemfile|makefile|dockerfile|[^/]+\.(?:gemspec|csproj|sln)",
    re.IGNORECASE,
)
_MADE = frozenset({Role.GENERATED, Role.RECORD})
_ASIDE = frozenset({Role.TEST, Role.EXAMPLE, Role.LEGACY, Role.CONFIGURATION})


class _Turn(IntEnum):
    """When a file's turn is."""

    ENTRY = 0
    RECENT = 1
    SOURCE = 2
    ASIDE = 3
    MADE = 4


def by_likely_need(files: Iterable[FoundFile]) -> list[FoundFile]:
    """The same files in another order: entry documents, what was changed lately, source, tests, then what is made.

    Entry documents begin at the top of the folder; what was changed lately begins with the newest; the rest goes by
    path, so that files of a directory come together.
    """
    files = list(files)
    since = max((file.mtime_ns for file in files), default=0) - RECENT_NS
    if sum(file.mtime_ns >= since for file in files) > _MOST_RECENT * len(files):
        return sorted(files, key=lambda file: _place(file, recent=False))
    return sorted(files, key=lambda file: _place(file, recent=file.mtime_ns >= since))


def _place(file: FoundFile, *, recent: bool) -> tuple[int, int, str]:
    turn = _turn(file.path, recent=recent)
    within = {_Turn.ENTRY: file.path.count("/"), _Turn.RECENT: -file.mtime_ns}
    return turn, within.get(turn, 0), file.path


def _turn(path: str, *, recent: bool) -> _Turn:
    roles = roles_of(path)
    if roles & _MADE:
        return _Turn.MADE
    if _ENTRY.fullmatch(path) or (_README.search(path) and not roles & _ASIDE):
        return _Turn.ENTRY
    if recent:
        return _Turn.RECENT
    return _Turn.ASIDE if roles & _ASIDE else _Turn.SOURCE
