"""The workspaces that an MCP server answers from besides its own, for calls that name one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from everfind_core.workspaces import workspace_not_found
from everfind_gateway.index_claims import IndexClaims, same_index
from everfind_gateway.live_workspace import LiveWorkspace
from everfind_gateway.workspace_pool import WAIT_SECONDS, WorkspacePool

if TYPE_CHECKING:
    from pathlib import Path

    from everfind_core.cancellation import Cancellation
    from everfind_core.model import HealthFinding
    from everfind_gateway.config.settings import Settings
    from everfind_gateway.server.served import Served, ServedWorkspace
    from everfind_gateway.wiring.workspace import Workspace


class Corpora:
    """Gives a call the corpus of the workspace that it names. At most ``limit`` are open; thread-safe."""

    def __init__(
        self,
        served: Served,
        open_workspace: Callable[[Settings], AbstractContextManager[Workspace]],
        *,
        limit: int,
        own_index: Path,
        patience: float = WAIT_SECONDS,
    ) -> None:
        """Answer from what is ``served``; what has the index ``own_index`` is the server's own workspace."""
        self._served = served
        self._open_workspace = open_workspace
        self._own_index = own_index
        self._indexes = IndexClaims()
        self._pool: WorkspacePool[LiveWorkspace] = WorkspacePool(limit, patience)

    @contextmanager
    def hold(self, asked: str, own: LiveWorkspace, cancel: Cancellation | None = None) -> Iterator[LiveWorkspace]:
        """The corpus of a name or of the project in which an absolute directory lies, kept open within the block.

        ``own`` is the server's own, which is not opened again under another name.

        Raises:
            WorkspaceNotFoundError: there is none.
            ConfigError: its settings cannot be used; or, from its first call, another one has its index open.
            OverloadedError, UnavailableError, CancelledError: as :meth:`WorkspacePool.hold`.
        """
        place = self._served.find(asked)
        if place is None:
            raise workspace_not_found(asked)

        if same_index(self._served.load(place).index_dir, self._own_index):
            yield own
            return

        def opening() -> LiveWorkspace:
            return LiveWorkspace(lambda: self._served.load(place), lambda settings: self._opened(place, settings))

        with self._pool.hold(place.id, opening, cancel=cancel) as corpus:
            yield corpus

    def close(self) -> bool:
        """Close all; false if calls go on that cannot be stopped."""
        return self._pool.close()

    def listed(self) -> tuple[str, ...]:
        """What can be chosen from: names, and the roots of the projects that were listed one by one."""
        return tuple(place.id for place in self._served.listed())

    def findings(self) -> tuple[HealthFinding, ...]:
        """What keeps those from being opened that were listed one by one."""
        return tuple(finding for _, finding in self._served.findings())

    @contextmanager
    def _opened(self, place: ServedWorkspace, settings: Settings) -> Iterator[Workspace]:
        with self._indexes.held(settings.index_dir, place.id), self._open_workspace(settings) as workspace:
            yield workspace
