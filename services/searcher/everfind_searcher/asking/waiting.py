"""Waiting until what changed is indexed."""

from __future__ import annotations

import time
from pathlib import Path

from everfind_core.cancellation import Cancellation
from everfind_core.index.watch_state import read_watch_state
from everfind_core.model import SearchRequest

LOOK_SECONDS = 0.05
HEARD_SECONDS = 0.3
"""A change made just before the question is known to the follower by then."""


def wait_for_changes(index_directory: Path, request: SearchRequest, cancel: Cancellation) -> None:
    """Wait until the follower has taken in what changed, for as long as the request allows; not where none follows."""
    if not request.wait_seconds:
        return
    folders = request.filters.folders
    started = time.monotonic()
    while (waited := time.monotonic() - started) < request.wait_seconds:
        watch = read_watch_state(index_directory)
        if watch is None:
            return
        if waited >= HEARD_SECONDS and not watch.waiting(folders) and not watch.is_behind(folders):
            return
        cancel.wait(min(LOOK_SECONDS, request.wait_seconds - waited))
