"""A call that nobody waits for any more is told to stop; its corpus goes on."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, cast

import anyio
import anyio.to_thread

from everfind_core.cancellation import Cancellation
from everfind_core.errors import CancelledError
from everfind_core.model import Coverage, SearchAnswer, SearchRequest
from everfind_gateway import AsyncCorpus
from everfind_gateway.config.settings import load_settings
from everfind_gateway.live_workspace import LiveWorkspace


@dataclass
class Slow:
    """A workspace whose ``search`` lasts until it is cancelled."""

    indexer: Any = None
    slow: bool = True
    began: threading.Event = field(default_factory=threading.Event)
    stopped: threading.Event = field(default_factory=threading.Event)

    @property
    def searcher(self) -> Slow:
        return self

    def search(self, request: SearchRequest, *, cancel: Cancellation) -> SearchAnswer:
        self.began.set()
        if self.slow:
            try:
                cancel.wait(60)
            except CancelledError:
                self.stopped.set()
                raise
        return SearchAnswer(request.query, 1, (), Coverage())


def test_a_cancelled_call_is_told_to_stop() -> None:
    slow = Slow()

    async def ask() -> SearchAnswer:
        source = LiveWorkspace(load_settings, lambda _settings: nullcontext(cast("Any", slow)))
        async with AsyncCorpus(source) as corpus:
            async with anyio.create_task_group() as group:
                group.start_soon(corpus.search, "question")
                assert await anyio.to_thread.run_sync(slow.began.wait, 30)
                group.cancel_scope.cancel()
            assert await anyio.to_thread.run_sync(slow.stopped.wait, 30)
            slow.slow = False
            return await corpus.search("another")

    assert anyio.run(ask).query == "another"
