"""The workspaces that a server has open: its own always, others when they are asked for, up to a limit."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from everfind_core.errors import EverfindError, UnavailableError
from everfind_core.model import HealthFinding, OpenWorkspace
from everfind_core.workspaces import root_of, workspace_not_found
from everfind_gateway.index_claims import IndexClaims, same_index
from everfind_gateway.workspace_pool import WAIT_SECONDS, WorkspacePool
from everfind_rpc.serving.access import sees
from everfind_rpc.serving.workspaces import OWN, Held, may_see

if TYPE_CHECKING:
    from pathlib import Path

    from everfind_core.model import Folder
    from everfind_gateway.config.settings import Settings
    from everfind_gateway.server.served import Served, ServedWorkspace
    from everfind_rpc.auth import Principal
    from everfind_rpc.serving.service import Call, Service


@dataclass(frozen=True, slots=True)
class Own:
    """The workspace that the server was started for: its services, folders, and where its index lies."""

    services: Sequence[Service]
    folders: Callable[[], Iterable[Folder]]
    index_dir: Path


@dataclass(frozen=True, slots=True)
class OpenServices:
    """A workspace's services, what tells others of its settings' digest, and what closes it all."""

    services: Sequence[Service]
    renew: Callable[[str], object]
    close: Callable[[], object]


class _Entry:
    """An open workspace and the settings that it answers by."""

    def __init__(
        self, place: ServedWorkspace, settings: Settings, opened: OpenServices, forget: Callable[[], object]
    ) -> None:
        self.place = place
        self.settings = settings
        self.services: Mapping[str, Service] = _by_name(opened.services)
        self._opened = opened
        self._forget = forget

    @property
    def busy(self) -> bool:
        """Whether a client's run is under way, which outlives its call."""
        return any(service.busy() for service in self.services.values())

    def take_in(self, settings: Settings) -> bool:
        """Go on with these settings, if at most the folders differ: those the workspace follows by itself."""
        if settings.model_copy(update={"folders": self.settings.folders}).digest != self.settings.digest:
            return False
        if settings.digest != self.settings.digest:
            self._opened.renew(settings.digest)
        self.settings = settings
        return True

    def stop(self) -> None:
        """End what outlives calls."""
        for service in self.services.values():
            service.stop()

    def close(self) -> bool:
        """Close it, once no call is under way in it."""
        try:
            self._opened.close()
        finally:
            self._forget()
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
        open_workspace: Callable[[ServedWorkspace, Settings], OpenServices],
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
        self._pool: WorkspacePool[_Entry] = WorkspacePool(limit, patience)
        self._indexes = IndexClaims()
        self._own_used = 0.0

    @contextmanager
    def hold(self, asked: str, call: Call) -> Iterator[Held]:
        """See :meth:`everfind_rpc.serving.workspaces.Workspaces.hold`."""
        place = self._place(asked, call.principal)
        if place is None:
            self._own_used = time.time()
            yield Held(OWN, self._own_services)
            return
        settings = self._served.load(place)
        opening = partial(self._open, place, settings)
        with self._pool.hold(place.id, opening, lambda entry: entry.take_in(settings), call.cancel) as entry:
            yield Held(place.id, entry.services)

    def opened(self) -> Sequence[OpenWorkspace]:
        """See :meth:`everfind_rpc.serving.workspaces.Workspaces.opened`; the one that was asked last comes first."""
        if not self._served:
            return ()
        own = OpenWorkspace(OWN, self._own_used, any(service.busy() for service in self._own_services.values()))
        return (own, *(OpenWorkspace(key, used, entry.busy) for key, entry, used in self._pool.opened()))

    def findings(self) -> Sequence[tuple[str, HealthFinding]]:
        """See :meth:`everfind_rpc.serving.workspaces.Workspaces.findings`."""
        return self._served.findings()

    def open_listed(self, refused: Callable[[EverfindError], object]) -> None:
        """Open those that were listed one by one, as many as there are places, so that they are followed.

        ``refused`` hears of each that cannot be opened.

        Raises:
            UnavailableError: the server is stopping.
        """
        opened = 0
        for place in self._served.listed():
            if opened == self._limit:
                return
            try:
                opened += self._open_other(place)
            except UnavailableError:
                raise
            except EverfindError as error:
                refused(error)

    def look(self) -> None:
        """Take in what has changed in settings files, and close what has settings of before."""
        for key, entry, _ in self._pool.opened():
            with contextlib.suppress(EverfindError):  # those of before hold until they can be used
                self._pool.review(key, partial(_Entry.take_in, settings=self._served.load(entry.place)))
        self._pool.close_leavers()

    def stop(self) -> None:
        """See :meth:`everfind_rpc.serving.workspaces.Workspaces.stop`."""
        for entry in self._pool.stop():
            entry.stop()

    def close(self) -> None:
        """Close all; no call is under way any more."""
        self.stop()
        self._pool.close()

    def _place(self, asked: str, principal: Principal) -> ServedWorkspace | None:
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

    def _open_other(self, place: ServedWorkspace) -> bool:
        """Open it, unless it is the server's own; whether it was opened."""
        if self._is_own(place):
            return False
        with self._pool.hold(place.id, partial(self._open, place, self._served.load(place))):
            return True

    def _is_own(self, place: ServedWorkspace) -> bool:
        return same_index(self._served.load(place).index_dir, self._own.index_dir)

    def _open(self, place: ServedWorkspace, settings: Settings) -> _Entry:
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._indexes.held(settings.index_dir, place.id))
            opened = self._open_workspace(place, settings)
            return _Entry(place, settings, opened, stack.pop_all().close)


def _by_name(services: Sequence[Service]) -> dict[str, Service]:
    return {service.name: service for service in services}
