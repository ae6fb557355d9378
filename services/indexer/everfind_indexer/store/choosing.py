"""Which library keeps a new index, and whether an index may stay with the one that it has."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from everfind_core.errors import ConfigError, IndexIncompatibleError
from everfind_core.index.manifest import REBUILD_HINT
from everfind_core.index.store_backends import StoreBackend, StoreChoice
from everfind_indexer.store import lance_problem


@dataclass(frozen=True, slots=True)
class Chosen:
    """What keeps a new index; ``notices`` tell a user who has not chosen it."""

    backend: StoreBackend
    notices: tuple[str, ...] = ()


def choose(choice: StoreChoice) -> Chosen:
    """What keeps an index that is about to be made.

    Raises:
        ConfigError: LanceDB is asked for and cannot be loaded.
    """
    if choice is StoreChoice.SQLITE:
        return Chosen(StoreBackend.SQLITE)
    problem = lance_problem()
    if not problem:
        return Chosen(StoreBackend.LANCEDB)
    if choice is StoreChoice.LANCEDB:
        raise ConfigError(
            f"store_backend is lancedb, which cannot be loaded here ({problem})", hint="Set it to `auto` or `sqlite`."
        )
    return Chosen(
        StoreBackend.SQLITE,
        (f"LanceDB cannot be loaded here ({problem}): this index is kept in SQLite, and answers the same",),
    )


def suits(backend: StoreBackend, choice: StoreChoice) -> bool:
    """Whether an index that is kept in ``backend`` may stay so."""
    return choice is StoreChoice.AUTO or choice.value == backend.value


def check_store(backend: StoreBackend, choice: StoreChoice, place: Path) -> None:
    """Refuse to write on to an index that is kept otherwise than asked for.

    Raises:
        IndexIncompatibleError: it is.
    """
    if not suits(backend, choice):
        raise IndexIncompatibleError(
            f"the index in {place} is kept in {backend.value}, store_backend asks for {choice.value}",
            hint=REBUILD_HINT,
            details={"field": "store", "found": backend.value, "expected": choice.value},
        )
