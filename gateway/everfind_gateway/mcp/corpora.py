"""The workspaces that an MCP server answers from besides its own, for calls that name one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from everfind_core.errors import OverloadedError, UnavailableError
from everfind_core.workspaces import workspace_not_found
from everfind_gateway.mcp.corpus import Corpus

if TYPE_CHECKING:
    from everfind_gateway.mcp.calls import Call
    from everfind_gateway.served import Served
    from everfind_gateway.settings import Settings
    from everfind_gateway.workspace import Workspace

T = TypeVar("T")


class Corpora:
    """Gives a call the corpus of the workspace that it names. At most ``limit`` are open; thread-safe.

    The one that was asked longest ago, and in which no call is under way, is closed for another.
    """

    def __init__(
        self,
        served: Served,
        open_workspace: Callable[[Settings], AbstractContextManager[Workspace]],
        *,
        limit: int,
    ) -> None:
        self._served = served
        self._open_workspace = open_workspace
        self._limit = limit
        self._guard = threading.Lock()
        self._closed = False
        self._open: dict[str, Corpus] = {}
        """In the order in which they were asked."""
        self._calls: dict[str, int] = {}

    @contextmanager
    def hold(self, asked: str) -> Iterator[Corpus]:
        """The corpus of a name or of the project in which an absolute directory lies, kept open within the block.

        Raises:
            WorkspaceNotFoundError: there is none.
            OverloadedError: as many as may be open are in use.
            UnavailableError: the server is ending.
        """
        place = self._served.find(asked)
        if place is None:
            raise workspace_not_found(asked)
        with self._guard:
            if self._closed:
                raise UnavailableError("the server is ending")
            leaving = self._make_room(place.id)
            corpus = self._open.pop(place.id, None) or Corpus(lambda: self._served.load(place), self._open_workspace)
            self._open[place.id] = corpus
            self._calls[place.id] = self._calls.get(place.id, 0) + 1
        try:
            if leaving is not None:
                leaving.close()
            yield corpus
        finally:
            with self._guard:
                self._calls[place.id] -= 1

    def close(self) -> bool:
        """Close all; false if calls go on that cannot be stopped."""
        with self._guard:
            self._closed = True
            corpora = list(self._open.values())
        closed = [corpus.close() for corpus in corpora]
        return all(closed)

    def listed(self) -> tuple[str, ...]:
        """What can be chosen from: names, and the roots of the projects that were listed one by one."""
        return tuple(place.id for place in self._served.listed())

    def _make_room(self, wanted: str) -> Corpus | None:
        """What is to be closed before ``wanted`` is opened."""
        if wanted in self._open or len(self._open) < self._limit:
            return None
        idle = next((one for one in self._open if not self._calls[one]), None)
        if idle is None:
            raise OverloadedError(f"the server has {self._limit} workspaces in use, its limit", hint="Try again later.")
        return self._open.pop(idle)


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
    with others.hold(asked) as corpus:
        return work(replace(call, corpus=corpus))
