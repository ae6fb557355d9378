"""What the editor's hook does after an edit: leave a note, and let one process in the background index it.

The hook itself ends at once. The process waits until edits have paused, indexes the folders that they touched, and ends
when no note is left; a lock keeps it to one an index. Notes are taken only with the lock held, and looked for again
after it is released, so that no edit is missed. A failure is kept, for the hook to warn of once a session.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs

from everfind_core.errors import EverfindError
from everfind_core.files.locks import try_file_lock
from everfind_core.files.parsed_json import parse_json
from everfind_core.files.paths import encode_os_path

if TYPE_CHECKING:
    from everfind_gateway.config.settings import Settings

QUIET_SECONDS = 2.0
"""A run starts when no edit has come for so long …"""
INTERVAL_SECONDS = 30.0
"""… and at most once in this time."""
MAX_EVENT_BYTES = 16 << 20
MAX_LOG_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Notes:
    """The hook's files for one index, in the user's state directory."""

    directory: Path

    @classmethod
    def of(cls, index_dir: Path) -> Notes:
        """The notes of the index in ``index_dir``."""
        name = hashlib.sha256(os.fsencode(index_dir)).hexdigest()[:16]
        return cls(platformdirs.user_state_path("everfind") / "hook" / name)

    @property
    def log(self) -> Path:
        """What the runs have printed."""
        return self.directory / "log"

    def leave(self, folder: str) -> None:
        """Note that a file of ``folder`` has changed."""
        self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (self.directory / "pending").open("a", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write(json.dumps(folder) + "\n")

    def age(self, now: float) -> float | None:
        """Seconds since the last note; None where there is none."""
        try:
            status = (self.directory / "pending").stat()
        except FileNotFoundError:
            return None
        return max(0.0, now - status.st_mtime) if status.st_size else None

    def take(self) -> list[str]:
        """The folders noted, each once; the notes are gone afterwards."""
        try:
            with (self.directory / "pending").open("r+", encoding="utf-8") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                lines = file.read().splitlines()
                file.truncate(0)
        except FileNotFoundError:
            return []
        return list(dict.fromkeys(parse_json(line) for line in lines if line))

    @contextmanager
    def held(self) -> Iterator[bool]:
        """Whether this process now is the one that indexes; released when it ends, however it ends."""
        with try_file_lock(self.directory / "lock") as held:
            yield held

    def failed(self, error: EverfindError) -> None:
        """Keep why a run failed."""
        self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        (self.directory / "failure").write_text(f"{error.message}. {error.hint}".strip(), encoding="utf-8")

    def succeeded(self) -> None:
        """Forget the last failure, and who was told."""
        (self.directory / "failure").unlink(missing_ok=True)
        (self.directory / "warned").unlink(missing_ok=True)

    def once(self, session: str, error: EverfindError) -> str:
        """Keep the error; its text if this session has not been told of one."""
        self.failed(error)
        return self.warning(session)

    def warning(self, session: str) -> str:
        """Why the last run failed, if this session has not been told; empty otherwise."""
        try:
            message = (self.directory / "failure").read_text(encoding="utf-8")
        except FileNotFoundError:
            return ""
        told = self.directory / "warned"
        sessions = told.read_text(encoding="utf-8").splitlines() if told.exists() else []
        key = json.dumps(session)
        if key in sessions:
            return ""
        told.write_text("\n".join([*sessions[-50:], key]) + "\n", encoding="utf-8")
        return message


@dataclass(frozen=True, slots=True)
class Edit:
    """What an editor's event says: the edited file, and the session it was edited in. Empty where it does not say."""

    path: str = ""
    session: str = ""


def edited_file(event: bytes) -> Edit:
    """The edit that an event reports.

    ``tool_input.file_path`` or ``tool_input.notebook_path`` (Claude Code), or ``file_path`` (Cursor).
    """
    try:
        document = parse_json(event[:MAX_EVENT_BYTES])
    except ValueError:
        return Edit()
    if not isinstance(document, Mapping):
        return Edit()
    given = document.get("tool_input")
    named: Mapping[str, Any] = given if isinstance(given, Mapping) else document
    path = named.get("file_path") or named.get("notebook_path")
    session = document.get("session_id") or document.get("conversation_id")
    return Edit(path if isinstance(path, str) and "\0" not in path else "", session if isinstance(session, str) else "")


def folder_of(settings: Settings, path: str) -> str:
    """The name of the innermost folder that holds ``path``; empty where none does."""
    shown = encode_os_path(os.path.realpath(os.path.expanduser(path)))  # noqa: PTH111 - paths stay text
    holding = [folder for folder in settings.folders if shown.startswith(f"{folder.root.rstrip('/')}/")]
    return max(holding, key=lambda folder: len(folder.root)).name if holding else ""


def after_edit(settings: Settings, event: bytes, worker: Sequence[str]) -> str:
    """Note the edit and see to it that a process will index it; gives a warning for the user, mostly empty.

    Raises:
        OSError: the notes cannot be written.
    """
    edit = edited_file(event)
    folder = folder_of(settings, edit.path) if edit.path and not settings.server else ""
    if not folder:
        return ""
    notes = Notes.of(settings.index_dir)
    notes.leave(folder)
    with notes.held() as free:
        idle = free
    if idle:
        _start(notes, worker)
    return notes.warning(edit.session)


def work(notes: Notes, index: Callable[[Iterable[str]], None], sleep: Callable[[float], None] = time.sleep) -> None:
    """Index what is noted, until no note is left. ``index`` gets the names of folders."""
    last = 0.0
    while notes.age(time.time()) is not None:
        with notes.held() as mine:
            if not mine:
                return
            while (age := notes.age(time.time())) is not None:
                wait = max(QUIET_SECONDS - age, last + INTERVAL_SECONDS - time.time() if last else 0.0)
                if wait > 0:
                    sleep(wait)
                    continue
                last = time.time()
                if not _run(notes, index):
                    return


def _run(notes: Notes, index: Callable[[Iterable[str]], None]) -> bool:
    """One run. After a failure the notes stay, for the next edit to try again."""
    folders = notes.take()
    try:
        index(folders)
    except BaseException as error:  # an interruption, too, leaves its notes for the next
        for folder in folders:
            notes.leave(folder)
        if not isinstance(error, EverfindError):
            raise
        notes.failed(error)
        return False
    notes.succeeded()
    return True


def _start(notes: Notes, worker: Sequence[str]) -> None:
    """Start the process that indexes; it outlives the editor's wait, and has no terminal."""
    if notes.log.exists() and notes.log.stat().st_size > MAX_LOG_BYTES:
        notes.log.unlink()
    with notes.log.open("ab") as log:
        subprocess.Popen(
            [sys.executable, "-m", "everfind_gateway", *worker],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
