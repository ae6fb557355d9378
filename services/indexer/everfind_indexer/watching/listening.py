"""Hears of changes below one folder, in a thread of its own."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from everfind_core.files.paths import decode_os_path, encode_os_path
from everfind_core.model import Folder
from everfind_indexer.watching.places import is_silent

OnChange: TypeAlias = Callable[[str, Iterable[str] | None], None]
"""Takes a folder's name and paths that changed, in string form below it; None where anything may have changed."""

STEP_MILLISECONDS = 50
GATHER_MILLISECONDS = 400
TICK_MILLISECONDS = 1_000
ABSENT_SECONDS = 1.0
LOST_EVENTS = 1_000
"""From so many changes at once on, the system's queue may have been full, which the library does not tell."""

_log = logging.getLogger("everfind.watch")


class Listener(threading.Thread):
    """Tells of changes below a folder, and of everything whenever it begins to listen anew.

    ``heard`` is false where the system cannot tell of changes there: then the folder is to be looked at now and then.
    """

    def __init__(self, folder: Folder, on_change: OnChange, *, may_listen: bool = True) -> None:
        super().__init__(name=f"watch-{folder.name}", daemon=True)
        self.folder = folder
        self.heard = False
        self._root = decode_os_path(folder.root)
        self._on_change = on_change
        self._stopped = threading.Event()
        self._may_listen = may_listen and not is_silent(self._root)

    def stop(self) -> None:
        """End soon."""
        self._stopped.set()

    def run(self) -> None:
        """Listen until stopped; wait for the folder's directory while it is absent."""
        while not self._stopped.is_set():
            identity = _identity(self._root)
            if identity is not None and self._may_listen:
                self._listen(identity)
            elif identity is not None:
                self._look_now_and_then(identity)
            self.heard = False
            self._stopped.wait(ABSENT_SECONDS)

    def _listen(self, identity: tuple[int, int]) -> None:
        try:
            for changes in self._changes():
                if not self.heard:
                    self.heard = True
                    self._on_change(self.folder.name, None)  # what changed before the system began to tell
                if len(changes) >= LOST_EVENTS:
                    self._on_change(self.folder.name, None)
                if paths := [path for path in map(self._below, changes) if path]:
                    self._on_change(self.folder.name, paths)
                if _identity(self._root) != identity:
                    return  # moved away or mounted over: what is heard is of another directory
        except (OSError, ValueError, RuntimeError) as error:
            # A limit of the system, or a name that the library cannot give. Each would come again at once.
            _log.warning("cannot listen to changes in %s (%s): looking now and then", self.folder.name, error)
            self._may_listen = False

    def _changes(self) -> Iterator[set[str]]:
        from watchfiles import watch

        heard = watch(
            self._root,
            watch_filter=None,
            debounce=GATHER_MILLISECONDS,
            step=STEP_MILLISECONDS,
            rust_timeout=TICK_MILLISECONDS,
            yield_on_timeout=True,
            stop_event=self._stopped,
            raise_interrupt=False,
            force_polling=False,
            ignore_permission_denied=True,
        )
        for changes in heard:
            yield {path for _, path in changes}

    def _look_now_and_then(self, identity: tuple[int, int]) -> None:
        """Have the folder looked at, once now; the follower does it again and again while nothing is heard."""
        self._on_change(self.folder.name, None)
        while not self._stopped.wait(ABSENT_SECONDS):
            if _identity(self._root) != identity:
                return

    def _below(self, path: str) -> str:
        start = self._root.rstrip("/") + "/"
        return encode_os_path(path[len(start) :]) if path.startswith(start) else ""


def _identity(root: str) -> tuple[int, int] | None:
    try:
        found = os.stat(root)  # noqa: PTH116 - the path stays text: it may hold bytes that are not UTF-8
    except OSError:
        return None
    return found.st_dev, found.st_ino
