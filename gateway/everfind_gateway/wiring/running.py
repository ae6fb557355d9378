"""The running server of an index: `everfind serve` leaves word of itself, and commands on the same machine find it.

Beside the index lie ``server.json`` (address, token, and what the server answers for), which only its user can read,
and ``server.lock``, which the server holds as long as it lives. Word without a lock is stale: its reader goes on alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path

from everfind_core import __version__
from everfind_core.files.locks import inherited_file_lock, is_locked, locked_file, try_file_lock
from everfind_core.files.parsed_json import convert, parse_json
from everfind_core.files.whole import replace_file
from everfind_core.index.names import SERVER
from everfind_rpc.hosts import is_loopback

FILE = SERVER
LOCK = "server.lock"
_MAX_BYTES = 10_000


@dataclass(frozen=True, slots=True)
class RunningServer:
    """Where a server answers, and for what.

    ``digest`` is that of the settings it was started with, ``version`` its everfind's; ``index_dir`` its index, and
    ``workspace`` what that is called there. It ends after ``idle_seconds`` without a call; 0 is never.
    """

    address: str
    token: str
    index_dir: str
    digest: str
    version: str
    pid: int
    workspace: str = ""
    idle_seconds: float = 0.0


class Announcement:
    """Leaves word of a server that is about to run in this process; use it as a context manager.

    ``first`` is whether this server is the one: of several on one index only the first is found. ``taken`` is whether
    another one is, which it is not where the lock cannot be used at all. ``token`` is one of its own unless the server
    has one already; ``workspace`` is what the index is called there. It ends after ``idle_seconds`` without a call, or
    never. ``held`` is the open file with the lock (:func:`server_lock`), where who started this process has handed
    that on.
    """

    def __init__(
        self,
        index_dir: Path,
        digest: str,
        *,
        token: str = "",
        workspace: str = "",
        idle_seconds: float = 0.0,
        held: int | None = None,
    ) -> None:
        self.token = token or secrets.token_urlsafe(32)
        self.first = False
        self.taken = False
        self._workspace = workspace
        self._idle_seconds = idle_seconds
        self._inherited = held
        self._index_dir = index_dir
        self._digest = digest
        self._address = ""
        self._held = contextlib.ExitStack()

    def __enter__(self) -> Announcement:
        with contextlib.suppress(OSError):
            self._index_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.first = self._held.enter_context(self._lock())
            self.taken = not self.first
            if self.first:
                (self._index_dir / FILE).unlink(missing_ok=True)  # of one that was killed: not with our lock
        return self

    def __exit__(self, *_: object) -> None:
        if self.first:
            (self._index_dir / FILE).unlink(missing_ok=True)
        self._held.close()

    def _lock(self) -> AbstractContextManager[bool]:
        path = self._index_dir / LOCK
        return try_file_lock(path) if self._inherited is None else inherited_file_lock(path, self._inherited)

    def publish(self, address: str) -> bool:
        """Say where the server listens, once it does; gives whether clients can read it.

        Not the word of a second server, nor that in an index directory that cannot be written.
        """
        self._address = address
        if not self.first:
            return False
        word = RunningServer(
            address=address,
            token=self.token,
            index_dir=str(self._index_dir),
            digest=self._digest,
            version=__version__,
            pid=os.getpid(),
            workspace=self._workspace,
            idle_seconds=self._idle_seconds,
        )
        try:
            replace_file(self._index_dir / FILE, json.dumps(asdict(word)), durable=False)
        except OSError:
            return False
        return True

    def renew(self, digest: str) -> None:
        """Say for which settings the server answers from now on."""
        self._digest = digest
        if self._address:
            self.publish(self._address)


@contextlib.contextmanager
def server_lock(index_dir: Path) -> Iterator[int | None]:
    """The lock of an index's server for the length of the block, for one that is about to be started; None if one runs.

    Raises:
        OSError: the index directory cannot be written.
    """
    with locked_file(index_dir / LOCK) as lock:
        if lock is not None:
            (index_dir / FILE).unlink(missing_ok=True)  # of one that was killed: not with a lock
        yield lock


def announced_server(index_dir: Path) -> RunningServer | None:
    """The server that runs for this index now, whatever its version and settings; None if there is none."""
    word = _read(index_dir / FILE)
    return word if word is not None and is_locked(index_dir / LOCK) else None


def own_token(index_dir: Path, address: str) -> str:
    """The token that this user's server of this index takes, if it is the one that listens at ``address``; else empty.

    ``address`` is HOST:PORT; of this machine's own addresses only loopback counts.
    """
    server = announced_server(index_dir)
    if server is None:
        return ""
    asked, running = address.rpartition(":"), server.address.rpartition(":")
    same_host = asked[0] == running[0] or (is_loopback(asked[0]) and is_loopback(running[0]))
    return server.token if same_host and asked[2] == running[2] else ""


def running_server(index_dir: Path, digest: str) -> RunningServer | None:
    """The server that answers from this index as this process would; None if there is none, or only another one.

    Another version, or settings that differ in what shapes answers, make it another one.
    """
    word = _read(index_dir / FILE)
    if word is None or (word.index_dir, word.digest, word.version) != (str(index_dir), digest, __version__):
        return None
    return word if is_locked(index_dir / LOCK) else None


def _read(path: Path) -> RunningServer | None:
    """What ``path`` says, if it is our own user's and nobody else could write or read it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
                return None
            word = convert(parse_json(file.read(_MAX_BYTES)), RunningServer)
            return word if word.pid > 0 else None
    except (OSError, TypeError, ValueError):
        return None
