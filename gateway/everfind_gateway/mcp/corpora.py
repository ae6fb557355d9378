"""The workspaces that an MCP server answers from besides its own, for calls that name one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from everfind_core.workspaces import workspace_not_found
from everfind_gateway.live_workspace import LiveWorkspace
from everfind_gateway.workspace_pool import WAIT_SECONDS, WorkspacePool

if TYPE_CHECKING:
    from everfind_core.cancellation import Cancellation
    from everfind_gateway.config.settings import Settings
    from everfind_gateway.mcp.calls import Call
    from everfind_gateway.server.served import Served
    from everfind_gateway.wiring.workspace import Workspace

T = TypeVar("T")


class Corpora:
    """Gives a call the corpus of the workspace that it names. At most ``limit`` are open; thread-safe."""

    def __init__(
        self,
        served: Served,
        open_workspace: Callable[[Settings], AbstractContextManager[Workspace]],
        *,
        limit: int,
        patience: float = WAIT_SECONDS,
    ) -> None:
        self._served = served
        self._open_workspace = open_workspace
        self._pool: WorkspacePool[LiveWorkspace] = WorkspacePool(limit, patience)

    @contextmanager
    def hold(self, asked: str, cancel: Cancellation | None = None) -> Iterator[LiveWorkspace]:
        """The corpus of a name or of the project in which an absolute directory lies, kept open within the block.

        Raises:
            WorkspaceNotFoundError: there is none.
            OverloadedError, UnavailableError, CancelledError: as :meth:`WorkspacePool.hold`.
        """
        place = self._served.find(asked)
        if place is None:
            raise workspace_not_found(asked)

        def opening() -> LiveWorkspace:
            return LiveWorkspace(lambda: self._served.load(place), self._open_workspace)

        with self._pool.hold(place.id, opening, cancel=cancel) as corpus:
            yield corpus

    def close(self) -> bool:
        """Close all; false if calls go on that cannot be stopped."""
        return self._pool.close()

    def listed(self) -> tuple[str, ...]:
        """What can be chosen from: names, and the roots of the projects that were listed one by one."""
        return tuple(place.id for place in self._served.listed())


def in_workspace(others: Corpora | None, asked: str, call: Call, work: Callable[[Call], T]) -> T:
    """What ``work`` gives in the workspace that is asked for, empty for the server's own.

    Raises:
        WorkspaceNotFoundError: there is none such; where there are no ``others``, there is no other at all.
        OverloadedError, UnavailableError: as :meth:`Corpora.hold`.
    """
    if not asked:
        return work(call)
    if others is None:
        raise workspace_not_found(asked)
    with others.hold(asked, call.cancel) as corpus:
        return work(replace(call, corpus=corpus))
