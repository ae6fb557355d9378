"""``python -m tests.support.killed_run BASE KILL_AT [PASS] [--sqlite]``: an index run that kills itself at a step.

Steps are what leaves a trace on the disk: files opened, renamed and removed, transactions of the catalog, commits and
upkeep of the table, each before and after. Without a kill it prints how many there were. With a PASS new files are
taken in by their words first, in small steps one after the other; steps count from the first commit of ``words`` on,
or the last, where the ``vectors`` come; from the beginning if ``any``.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from everfind_core.index.store_backends import StoreChoice
from everfind_core.model import IndexPhase, IndexProgress, IndexRequest, RunEvent
from everfind_indexer.index.catalog_database import CatalogDatabase
from everfind_indexer.running import bookkeeping, first_pass, pipeline, work
from everfind_indexer.store import maintenance
from everfind_indexer.store.sqlite import transactions, upkeep
from everfind_indexer.store.sqlite import writer as sqlite_writer
from everfind_indexer.store.writer import LanceChunkWriter
from tests.support.real_index import RealIndex

SQLITE = "--sqlite"
EVENTS = frozenset({"open", "os.rename", "os.remove", "os.mkdir", "os.link"})


class Steps:
    """Counts steps, and kills the process at one of them."""

    def __init__(self, kill_at: int, *, counting: bool) -> None:
        self.count = 0
        self.counting = counting
        self._kill_at = kill_at

    def step(self) -> None:
        self.count += self.counting
        if self.count == self._kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def stepped(*arguments: Any, **options: Any) -> Any:
            self.step()
            try:
                return call(*arguments, **options)
            finally:
                self.step()

        return stepped


def take_in_twice() -> None:
    """A few files are many, and a commit holds three."""
    first_pass.FIRST_PASS_FILES = 2
    bookkeeping.COVERAGE_SECONDS = 0.0
    first_pass.COMMIT_FILES = pipeline.BATCH_FILES = work.GROUP_FILES = 3
    mock.patch.object(pipeline.Pipeline, "has_room", return_value=False).start()  # the same steps each time


def main() -> None:
    base, kill_at, passes = Path(sys.argv[1]), int(sys.argv[2]), [one for one in sys.argv[3:] if one != SQLITE]
    store = StoreChoice.SQLITE if SQLITE in sys.argv else StoreChoice.AUTO
    steps = Steps(kill_at, counting=passes in ([], ["any"]))
    if passes:
        take_in_twice()
    index = RealIndex(base, base / "corpus", base / "kept", store=store)
    for owner, name in (
        (CatalogDatabase, "write"),
        (LanceChunkWriter, "_commit"),
        (maintenance, "_optimize"),
        (maintenance, "_join"),
        (maintenance, "remove_old_versions"),
        (sqlite_writer, "create_table"),
        (transactions, "write_fragment"),
        (transactions.Transaction, "remove"),
        (transactions.Transaction, "_count"),
        (upkeep, "drop_old"),
    ):
        setattr(owner, name, steps.around(getattr(owner, name)))
    inside = str(base / "index")

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event in EVENTS and str(arguments[0]).startswith(inside):
            steps.step()

    sys.addaudithook(audit)

    def begin(event: RunEvent) -> None:
        if isinstance(event, IndexProgress) and event.phase is IndexPhase.WORDS:
            steps.counting |= passes == ["words"] or event.files_done == event.files_total

    index.engine().index(IndexRequest(), begin)
    print(steps.count)  # noqa: T201 - what its parent asks for


if __name__ == "__main__":
    main()
