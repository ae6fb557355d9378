"""Which library keeps an index's chunks: LanceDB, or SQLite where LanceDB cannot be loaded.

An index is kept by the one that made it, and its manifest names it. The setting says which one makes new indexes.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Final

from everfind_core.errors import IndexIncompatibleError


class StoreBackend(StrEnum):
    """What an index's chunks are kept in."""

    LANCEDB = "lancedb"
    SQLITE = "sqlite"


class StoreChoice(StrEnum):
    """What a user may ask for: one of both, or LanceDB unless it cannot be loaded."""

    AUTO = "auto"
    LANCEDB = "lancedb"
    SQLITE = "sqlite"


_PROCESSORS: Final = Path("/proc/cpuinfo")
_FIRST_PROCESSOR: Final = 8_192
"""Characters that say all of the first processor; the kernel makes the rest, of each one, only when it is read."""

_NEEDED: Final = ("avx2", "fma", "f16c", "bmi1", "bmi2", "abm", "movbe")
"""What LanceDB's builds for x86-64 use without asking (Haswell's): a process on another processor dies of SIGILL."""


def load_problem(load: Callable[[], object]) -> str:
    """Why LanceDB cannot be loaded here, in a few words; empty if ``load``, which imports it, did."""
    if lacking := _lacking():
        return f"the processor has no {lacking}"
    try:
        load()
    except Exception as error:  # a library that does not fit its surroundings raises whatever comes first
        return f"{type(error).__name__}: {error}".partition("\n")[0]
    return ""


def cannot_load(directory: Path, problem: str) -> IndexIncompatibleError:
    """The index in ``directory`` is kept by LanceDB, which cannot be loaded here."""
    return IndexIncompatibleError(
        f"the index in {directory} is kept in LanceDB, which cannot be loaded here ({problem})",
        hint="Run `everfind index --rebuild`: it makes a new index, kept in SQLite, and then swaps.",
        details={"field": "store", "found": StoreBackend.LANCEDB.value, "expected": StoreBackend.SQLITE.value},
    )


def _lacking() -> str:
    """The first instructions that this processor lacks; empty where it has all, or none can be told."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return ""
    try:
        with _PROCESSORS.open(encoding="ascii", errors="replace") as file:
            told = file.read(_FIRST_PROCESSOR)
    except OSError:
        return ""
    flags = next((line.partition(":")[2].split() for line in told.splitlines() if line.startswith("flags")), None)
    return "" if flags is None else next((one.upper() for one in _NEEDED if one not in flags), "")
