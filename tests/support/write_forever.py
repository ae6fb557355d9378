"""A writer process for the fault tests: ``python -m tests.support.write_forever DIRECTORY FIRST_TURN STORE``.

Replaces pairs of files for ever; every chunk of a pair carries the number of the turn that wrote it.
"""

from __future__ import annotations

import random
import sys
from itertools import count
from pathlib import Path

from everfind_core.index.store_backends import StoreBackend
from everfind_core.ports import FileChunks
from everfind_indexer.store import maintenance, open_writer
from everfind_indexer.store.sqlite import upkeep
from tests.support.store_samples import DIMENSIONS, file

PAIRS = 6
CHUNKS = 8


def pair(number: int, turn: int) -> list[FileChunks]:
    """Both files of a pair as turn ``turn`` writes them."""
    return [
        file(
            "f",
            f"{number}{side}",
            *(f"common turn{turn} chunk{n} {number}{side}" for n in range(CHUNKS)),
            tag=f"{turn}",
        )
        for side in "ab"
    ]


def main(directory: Path, first_turn: int, kind: StoreBackend) -> None:
    """Write until killed; say so on stdout once it begins."""
    upkeep.FIRST_JOIN_ROWS = 40  # type: ignore[misc]  # as below
    upkeep.SMALL_FRAGMENTS = 3  # type: ignore[misc]
    maintenance.FIRST_SEGMENT_ROWS = 40  # type: ignore[misc]  # so that a short test sees segments and merges
    maintenance.SMALL_FRAGMENTS = 3  # type: ignore[misc]
    choose = random.Random(first_turn)
    writer = open_writer(directory, DIMENSIONS, kind)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for turn in count(first_turn):
        writer.replace(pair(choose.randrange(PAIRS), turn))
        writer.maintain(finish=turn % 3 == 0, exact=turn % 2 == 0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), StoreBackend(sys.argv[3]))
