"""What a change at a path can mean for the index. Pure."""

from __future__ import annotations

from collections.abc import Collection

from everfind_indexer.discovery.names import CACHE_TAG, VIRTUAL_ENVIRONMENT, is_agent_guide
from everfind_indexer.discovery.walk import GIT_IGNORE, INDEX_IGNORE

_DECIDES_FOR_ITS_DIRECTORY = frozenset(
    name.decode() for name in (GIT_IGNORE, INDEX_IGNORE, CACHE_TAG, VIRTUAL_ENVIRONMENT)
)
_GIT = ".git"
_DECIDES_FOR_A_WORK_TREE = frozenset({"index", "config", "info/exclude"})
"""Files of a repository that say what is tracked or ignored; what else it holds says nothing about that."""


def affected(path: str) -> str | None:
    """Where something may be indexed otherwise after a change at ``path`` (both in string form, below the folder).

    A file or directory; empty for the whole folder, None for nothing.
    """
    above, name, inside = _split_at_git(path)
    if name:
        return above if not inside or inside in _DECIDES_FOR_A_WORK_TREE else None
    directory, _, last = path.rpartition("/")
    return directory if last in _DECIDES_FOR_ITS_DIRECTORY else path


def is_rule(path: str) -> bool:
    """Whether a change at ``path`` can change what is indexed of other files."""
    return affected(path) != path


def lies_in(path: str, directories: Collection[str]) -> bool:
    """Whether ``path`` lies in one of ``directories`` (each with ``/`` at its end)."""
    end = path.find("/")
    while end >= 0:
        if path[: end + 1] in directories:
            return True
        end = path.find("/", end + 1)
    return False


def is_noise(path: str, ignored: Collection[str], *, is_directory: bool) -> bool:
    """Whether a change at ``path`` is none for the index, as it lies in a directory that is left out as a whole.

    Agent guides are indexed even there, and a directory may have brought some.
    """
    return lies_in(path, ignored) and not is_directory and not is_agent_guide(path.encode())


def _split_at_git(path: str) -> tuple[str, str, str]:
    """What is above the first ``.git`` in ``path``, the name itself, and what is inside; empty where there is none."""
    segments = path.split("/")
    if _GIT not in segments:
        return path, "", ""
    place = segments.index(_GIT)
    return "/".join(segments[:place]), _GIT, "/".join(segments[place + 1 :])
