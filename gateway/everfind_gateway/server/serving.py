"""What `everfind serve` answers from: a workspace of its own, which stays open, and others beside."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from everfind_gateway.server.open_workspaces import OpenServices, OpenWorkspaces, Own
from everfind_gateway.server.served import Served
from everfind_gateway.wiring.local import LocalWorkspace, Shared, open_local, open_shared
from everfind_gateway.wiring.running import Announcement
from everfind_rpc.serving.workspaces import routed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from everfind_gateway.config.settings import Settings
    from everfind_gateway.server.served import ServedWorkspace
    from everfind_rpc.serving.service import Service


@dataclass(frozen=True, slots=True)
class Serving:
    """An open server without its socket: its own workspace, the others, and the services that route between them."""

    own: LocalWorkspace
    others: OpenWorkspaces
    opener: Opener
    services: list[Service]


@contextlib.contextmanager
def open_serving(settings: Settings, token: str) -> Iterator[Serving]:
    """The workspaces that ``settings`` describe and list, until the end of the block; ``token`` lets this user in.

    Raises:
        WorkspaceNotFoundError, ConfigError: one that is listed is not there.
    """
    served = Served(settings.workspaces)
    with contextlib.ExitStack() as stack:
        shared = open_shared()
        workspace = stack.enter_context(open_local(settings, shared))
        own = Own(workspace.services(), workspace.indexer.folders, settings.index_dir)
        opener = Opener(shared, token)
        others = OpenWorkspaces(own, served, opener.open, limit=settings.max_workspaces)
        stack.callback(others.close)
        yield Serving(workspace, others, opener, routed(own.services, others))


class Opener:
    """Opens workspaces that share models with the server's own, and lets this user's commands find them.

    ``address`` is where the server listens, once it does and others may know.
    """

    def __init__(self, shared: Shared, token: str) -> None:
        self.address = ""
        self._shared = shared
        self._token = token

    def open(self, place: ServedWorkspace, settings: Settings) -> OpenServices:
        """An open workspace. Its index is kept up with its folders, once a run has made it."""
        with contextlib.ExitStack() as stack:
            announced = Announcement(settings.index_dir, settings.digest, token=self._token, workspace=place.id)
            if settings.index_dir.is_dir():  # an empty one must not appear because somebody asked
                stack.enter_context(announced)
            workspace = stack.enter_context(open_local(settings, self._shared))
            if settings.watch:
                workspace.follow(create=False)
            services = workspace.services()
            if self.address:
                announced.publish(self.address)
            return OpenServices(services, announced.renew, stack.pop_all().close)
