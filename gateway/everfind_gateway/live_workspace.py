"""The workspace that a long-lived server answers from: opened once, and opened anew when its settings change."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from everfind_core.errors import EverfindError, IndexMissingError, UnavailableError
from everfind_core.model import SearchRequest

if TYPE_CHECKING:
    from everfind_core.cancellation import Cancellation
    from everfind_gateway.config.settings import Settings
    from everfind_gateway.wiring.workspace import Workspace

CLOSE_SECONDS = 2.0
"""How long closing waits for calls that have been told to stop."""


@dataclass
class Opened:
    """An opened workspace and the settings it was opened with; ``calls`` are under way on it."""

    settings: Settings
    workspace: Workspace
    manager: AbstractContextManager[Workspace] = field(repr=False)
    calls: int = 0


class LiveWorkspace:
    """Gives calls the workspace that the settings describe now. Thread-safe.

    A change of the settings files, such as by `everfind add`, takes effect with the next call. Calls under way keep the
    workspace they began with; it closes after the last of them.
    """

    def __init__(
        self,
        load: Callable[[], Settings],
        open_workspace: Callable[[Settings], AbstractContextManager[Workspace]],
    ) -> None:
        self._load = load
        self._open_workspace = open_workspace
        self._changed = threading.Condition()
        self._current: Opened | None = None
        self._calls = 0
        self._closed = False
        self._warm = False
        self._at_close: list[Cancellation] = []

    @contextmanager
    def call(self, until_closed: Cancellation | None = None) -> Iterator[Opened]:
        """The workspace for one call. ``until_closed`` is cancelled when the corpus closes meanwhile.

        Raises:
            ConfigError: the settings cannot be used as they are now.
            UnavailableError: the server is ending.
        """
        with self._changed:
            opened = self._up_to_date()
            opened.calls += 1
            self._calls += 1
            if until_closed is not None:
                self._at_close.append(until_closed)
        try:
            yield opened
        finally:
            with self._changed:
                if until_closed in self._at_close:
                    self._at_close.remove(until_closed)
                opened.calls -= 1
                self._calls -= 1
                if not opened.calls and opened is not self._current:
                    _close(opened)
                self._changed.notify_all()

    @property
    def busy(self) -> bool:
        """Whether a call is under way."""
        return self._calls > 0

    @property
    def closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._closed

    def warm_up(self) -> None:
        """Load model and store in the background, once, so that the first question need not wait for them."""
        with self._changed:
            if self._warm or self._closed:
                return
            self._warm = True
        threading.Thread(target=self._ask_something, name="warm-up", daemon=True).start()

    def close(self) -> bool:
        """Let no further call begin, wait a little for those under way, and close the workspace.

        False if calls go on that cannot be stopped: the workspace is then left to them.
        """
        with self._changed:
            self._closed = True
            leaving, self._at_close = self._at_close, []
        for cancel in leaving:
            cancel.cancel()
        with self._changed:
            idle = self._changed.wait_for(lambda: not self._calls, CLOSE_SECONDS)
            current, self._current = self._current, None
            if current is not None and not current.calls:
                _close(current)
        return idle

    def _up_to_date(self) -> Opened:
        if self._closed:
            raise UnavailableError("the server is ending")
        settings = self._load()
        current = self._current
        if current is not None and current.settings == settings:
            return current
        manager = self._open_workspace(settings)
        workspace = manager.__enter__()
        _ = workspace.searcher, workspace.indexer  # made here, under the lock, so that parallel calls share them
        self._current = Opened(settings, workspace, manager)
        if current is not None and not current.calls:
            _close(current)
        return self._current

    def _ask_something(self) -> None:
        try:
            with self.call() as opened:
                try:
                    opened.workspace.searcher.search(SearchRequest("warm up", limit=1))
                except IndexMissingError:
                    opened.workspace.embedder.model()
        except EverfindError:
            return  # the first call that needs it says what is wrong


def _close(opened: Opened) -> None:
    opened.manager.__exit__(None, None, None)
