"""Keeps an index up with its folders: one follower an index at a time, others stand by.

The follower's own lock is held while it follows, the writer's only for a run. Whatever goes wrong with a run, its
changes stay and are tried again; whatever is not heard of, a look at the whole folder now and then finds.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Protocol

from everfind_core.cancellation import Cancellation
from everfind_core.errors import CancelledError, EverfindError, IndexMissingError, InternalError
from everfind_core.index.directory import current_index
from everfind_core.index.watch_state import WatchState, following, write_watch_state
from everfind_core.model import Folder, IndexReport, IndexRequest
from everfind_core.ports import EventSink
from everfind_indexer.settings import IndexerSettings
from everfind_indexer.watching.followed import Followed
from everfind_indexer.watching.listening import Listener
from everfind_indexer.watching.pending import Pace, Pending

TICK_SECONDS = 0.1
STAND_BY_SECONDS = 1.0
END_SECONDS = 5.0

_log = logging.getLogger("everfind.watch")


class Engine(Protocol):
    """What is followed for."""

    def index(self, request: IndexRequest, on_event: EventSink, *, cancel: Cancellation | None = None) -> IndexReport:
        """See :meth:`everfind_core.ports.Indexer.index`."""
        ...

    def ignored_directories(self, folder: str) -> frozenset[str]:
        """The directories of a folder that are left out as a whole, each with ``/`` at its end."""
        ...


class Follower:
    """Follows the folders of one workspace in the background, from :meth:`start` to :meth:`close`.

    ``on_report`` hears of each run: the folder and what was done, or the error. With ``create`` false it waits until
    somebody has made the index: it does not go on with a first run that was cancelled.
    """

    def __init__(
        self,
        engine: Engine,
        settings: IndexerSettings,
        *,
        on_report: Callable[[Folder, IndexReport | EverfindError], object] = lambda *_: None,
        create: bool = True,
        pace: Pace | None = None,
        may_listen: bool = True,
    ) -> None:
        self._engine = engine
        self._settings = settings
        self._directory = settings.index_directory
        self._on_report = on_report
        self._create = create
        self._pace = pace or Pace()
        self._may_listen = may_listen
        self._cancel = Cancellation()
        self._stopped = threading.Event()
        self._guard = threading.Lock()
        self._pending = Pending(self._pace)
        self._folders = {folder.name: Followed(folder, settings) for folder in settings.folders}
        self._said: WatchState | None = None
        self._thread = threading.Thread(target=self._run, name="follow", daemon=True)

    def start(self) -> None:
        """Begin to follow."""
        self._thread.start()

    def close(self) -> None:
        """Stop; a run under way ends at its next clean point."""
        self._stopped.set()
        self._cancel.cancel()
        self._thread.join(END_SECONDS)

    # --- one follower at a time ---------------------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                if self._create or self._is_made():
                    with following(self._directory) as first:
                        if first:
                            self._follow()
            except EverfindError as error:
                _log.warning("cannot follow the folders: %s", error.message)
            self._stopped.wait(STAND_BY_SECONDS)

    def _is_made(self) -> bool:
        """Whether a run over the index has ended."""
        try:
            return bool(current_index(self._directory).read_coverage().indexed_at)
        except IndexMissingError:
            return False
        except EverfindError:
            return True  # a run says what is wrong with it

    def _follow(self) -> None:
        self._said = None
        listeners = [Listener(f.folder, self._changed, may_listen=self._may_listen) for f in self._folders.values()]
        self._publish()
        for listener in listeners:
            listener.start()
        try:
            while not self._stopped.wait(self._tick()):
                self._look_outside()
                self._rescan(listeners)
                self._publish()
                if self._due():
                    self._take_in()
        finally:
            for listener in listeners:
                listener.stop()
            for listener in listeners:
                listener.join(END_SECONDS)

    # --- changes ------------------------------------------------------------------------------------------------------

    def _changed(self, name: str, paths: Iterable[str] | None) -> None:
        """A listener heard of changes."""
        with self._guard:
            if paths is None:
                self._pending.add_everything(name, time.monotonic())
            elif relevant := self._folders[name].relevant(paths):
                self._pending.add(name, relevant, time.monotonic())
        self._publish()

    def _look_outside(self) -> None:
        """Rules that lie outside a folder are not listened to, but looked at."""
        for name, followed in self._folders.items():
            with self._guard:
                for path in followed.outside_changes():
                    self._pending.add(name, [path], time.monotonic())

    def _rescan(self, listeners: list[Listener]) -> None:
        now = time.monotonic()
        for listener in listeners:
            followed = self._folders[listener.folder.name]
            period = self._pace.rescan if listener.heard else self._pace.poll
            if followed.looked and now >= followed.looked + max(period, self._pace.patience * followed.look_seconds):
                followed.looked = now
                with self._guard:
                    self._pending.add_everything(listener.folder.name, now)

    def _tick(self) -> float:
        """Seconds until the next look, which does not come later than a run is due."""
        with self._guard:
            left = self._pending.due_at() - time.monotonic()
        return left if 0 < left < TICK_SECONDS else TICK_SECONDS

    def _due(self) -> bool:
        with self._guard:
            due = self._pending.due(time.monotonic())
            waiting = self._pending.state()
        return due and not any(self._folders[name].git_is_busy() for name in (*waiting.pending, *waiting.behind))

    # --- runs ---------------------------------------------------------------------------------------------------------

    def _take_in(self) -> None:
        with self._guard:
            taken = self._pending.take()
        for name, paths in taken.items():
            if self._stopped.is_set():
                return
            self._index(self._folders[name], paths)

    def _index(self, followed: Followed, paths: tuple[str, ...] | None) -> None:
        name = followed.folder.name
        started = time.monotonic()
        try:
            wanted = followed.begin(paths, self._cancel)
            if wanted == ():
                with self._guard:
                    self._pending.succeeded(name)
                return
            request = IndexRequest(folders=(name,), paths=wanted or ())
            report = self._engine.index(request, lambda _event: None, cancel=self._cancel)
        except CancelledError:
            return
        except EverfindError as error:
            self._failed(followed, paths, error)
            return
        except Exception:  # whatever it is, the next try may go well, and nobody else would follow
            _log.exception("unexpected fault in a run over folder %s", name)
            fault = InternalError("the indexer failed at this run", hint="Its log has the details.")
            self._failed(followed, paths, fault)
            return
        ignored = self._engine.ignored_directories(name)
        with self._guard:
            self._pending.succeeded(name)
            followed.end(ignored, everything=wanted is None, seconds=time.monotonic() - started)
        _log.info("folder %s is up to date: %d indexed, %d deleted", name, report.indexed, report.deleted)
        self._on_report(followed.folder, report)

    def _failed(self, followed: Followed, paths: tuple[str, ...] | None, error: EverfindError) -> None:
        name = followed.folder.name
        with self._guard:
            wait = self._pending.failed(name, paths, time.monotonic())
        _log.warning("folder %s is not up to date, next try in %.0f s: %s", name, wait, error.message)
        self._on_report(followed.folder, error)

    # --- what others see ----------------------------------------------------------------------------------------------

    def _publish(self) -> None:
        with self._guard:
            waiting = self._pending.state()
            unseen = (name for name, followed in self._folders.items() if not followed.looked)
            state = WatchState(waiting.pending, waiting.behind.union(unseen))
            if state != self._said:
                with suppress(EverfindError):  # a full disk is for the run to tell
                    write_watch_state(self._directory, state)
                    self._said = state
