"""``python -m bench [--quick] [--all] [NAME...]``: measure the claims of docs/benchmarks.md.

Without a name, the short set: what can be measured in some ten minutes on two quiet cores.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

from bench import (
    cancelling,
    capacity,
    edits,
    embedding_load,
    extraction,
    first_index,
    following,
    freshness,
    indexing,
    load,
    saving,
    searching,
    soak,
    space,
    startup,
    steady_memory,
    stores,
    trees,
)
from bench.figures import Figure, machine

MEASURES: dict[str, Callable[..., Iterator[Figure]]] = {
    "startup": startup.measure,
    "cancel": cancelling.measure,
    "indexing": indexing.measure,
    "first-index": first_index.measure,
    "cores": indexing.cores,
    "sixty-files": indexing.sixty_files,
    "steady-memory": steady_memory.measure,
    "extraction": extraction.measure,
    "searching": searching.measure,
    "million": searching.million,
    "space": space.measure,
    "stores": stores.measure,
    "capacity": capacity.measure,
    "embedding-load": embedding_load.measure,
    "load": load.measure,
    "soak": soak.measure,
    "saving": saving.measure,
    "following": following.measure,
    "no-change": freshness.no_change,
    "edits": edits.measure,
    "trees": trees.measure,
}

SHORT = ("startup", "cores", "space", "indexing", "searching")


def main() -> None:
    """Run the named measures, or the short set, or all, and print a line for each figure as it comes."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(MEASURES)}")
    parser.add_argument("--all", action="store_true", help="all of them: hours")
    parser.add_argument("--quick", action="store_true", help="smaller inputs, to see that everything runs")
    chosen = parser.parse_args()
    if unknown := [name for name in chosen.names if name not in MEASURES]:
        parser.error(f"no measure is called {unknown[0]}")
    print(machine(), flush=True)
    for name in chosen.names or (MEASURES if chosen.all else SHORT):
        for figure in MEASURES[name](quick=chosen.quick):
            print(figure.line(), flush=True)


if __name__ == "__main__":
    main()
