"""The corpus for asynchronous programs: the calls of :class:`everfind_gateway.corpus.Corpus`, each in a thread."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import anyio
import anyio.to_thread

from everfind_core.cancellation import Cancellation
from everfind_gateway.corpus import Corpus, open_source
from everfind_gateway.live_workspace import LiveWorkspace

P = ParamSpec("P")
T = TypeVar("T")


def _in_thread(
    method: Callable[Concatenate[Corpus, P], T],
) -> Callable[Concatenate[AsyncCorpus, P], Coroutine[Any, Any, T]]:
    """``method`` in a thread of anyio. A cancelled call returns at once, and its work is told to stop."""

    @functools.wraps(method)
    async def call(self: AsyncCorpus, /, *args: P.args, **kwargs: P.kwargs) -> T:
        cancel = Cancellation()
        work = functools.partial(method, Corpus(self._source, cancel), *args, **kwargs)
        try:
            return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
        except BaseException:  # anyio cancels by a BaseException; the thread must hear of it
            cancel.cancel()
            raise

    return call


class AsyncCorpus:
    """An opened corpus whose calls are awaited; else as :class:`everfind_gateway.corpus.Corpus`.

    As many calls run at once as anyio has threads for (40 unless changed).
    """

    def __init__(self, source: LiveWorkspace) -> None:
        self._source = source

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        with anyio.CancelScope(shield=True):
            await self.close()

    search = _in_thread(Corpus.search)
    gather = _in_thread(Corpus.gather)
    related = _in_thread(Corpus.related)
    grep = _in_thread(Corpus.grep)
    cat = _in_thread(Corpus.cat)
    add = _in_thread(Corpus.add)
    remove = _in_thread(Corpus.remove)
    folders = _in_thread(Corpus.folders)
    files = _in_thread(Corpus.files)
    status = _in_thread(Corpus.status)
    index = _in_thread(Corpus.index)
    close = _in_thread(Corpus.close)


def open_async_corpus(
    config: str | Path | None = None, *, server: str | None = None, workspace: str = "", watch: bool = False
) -> AsyncCorpus:
    """As :func:`everfind_gateway.corpus.open_corpus`, for ``async with``."""
    source, told = open_source(config, server, workspace, watch)
    for warning in told:
        warnings.warn(warning, stacklevel=2)
    return AsyncCorpus(source)
