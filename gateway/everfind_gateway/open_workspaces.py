"""The workspaces that a server has open: its own always, others when they are asked for, up to a limit."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from everfind_core.errors import ConfigError, EverfindError, OverloadedError, UnavailableError
from everfind_core.model import OpenWorkspace
from everfind_core.workspaces import root_of, workspace_not_found
from everfind_rpc.serving.access import sees
from everfind_rpc.serving.workspaces import OWN, Held, may_see

if TYPE_CHECKING:
    from pathlib import Path

    from everfind_core.cancellation import Cancellation
    from everfind_core.model import Folder
    from everfind_gateway.served import Place, Served
    from everfind_gateway.settings import Settings
    from everfind_rpc.auth import Principal
    from everfind_rpc.serving.service import Call, Service

WAIT_SECONDS = 10.0
"""How long a call waits at most for another workspace's calls to end, where all places are taken."""

_LOOK_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Own:
    """The workspace that the server was started for: its services, folders, and where its index lies."""

    services: Sequence[Service]
    folders: Callable[[], Iterable[Folder]]
    index_dir: Path


@dataclass(frozen=True, slots=True)
class Opened:
    """A workspace's services, what tells others of its settings' digest, and what closes it all."""

    services: Sequence[Service]
    renew: Callable[[str], object]
    close: Callable[[], object]


@dataclass(slots=True, eq=False)
class _Entry:
    """An open workspace; ``calls`` are under way in it."""

    place: Place
    settings: Settings
    opened: Opened
    services: Mapping[str, Service]
    calls: int = 0
    last_used: float = field(default_factory=time.time)

    @property
    def indexing(self) -> bool:
        """Whether a client's run is under way, which outlives its call."""
        return any(service.busy() for service in self.services.values())

    @property
    def idle(self) -> bool:
        return not self.calls and not self.indexing

    def take_in(self, settings: Settings) -> bool:
        """Go on with these settings, if at most the folders differ: those the workspace follows by itself."""
        if settings.model_copy(update={"folders": self.settings.folders}).digest != self.settings.digest:
            return False
        if settings.digest != self.settings.digest:
            self.opened.renew(settings.digest)
        self.settings = settings
        return True


class OpenWorkspaces:
    """Implements :class:`everfind_rpc.serving.workspaces.Workspaces`. Thread-safe.

    At most ``limit`` others are open at a time. One in which a call or a client's run is under way is not closed; one
    whose folders are followed is, and catches up when it is opened again.
    """

    def __init__(
        self,
        own: Own,
        served: Served,
        open_workspace: Callable[[Place, Settings], Opened],
        *,
        limit: int,
        patience: float = WAIT_SECONDS,
    ) -> None:
        """Answer from the server's ``own`` workspace, and from what is ``served`` beside."""
        self._own = own
        self._own_services = _by_name(own.services)
        self._served = served
        self._open_workspace = open_workspace
        self._limit = limit
        self._patience = patience
        self._changed = threading.Condition()
        self._entries: dict[str, _Entry] = {}
        self._leaving: list[_Entry] = []
        """Those with settings of before, and those that are being closed: they count until they are closed."""
        self._stopped = False
        self._own_used = 0.0

    @contextmanager
    def hold(self, asked: str, call: Call) -> Iterator[Held]:
        """See :meth:`everfind_rpc.serving.workspaces.Workspaces.hold`."""
        place = self._place(asked, call.principal)
        if place is None:
            self._own_used = time.time()
            yield Held(OWN, self._own_services)
            return
        entry = self._taken(place, call.cancel)
        try:
            yield Held(place.id, entry.services)
        finally:
            with self._changed:
                entry.calls -= 1
                entry.last_used = time.time()
                self._changed.notify_all()

    def opened(self) -> Sequence[OpenWorkspace]:
        """See :meth:`everfind_rpc.serving.workspaces.Workspaces.opened`; the one that was asked last comes first."""
        if not self._served:
            return ()
        with self._changed:
            entries = sorted(self._entries.values(), key=lambda entry: -entry.last_used)
        own = OpenWorkspace(OWN, self._own_used, any(service.busy() for service in self._own_services.values()))
        return (own, *(OpenWorkspace(entry.place.id, entry.last_used, entry.indexing) for entry in entries))

    def open_listed(self) -> None:
        """Open those that were listed one by one, as many as there are places, so that they are followed.

        Raises:
            EverfindError: the settings of one cannot be used.
        """
        for place in [place for place in self._served.listed() if not self._is_own(place)][: self._limit]:
            settings = self._served.load(place)
            with self._changed:
                if place.id not in self._entries:
                    self._opened_now(place, settings)

    def look(self) -> None:
        """Take in what has changed in settings files, and close what has settings of before."""
        with self._changed:
            entries = list(self._entries.values())
        for entry in entries:
            with contextlib.suppress(EverfindError):  # those of before hold until they can be used
                settings = self._served.load(entry.place)
                with self._changed:
                    if self._entries.get(entry.place.id) is entry:
                        self._current(entry.place, settings)
        while (leaver := self._leaver()) is not None:
            self._close(leaver)

    def stop(self) -> None:
        """See :meth:`everfind_rpc.serving.workspaces.Workspaces.stop`."""
        with self._changed:
            self._stopped = True
            entries = [*self._entries.values(), *self._leaving]
            self._changed.notify_all()
        for entry in entries:
            for service in entry.services.values():
                service.stop()

    def close(self) -> None:
        """Close all; no call is under way any more."""
        self.stop()
        with self._changed:
            entries = [*self._entries.values(), *self._leaving]
            self._entries.clear()
        for entry in entries:
            entry.opened.close()

    def _place(self, asked: str, principal: Principal) -> Place | None:
        """Where a request belongs, by the innermost directory; None is the server's own workspace.

        Raises:
            WorkspaceNotFoundError: nowhere that exists for ``principal``.
        """
        own = may_see(principal, OWN)
        if not asked and own:
            return None
        found = self._served.find(asked) if asked else None
        if found is not None and not may_see(principal, found.id):
            found = None
        if found is not None and own and self._is_own(found):
            return None
        folders = (folder.root for folder in self._own.folders() if sees(principal, folder.name)) if own else ()
        ours = root_of(asked, folders)
        if found is None and not ours:
            raise workspace_not_found(asked)
        return None if found is None or len(ours) > len(found.root) else found

    def _is_own(self, place: Place) -> bool:
        return self._served.load(place).index_dir == self._own.index_dir

    def _taken(self, place: Place, cancel: Cancellation) -> _Entry:
        """The open workspace at ``place``, opened if it is not, and counted as in use."""
        settings = self._served.load(place)
        give_up = time.monotonic() + self._patience
        while True:
            cancel.check()
            with self._changed:
                if self._stopped:
                    raise UnavailableError("the server is stopping", hint="Try again when it is up.")
                entry, closing = self._current(place, settings), None
                if entry is None and (closing := self._leaver()) is None:
                    if len(self._entries) + len(self._leaving) < self._limit:
                        entry = self._opened_now(place, settings)
                    elif (closing := self._longest_idle()) is None:
                        self._wait(give_up)
                if entry is not None:
                    entry.calls += 1
                    return entry
            if closing is not None:
                self._close(closing)

    def _current(self, place: Place, settings: Settings) -> _Entry | None:
        """The open workspace at ``place``, if it has these settings; one with others leaves."""
        entry = self._entries.get(place.id)
        if entry is None or entry.take_in(settings):
            return entry
        self._leaving.append(self._entries.pop(place.id))
        return None

    def _opened_now(self, place: Place, settings: Settings) -> _Entry:
        for other in (*self._entries.values(), *self._leaving):
            if other.place != place and other.settings.index_dir == settings.index_dir:
                raise ConfigError(
                    f"the workspaces {other.place.id} and {place.id} have one index directory, {settings.index_dir}",
                    hint="Give each its own index_dir.",
                )
        opened = self._open_workspace(place, settings)
        entry = self._entries[place.id] = _Entry(place, settings, opened, _by_name(opened.services))
        return entry

    def _longest_idle(self) -> _Entry | None:
        """The idle one that was used longest ago, which leaves now; its caller closes it."""
        idle = min((e for e in self._entries.values() if e.idle), key=lambda entry: entry.last_used, default=None)
        if idle is not None:
            self._leaving.append(self._entries.pop(idle.place.id))
            return self._leaver()
        return None

    def _leaver(self) -> _Entry | None:
        """One that leaves, is idle, and that nobody closes yet: its caller does."""
        with self._changed:
            for entry in self._leaving:
                if entry.idle:
                    entry.calls += 1  # whoever closes it is its last user
                    return entry
        return None

    def _wait(self, give_up: float) -> None:
        """Wait for a place to become free.

        Raises:
            OverloadedError: that takes too long, or only runs are under way, which may take hours.
        """
        everything = (*self._entries.values(), *self._leaving)
        if time.monotonic() > give_up or not any(entry.calls for entry in everything):
            raise OverloadedError(
                f"the server has {self._limit} workspaces in use, its limit",
                hint="Try again later; `max_workspaces` is how many may be open.",
            )
        self._changed.wait(_LOOK_SECONDS)

    def _close(self, entry: _Entry) -> None:
        try:
            entry.opened.close()
        finally:
            with self._changed:
                self._leaving.remove(entry)
                self._changed.notify_all()


def _by_name(services: Sequence[Service]) -> dict[str, Service]:
    return {service.name: service for service in services}
