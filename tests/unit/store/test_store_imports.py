"""What must be loaded before several threads need it."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["everfind_searcher.store.reader", "everfind_indexer.store.writer"])
def test_what_arrow_loads_at_its_first_array_is_there_before(module: str) -> None:
    """Of two threads that are the first to ask numpy for ``numpy.ma`` one can end in a RecursionError."""
    program = f"import sys, {module}; sys.exit('numpy.ma' not in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=240)
