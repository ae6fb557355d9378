"""One tool call: engine work in a thread, cancelled with the request, its progress told on the way."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import anyio
import anyio.to_thread

from everfind_core.cancellation import Cancellation
from everfind_core.workspaces import workspace_not_found

if TYPE_CHECKING:
    from everfind_core.answers.json_form import Json
    from everfind_gateway.live_workspace import LiveWorkspace
    from everfind_gateway.mcp.corpora import Corpora

T = TypeVar("T")
Tell: TypeAlias = Callable[[float, float | None, str | None], Awaitable[None]]
"""Sends one progress notification: progress, total, message."""

MAX_THREADS = 32
PROGRESS_SECONDS = 0.2
"""How often a progress notification goes out at most."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool answers: the structured form, and the same as text for a model to read."""

    structured: Json
    text: str


@dataclass(slots=True)
class Progress:
    """How far a call is; set by the engine's thread, told by the server's loop.

    ``done`` of ``total`` in any unit; only the newest state counts.
    """

    done: float = 0.0
    total: float | None = None
    message: str = ""

    def report(self, done: float, total: float | None, message: str) -> None:
        """Set where the call is."""
        self.done, self.total, self.message = done, total, message


@dataclass(frozen=True, slots=True)
class Call:
    """What a tool has at hand while it answers: its corpus, and ``others`` that the server answers from."""

    corpus: LiveWorkspace
    others: Corpora | None = None
    cancel: Cancellation = field(default_factory=Cancellation)
    progress: Progress = field(default_factory=Progress)


def in_workspace(asked: str, call: Call, work: Callable[[Call], T]) -> T:
    """What ``work`` gives in the workspace that is asked for, empty for the call's own.

    Raises:
        WorkspaceNotFoundError: there is none such; where the call knows no others, there is no other at all.
        ConfigError, OverloadedError, UnavailableError: as :meth:`Corpora.hold`.
    """
    if not asked:
        return work(call)
    if call.others is None:
        raise workspace_not_found(asked)
    with call.others.hold(asked, call.corpus, call.cancel) as corpus:
        return work(replace(call, corpus=corpus))


class Threads:
    """The threads that engine calls run in: as many as :data:`MAX_THREADS`; further calls wait for one."""

    def __init__(self) -> None:
        self._limiter = anyio.CapacityLimiter(MAX_THREADS)

    async def run(self, work: Callable[[Call], T], call: Call, tell: Tell | None = None) -> T:
        """The outcome of ``work(call)``.

        When the request is cancelled this returns at once, and the work is told to stop through ``call.cancel``.
        """
        outcome: list[T] = []
        failure: list[Exception] = []

        def in_thread() -> None:
            try:
                call.cancel.check()
                outcome.append(work(call))
            except Exception as error:  # raised where it is waited for
                failure.append(error)

        try:
            async with anyio.create_task_group() as group:
                if tell is not None:
                    group.start_soon(_tell_progress, call.progress, tell)
                await anyio.to_thread.run_sync(in_thread, abandon_on_cancel=True, limiter=self._limiter)
                group.cancel_scope.cancel()
        except BaseException:  # anyio cancels by a BaseException; the thread must hear of it
            call.cancel.cancel()
            raise
        if failure:
            raise failure[0]
        return outcome[0]


async def _tell_progress(progress: Progress, tell: Tell) -> None:
    """Send what changed; progress increases with each notification, as the protocol demands."""
    told = -math.inf
    while True:
        if progress.message and progress.done > told:
            told = progress.done
            await tell(told, progress.total, progress.message)
        await anyio.sleep(PROGRESS_SECONDS)
