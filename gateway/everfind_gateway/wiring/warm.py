"""Searching through this machine's running server, which is warm, and in this process where there is none."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from everfind_core.errors import OverloadedError, UnauthenticatedError, UnavailableError

if TYPE_CHECKING:
    from everfind_core.cancellation import Cancellation
    from everfind_core.model import (
        GatherAnswer,
        GatherRequest,
        RelatedAnswer,
        RelatedRequest,
        SearchAnswer,
        SearchRequest,
    )
    from everfind_core.ports import Searcher
    from everfind_gateway.wiring.running import RunningServer
    from everfind_rpc.channel import Connection

T = TypeVar("T")


class WarmSearcher:
    """An :class:`everfind_core.ports.Searcher` that asks the running server, and ``local`` if that does not answer.

    Looks for the server at each call, so one that starts or ends meanwhile makes no difference. Thread-safe.
    """

    def __init__(self, find: Callable[[], RunningServer | None], local: Callable[[], Searcher]) -> None:
        self._find = find
        self._local = local
        self._lock = threading.Lock()
        self._known: tuple[RunningServer, Connection, Searcher] | None = None

    def search(self, request: SearchRequest, *, cancel: Cancellation | None = None) -> SearchAnswer:
        """See :meth:`everfind_core.ports.Searcher.search`."""
        return self._ask(lambda searcher: searcher.search(request, cancel=cancel))

    def gather(self, request: GatherRequest, *, cancel: Cancellation | None = None) -> GatherAnswer:
        """See :meth:`everfind_core.ports.Searcher.gather`."""
        return self._ask(lambda searcher: searcher.gather(request, cancel=cancel))

    def related(self, request: RelatedRequest, *, cancel: Cancellation | None = None) -> RelatedAnswer:
        """See :meth:`everfind_core.ports.Searcher.related`."""
        return self._ask(lambda searcher: searcher.related(request, cancel=cancel))

    def close(self) -> None:
        """See :meth:`everfind_core.ports.Searcher.close`."""
        with self._lock:
            self._forget()

    def _ask(self, ask: Callable[[Searcher], T]) -> T:
        server = self._find()
        if server is not None:
            # Whatever keeps the server from answering, this process can do it, too.
            with contextlib.suppress(UnavailableError, UnauthenticatedError, OverloadedError):
                return ask(self._remote(server))
        return ask(self._local())

    def _remote(self, server: RunningServer) -> Searcher:
        from everfind_rpc.channel import Connection, Endpoint
        from everfind_rpc.clients.searcher import SERVICE, RemoteSearcher

        with self._lock:
            if self._known is None or self._known[0] != server:
                self._forget()
                connection = Connection(Endpoint(server.address, server.token), (SERVICE,))
                self._known = (server, connection, RemoteSearcher(connection, server.workspace))
            return self._known[2]

    def _forget(self) -> None:
        if self._known is not None:
            self._known[1].close()
            self._known = None
