"""What LanceDB's library says to its developers reaches no user of the command, of `serve` or of `mcp`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from everfind_core.ports import ChunkWriter
from tests.support.store_samples import file

ASK = """
import os, sys
from pathlib import Path
from everfind_core.model import Filters
from everfind_searcher.store import open_reader
reader = open_reader(Path(sys.argv[1]))
print(len(reader.naming(["alpha"], 5, Filters())), len(reader.lexical(["beta"], 5, Filters())), os.environ["LANCE_LOG"])
"""


@pytest.mark.parametrize("level", ["", "warn"])
def test_a_search_prints_nothing_of_the_library_s(directory: Path, writer: ChunkWriter, level: str) -> None:
    """It sets its level when it is imported, which only the store's packages do; nor is there anything to warn of."""
    writer.replace([file("f", "a", "alpha beta", names="alpha")])
    writer.maintain(finish=True)
    env = {name: value for name, value in os.environ.items() if name != "LANCE_LOG"} | (
        {"LANCE_LOG": level} if level else {}
    )
    ran = subprocess.run(
        [sys.executable, "-c", ASK, str(directory)], env=env, capture_output=True, text=True, check=False
    )
    assert (ran.stdout, ran.stderr) == (f"1 1 {level or 'error'}\n", "")
