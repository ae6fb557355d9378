"""Many workspaces behind one server: each call goes to the services of the workspace that it names."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, Protocol

from google.protobuf.message import Message

from everfind_core.model import HealthFinding, OpenWorkspace
from everfind_rpc.auth import Principal
from everfind_rpc.converters.status import finding_to_proto, open_workspace_to_proto
from everfind_rpc.serving.service import Call, Method, Service, Stream, Unary

OWN = ""
"""The id of the workspace that a server was started for."""


@dataclass(frozen=True, slots=True)
class Held:
    """The services of one workspace, by their full names, which stay open while they are held.

    ``id`` is a name or an absolute directory (string form), :data:`OWN` for the server's own.
    """

    id: str
    services: Mapping[str, Service]


class Workspaces(Protocol):
    """Where a server has its workspaces from."""

    def hold(self, asked: str, call: Call) -> AbstractContextManager[Held]:
        """The workspace that a call asks for, open within the block. May take a moment: not for the event loop.

        Raises:
            WorkspaceNotFoundError: its caller has none of that name or directory.
            OverloadedError: too many are in use.
        """
        ...

    def opened(self) -> Sequence[OpenWorkspace]:
        """Those that are open now."""
        ...

    def findings(self) -> Sequence[tuple[str, HealthFinding]]:
        """What keeps workspaces from being opened that are always there, each with its workspace's id."""
        ...

    def stop(self) -> None:
        """End what outlives calls, and open no more."""
        ...


def routed(own: Sequence[Service], workspaces: Workspaces) -> list[Service]:
    """The services of a server, each call answered by that of the workspace it names."""
    first, *others = (_routed_service(service, workspaces) for service in own)
    stops, busy = first.stop, first.busy

    def stop() -> None:
        workspaces.stop()
        stops()

    def any_busy() -> bool:
        return busy() or any(one.indexing for one in workspaces.opened())

    return [replace(first, stop=stop, busy=any_busy), *others]


def may_see(principal: Principal, workspace: str) -> bool:
    """Whether a workspace exists for ``principal``: a directory stands for all that lie in it."""
    if principal.workspaces is None:
        return True
    return any(
        workspace == one or (one.startswith("/") and workspace.startswith(f"{one.rstrip('/')}/"))
        for one in principal.workspaces
    )


def _routed_service(own: Service, workspaces: Workspaces) -> Service:
    def routed_method(name: str, method: Method) -> Method:
        if isinstance(method, Unary) and "workspace" in method.request.DESCRIPTOR.fields_by_name:
            return replace(method, answer=_Unary(own.name, name, workspaces))
        if isinstance(method, Stream):
            return replace(method, answer=_Stream(own.name, name, workspaces))
        return method

    return replace(own, methods={name: routed_method(name, method) for name, method in own.methods.items()})


@dataclass(frozen=True, slots=True)
class _Unary:
    """Answers one call of one service in the workspace that the request names."""

    service: str
    method: str
    workspaces: Workspaces

    def __call__(self, request: Any, call: Call) -> Message:
        with self.workspaces.hold(request.workspace, call) as held:
            method = held.services[self.service].methods[self.method]
            assert isinstance(method, Unary)
            answer = method.answer(_inside(request, held), call)
        if self.method == "GetStatus":
            self._describe(answer, held, call)
        return answer

    def _describe(self, answer: Any, held: Held, call: Call) -> None:
        """Say whose status it is, which workspaces are open, and what is wrong with others."""
        answer.status.workspace = held.id
        answer.status.open_workspaces.extend(
            open_workspace_to_proto(one) for one in self.workspaces.opened() if may_see(call.principal, one.workspace)
        )
        answer.status.findings.extend(
            finding_to_proto(finding)
            for workspace, finding in self.workspaces.findings()
            if may_see(call.principal, workspace)
        )


@dataclass(frozen=True, slots=True)
class _Stream:
    """The same for a call with a stream of answers, which holds the workspace until its end."""

    service: str
    method: str
    workspaces: Workspaces

    async def __call__(self, request: Any, call: Call) -> AsyncIterator[Message]:
        with contextlib.ExitStack() as stack:
            held = await _entered(self.workspaces.hold(request.workspace, call), stack)
            method = held.services[self.service].methods[self.method]
            assert isinstance(method, Stream)
            async with contextlib.aclosing(method.answer(_inside(request, held), call)) as answers:  # type: ignore[type-var]  # they are async generators
                async for answer in answers:
                    yield answer


async def _entered(hold: AbstractContextManager[Held], stack: contextlib.ExitStack) -> Held:
    """Enter ``hold`` in a thread; a caller that leaves meanwhile does not leave it held."""
    entering = asyncio.ensure_future(asyncio.to_thread(hold.__enter__))
    try:
        held = await asyncio.shield(entering)
    except asyncio.CancelledError:
        entering.add_done_callback(lambda done: _release(done, hold))
        raise
    stack.push(hold)
    return held


def _release(entered: asyncio.Future[Held], hold: AbstractContextManager[Held]) -> None:
    if not entered.cancelled() and entered.exception() is None:
        hold.__exit__(None, None, None)


def _inside(request: Any, held: Held) -> Any:
    """The request as the workspace's own services take it: they know one workspace, which has no name there."""
    if held.id == OWN:
        return request
    inside = type(request)()
    inside.CopyFrom(request)
    for message in (inside, *_parts(inside)):
        if message.workspace == request.workspace:
            message.workspace = ""
    return inside


def _parts(request: Any) -> Iterator[Any]:
    """Requests within a request, which name a workspace, too."""
    for field, value in request.ListFields():
        if (
            field.message_type is not None
            and not field.is_repeated
            and "workspace" in field.message_type.fields_by_name
        ):
            yield value
