"""The workspace that the front ends work on."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from everfind_core.ports import Embedder, Indexer, Searcher
    from everfind_gateway.config.settings import Settings
    from everfind_gateway.wiring.local import Shared


class Workspace(Protocol):
    """An opened corpus: in this process, or on a server."""

    @property
    def indexer(self) -> Indexer:
        """Keeps the index."""
        ...

    @property
    def embedder(self) -> Embedder:
        """Its embedding model."""
        ...

    @property
    def searcher(self) -> Searcher:
        """Answers from it."""
        ...


class OpenWorkspace(Protocol):
    """Opens the workspace that settings describe."""

    def __call__(self, settings: Settings, /) -> AbstractContextManager[Workspace]:
        """The workspace, closed when the context ends."""
        ...


def open_followed_workspace(settings: Settings, shared: Shared | None = None) -> AbstractContextManager[Workspace]:
    """The same for a server that lives long: it keeps an index of this machine up with its folders."""
    if settings.server:
        return open_workspace(settings)
    from everfind_gateway.wiring.local import open_followed

    return open_followed(settings, shared)


def open_workspace(settings: Settings) -> AbstractContextManager[Workspace]:
    """The workspace that ``settings`` describe; what it consists of is imported now."""
    if settings.server:
        from everfind_gateway.wiring.remote import open_remote

        return open_remote(settings)
    from everfind_gateway.wiring.local import open_local

    return open_local(settings)
