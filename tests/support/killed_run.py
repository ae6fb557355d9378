"""``python -m tests.support.killed_run BASE KILL_AT``: an index run that kills itself at a given step.

Steps are what leaves a trace on the disk: files opened, renamed and removed, transactions of the catalog, commits and
upkeep of the table, each before and after. Without a kill it prints how many there were.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from everfind_indexer.catalog_database import CatalogDatabase
from everfind_indexer.store import maintenance
from everfind_indexer.store.writer import LanceChunkWriter
from tests.support.real_index import RealIndex

EVENTS = frozenset({"open", "os.rename", "os.remove", "os.mkdir", "os.link"})


class Steps:
    """Counts steps, and kills the process at one of them."""

    def __init__(self, kill_at: int) -> None:
        self.count = 0
        self._kill_at = kill_at

    def step(self) -> None:
        self.count += 1
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


def main() -> None:
    base, steps = Path(sys.argv[1]), Steps(int(sys.argv[2]))
    index = RealIndex(base, base / "corpus", base / "kept")
    for owner, name in (
        (CatalogDatabase, "write"),
        (LanceChunkWriter, "_commit"),
        (maintenance, "_optimize"),
        (maintenance, "_join"),
        (maintenance, "remove_old_versions"),
    ):
        setattr(owner, name, steps.around(getattr(owner, name)))
    inside = str(base / "index")

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event in EVENTS and str(arguments[0]).startswith(inside):
            steps.step()

    sys.addaudithook(audit)
    index.index()
    print(steps.count)  # noqa: T201 - what its parent asks for


if __name__ == "__main__":
    main()
