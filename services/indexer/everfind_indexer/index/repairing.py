"""Finds damage to an index by reading all of it, and takes what is whole into a new one beside it.

A run over the new one then indexes again what is missing, with vectors that are kept, and it takes the damaged one's
place when all is done. Whatever ends a repair early leaves the damaged index as it was.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from everfind_core.errors import EverfindError, IndexDamagedError, IndexMissingError
from everfind_core.index.directory import (
    IndexLocation,
    adopt_index,
    current_index,
    index_directories,
    missing,
    read_location,
)
from everfind_core.index.json_files import storage_error
from everfind_core.index.manifest import Recipe, check_recipe
from everfind_core.index.names import CALIBRATION, CATALOG, COVERAGE, INDEXES
from everfind_core.index.store_schema import TABLE_DIRECTORY
from everfind_core.index.written_files import WRITTEN, WrittenFiles, read_written
from everfind_core.model import HealthFinding, Severity
from everfind_indexer.index.catalog import Catalog
from everfind_indexer.store.kinds import salvage_table, table_damage

SALVAGE = "salvage"
"""Where the new index is put together, until it is one."""

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Salvage:
    """``damage`` in one sentence a file; ``location`` has what was whole, None if nothing was."""

    damage: tuple[str, ...]
    location: IndexLocation | None = None


def examine(location: IndexLocation) -> list[str]:
    """What is damaged in an index, of which each byte is read: one sentence a file."""
    directory = location.directory
    found: list[str] = []
    for read in (location.read_coverage, location.read_calibration):
        with _noting(found):
            read()
    if problem := _catalog_problem(directory):
        found.append(f"{directory / CATALOG} {problem}")
    written: WrittenFiles | None = None
    with _noting(found):
        written = read_written(directory)
        if written is None and (directory / TABLE_DIRECTORY).exists():
            found.append(f"{directory / WRITTEN} is absent: nothing says what the table's files should hold")
    with _noting(found):
        damage = table_damage(directory, location.manifest.store, written)
        found += [f"{directory / name} {problem}" for name, problem in damage]
    return found


def findings_of(location: IndexLocation) -> list[HealthFinding]:
    """The same as findings of a health check, the first of many.

    Raises:
        IndexMissingError: another index took its place meanwhile.
    """
    damage = examine(location)
    if damage and not location.directory.is_dir():
        raise missing(location.directory)
    if not damage:
        return [HealthFinding("damage", Severity.OK, "each byte of the index is as it was written")]
    hint = "Run `everfind doctor --repair`."
    found = [HealthFinding("damage", Severity.ERROR, sentence, hint) for sentence in damage[:_SHOWN]]
    if (more := len(damage) - _SHOWN) > 0:
        found.append(HealthFinding("damage", Severity.ERROR, f"{more:,} more files are damaged", hint))
    return found


def salvage(index_directory: Path, recipe: Recipe) -> Salvage:
    """Look for damage, and where there is some, put a new index together of what is whole. Hold the writer's lock.

    Raises:
        IndexIncompatibleError: the index has another recipe, or a newer everfind made it.
        StorageError: the directory cannot be written.
    """
    found: list[str] = []
    location: IndexLocation | None = None
    try:
        location = current_index(index_directory)
    except IndexMissingError:
        location = _likeliest(index_directory)
        found += [f"nothing says which index of {index_directory} is current"] if location else []
    except IndexDamagedError as error:
        location = _likeliest(index_directory)
        found.append(error.message)
    if location is None:
        return Salvage(tuple(found))
    check_recipe(location.manifest.recipe, recipe, index_directory)
    found += examine(location)
    if not found:
        return Salvage(())
    try:
        return Salvage(tuple(found), _taken_over(index_directory, location))
    except OSError as error:
        raise storage_error(error, index_directory) from error


def _likeliest(index_directory: Path) -> IndexLocation | None:
    """The index that answered, where the pointer to it is lost: the newest that a run has finished, or the newest."""
    readable = []
    for directory in reversed(index_directories(index_directory)):
        with contextlib.suppress(IndexDamagedError):
            if location := read_location(directory):
                readable.append(location)
    return next((one for one in readable if _is_finished(one)), readable[0] if readable else None)


def _is_finished(location: IndexLocation) -> bool:
    try:
        return location.read_coverage().indexed_at > 0
    except IndexDamagedError:
        return False


def _taken_over(index_directory: Path, damaged: IndexLocation) -> IndexLocation | None:
    scratch = index_directory / INDEXES / SALVAGE
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(mode=0o700)
    written: WrittenFiles | None = None
    with contextlib.suppress(IndexDamagedError):
        written = read_written(damaged.directory)
    version = salvage_table(damaged.directory, scratch, damaged.manifest.store, written)
    if not version:
        shutil.rmtree(scratch)
        return None
    _take_catalog(damaged.directory / CATALOG, scratch / CATALOG, version)
    for name, read in ((COVERAGE, damaged.read_coverage), (CALIBRATION, damaged.read_calibration)):
        with contextlib.suppress(IndexDamagedError):
            if read() is not None and (damaged.directory / name).exists():
                shutil.copyfile(damaged.directory / name, scratch / name)
    return adopt_index(index_directory, scratch, damaged.manifest)


def _take_catalog(source: Path, target: Path, version: int) -> None:
    """A copy of a sound catalog that takes nothing for granted; none of another: the store knows enough to make one."""
    if _catalog_problem(source.parent):
        return
    with contextlib.closing(Catalog(source)) as catalog:
        catalog.copy_to(target)
        known = catalog.generation()
    with contextlib.closing(Catalog(target)) as copy:
        copy.doubt(fates=known != version)


def _catalog_problem(directory: Path) -> str:
    path = directory / CATALOG
    if not path.exists():
        return "is absent"
    try:
        with contextlib.closing(Catalog(path, read_only=True)) as catalog:
            return catalog.problem()
    except EverfindError:
        return "cannot be read"


@contextlib.contextmanager
def _noting(found: list[str]) -> Iterator[None]:
    try:
        yield
    except IndexDamagedError as error:
        found.append(error.message)
