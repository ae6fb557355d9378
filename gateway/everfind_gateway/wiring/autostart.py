"""A server that starts by itself after a search that found none, and ends when nobody asks it any more."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import platformdirs

from everfind_core import __version__
from everfind_core.errors import UnavailableError
from everfind_core.files.locks import is_locked
from everfind_gateway.wiring.running import LOCK, RunningServer, announced_server, server_lock

if TYPE_CHECKING:
    from pathlib import Path

    from everfind_gateway.config.settings import Settings

LOG = "server.log"
STOP_SECONDS = 60.0
"""How long a server may take to end: it lets calls under way end."""

_LOOK_SECONDS = 0.05


def start_server(settings: Settings, options: Sequence[str] = ()) -> bool:
    """Start a server of the index that ``settings`` describe, if they want one and none runs; whether it was started.

    ``options`` are those before the command that lead to these settings. The lock of a server is taken here and handed
    to the new process: of several that start one at once a single one does, and from then on one runs for all others.
    One that runs with another version is told to end, so that a later call starts it anew.
    """
    if not settings.autostart_seconds or settings.server or not settings.local_server:
        return False
    with contextlib.suppress(OSError), server_lock(settings.index_dir) as lock:
        if lock is not None:
            return _start(lock, settings.autostart_seconds, options)
        running = announced_server(settings.index_dir)
        if running is not None and running.idle_seconds and running.version != __version__:
            _ask_to_end(running)
    return False


def _start(lock: int, idle_seconds: float, options: Sequence[str]) -> bool:
    """Start a server that holds the lock of the open file ``lock`` as long as it lives.

    Raises:
        OSError: the log cannot be written, or no process be started.
    """
    told = ("--listen", "127.0.0.1:0", "--idle-seconds", str(idle_seconds), "--held-lock", str(lock))
    command = [sys.executable, "-m", "everfind_gateway", *options, "serve", *told]
    with _log().open("wb") as log:
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, pass_fds=(lock,)
        )
    return True


def stop_server(settings: Settings) -> RunningServer | None:
    """End the server that runs for the index of ``settings``, and wait for its end; None if there is none.

    Raises:
        UnavailableError: it is the server of another workspace, is none of ours to end, or does not end.
    """
    told: RunningServer | None = None
    give_up = time.monotonic() + STOP_SECONDS
    while is_locked(settings.index_dir / LOCK):
        running = announced_server(settings.index_dir)  # none yet while one starts
        if running is not None and running != told:
            told = _end(running)
        if time.monotonic() > give_up:
            who = "a server that starts" if told is None else f"process {told.pid}"
            raise UnavailableError(f"{who} does not end", hint="Calls may be under way: try again.")
        time.sleep(_LOOK_SECONDS)
    return told


def _end(running: RunningServer) -> RunningServer:
    if running.workspace:
        raise UnavailableError(
            f"the server of process {running.pid} answers from other workspaces, too",
            hint="Stop it with `everfind serve --stop` where it was started.",
        )
    if not _ask_to_end(running):
        raise UnavailableError(f"process {running.pid} cannot be told to end", hint="Who started it can.")
    return running


def _ask_to_end(running: RunningServer) -> bool:
    """Tell the process that holds the index's server lock, and whose word stands there, to end."""
    try:
        os.kill(running.pid, signal.SIGTERM)
    except OSError:
        return False
    return True


def _log() -> Path:
    directory = platformdirs.user_state_path("everfind")
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    return directory / LOG
