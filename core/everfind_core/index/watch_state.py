"""Who follows an index's folders now, and what they know to have changed: a lock and a file in the index directory.

Whoever follows holds the lock as long as it does, so what the file says counts only while the lock is held: after a
kill nothing has to be cleared up.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from everfind_core.files.locks import is_locked, try_file_lock
from everfind_core.files.parsed_json import convert, parse_json
from everfind_core.files.whole import replace_file
from everfind_core.index.json_files import storage_error
from everfind_core.index.names import WATCH_LOCK
from everfind_core.model import Coverage

WATCH_STATE = "watch.json"
NOTHING: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class WatchState:
    """By folder, how many changes are known to wait; ``behind`` ones may have changed in ways not yet known."""

    pending: Mapping[str, int] = field(default_factory=lambda: NOTHING)
    behind: frozenset[str] = frozenset()

    def waiting(self, folders: tuple[str, ...] = ()) -> int:
        """Changes that wait in these folders (none named: in all)."""
        return sum(count for name, count in self.pending.items() if not folders or name in folders)

    def is_behind(self, folders: tuple[str, ...] = ()) -> bool:
        """Whether one of these folders (none named: any) may have changed in ways not yet known."""
        return bool(self.behind if not folders else self.behind.intersection(folders))


def read_watch_state(index_directory: Path) -> WatchState | None:
    """What the follower of an index knows; None if nobody follows."""
    if not is_locked(index_directory / WATCH_LOCK):
        return None
    try:
        return convert(parse_json((index_directory / WATCH_STATE).read_text(encoding="utf-8")), WatchState)
    except (OSError, TypeError, ValueError):
        return WatchState()  # it has just begun


def with_waiting(coverage: Coverage, state: WatchState | None, folders: tuple[str, ...] = ()) -> Coverage:
    """``coverage`` of these folders (none named: of all), with what the follower knows to wait."""
    return coverage if state is None else replace(coverage, pending=coverage.pending + state.waiting(folders))


def write_watch_state(index_directory: Path, state: WatchState) -> None:
    """Say what is known. Hold the follower's lock.

    Raises:
        StorageError: the directory cannot be written.
    """
    text = json.dumps({"pending": dict(state.pending), "behind": sorted(state.behind)})
    try:
        replace_file(index_directory / WATCH_STATE, text, mode=0o644, durable=False)
    except OSError as error:
        raise storage_error(error, index_directory) from error


@contextlib.contextmanager
def following(index_directory: Path) -> Iterator[bool]:
    """Hold the follower's lock for the length of the block, if nobody else does; gives whether it is held.

    Raises:
        StorageError: the directory cannot be written.
    """
    with contextlib.ExitStack() as stack:
        try:
            index_directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            held = stack.enter_context(try_file_lock(index_directory / WATCH_LOCK, mode=0o644))
        except OSError as error:
            raise storage_error(error, index_directory) from error
        yield held
