"""The index that a run writes to: found, made or refused; and brought back in step after a crash."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import MappingProxyType

from everfind_core import __version__
from everfind_core.errors import IndexDamagedError, IndexIncompatibleError, IndexMissingError
from everfind_core.index_directory import (
    CATALOG,
    INDEXES,
    REBUILD_HINT,
    FolderCoverage,
    IndexCoverage,
    IndexLocation,
    Manifest,
    Recipe,
    create_index,
    current_index,
    make_current,
    read_location,
)
from everfind_core.model import FileState, Folder, ModelInfo
from everfind_core.ports import ChunkWriter
from everfind_indexer.catalog import Catalog

StoreOpener = Callable[[Path, int], ChunkWriter]


@dataclass(frozen=True, slots=True)
class Target:
    """An open index: where it lies, its store, and the catalog of its files."""

    location: IndexLocation
    store: ChunkWriter
    catalog: Catalog

    def generation(self) -> int:
        """The generation that readers see."""
        return self.location.generation_base + self.store.generation()

    def write_coverage(
        self,
        folders: Mapping[str, Folder],
        *,
        indexed_at: float | None = None,
        pending: Mapping[str, int] = MappingProxyType({}),
    ) -> IndexCoverage:
        """Publish what the catalog covers.

        ``folders`` are the configured ones; of others, what was known stays while they have files. ``pending`` files
        wait in these folders.
        """
        before = self.location.read_coverage()
        known = {f.folder.name: f.folder for f in before.folders} | dict(folders)
        waiting = {f.folder.name: f.coverage.pending for f in before.folders} | dict(pending)
        covered = []
        for name in sorted(
            {*self.catalog.folders(), *pending, *(f.folder.name for f in before.folders if f.folder.name in folders)}
        ):
            coverage, redactions = self.catalog.coverage(name)
            coverage = replace(coverage, pending=waiting.get(name, 0))
            covered.append(FolderCoverage(known.get(name, Folder(name, "")), coverage, redactions))
        after = IndexCoverage(tuple(covered), before.indexed_at if indexed_at is None else indexed_at)
        if after != before:
            self.location.write_coverage(after)
        return after


@contextlib.contextmanager
def open_target(
    index_directory: Path, recipe: Recipe, model: ModelInfo, open_store: StoreOpener, *, rebuild: bool
) -> Iterator[Target]:
    """The index to write to; a rebuilt one answers once the block ends without an error.

    Raises:
        IndexIncompatibleError: the current index has another recipe, and this is no rebuild.
        IndexDamagedError: the current index cannot be read, and this is no rebuild.
    """
    location, is_new = _location(index_directory, recipe, model, rebuild=rebuild)
    store = open_store(location.directory, model.dimensions)
    try:
        catalog = _open_catalog(location.directory / CATALOG)
        with contextlib.closing(catalog):
            target = Target(location, store, catalog)
            reconcile(target)
            if is_new and not rebuild:
                make_current(index_directory, location)
            yield target
    finally:
        store.close()
    if rebuild:
        make_current(index_directory, location)
    _remove_others(index_directory, location)


def reconcile(target: Target) -> None:
    """Bring the catalog back in step with the store.

    After a kill the store may be one commit ahead; after a power cut, or with a lost catalog, it may be anything.
    A file on which both do not agree gets a state that no stat matches, so the run reads it again.
    """
    generation = target.store.generation()
    if generation == target.catalog.generation():
        return
    stored = dict(target.store.chunk_counts())
    known = (s for folder in target.catalog.folders() for s in target.catalog.states(folder).values())
    doubtful = [
        _unknown(state)
        for state in known
        if stored.pop(state.ref, (0, state.content_hash)) != (state.chunks, state.content_hash)
    ]
    doubtful += [_unknown(FileState(ref, -1, 0, 0, 0, 0, "", count)) for ref, (count, _) in stored.items()]
    target.catalog.record(doubtful, generation=generation)


def check_recipe(found: Recipe, wanted: Recipe, place: Path) -> None:
    """Refuse to mix.

    Raises:
        IndexIncompatibleError: naming what differs.
    """
    for field in fields(Recipe):
        was, wants = getattr(found, field.name), getattr(wanted, field.name)
        if was != wants:
            raise IndexIncompatibleError(
                f"the index in {place} was made with {field.name} {was!r}, the settings now say {wants!r}",
                hint=REBUILD_HINT,
                details={"field": field.name, "found": str(was), "expected": str(wants)},
            )


def _location(index_directory: Path, recipe: Recipe, model: ModelInfo, *, rebuild: bool) -> tuple[IndexLocation, bool]:
    current: IndexLocation | None = None
    try:
        current = current_index(index_directory)
    except IndexMissingError:
        pass
    except (IndexDamagedError, IndexIncompatibleError):
        if not rebuild:
            raise
    if current and not rebuild:
        check_recipe(current.manifest.recipe, recipe, index_directory)
        return current, False
    if unfinished := _unfinished(index_directory, current, recipe):
        return unfinished, True
    return create_index(index_directory, Manifest(recipe, model, time.time(), __version__)), True


def _unfinished(index_directory: Path, current: IndexLocation | None, recipe: Recipe) -> IndexLocation | None:
    """A rebuild that was interrupted and can go on."""
    for directory in sorted(_directories(index_directory), reverse=True):
        if current and directory == current.directory:
            return None
        with contextlib.suppress(IndexDamagedError, IndexIncompatibleError):
            location = read_location(directory)
            if location and location.manifest.recipe == recipe:
                return location
    return None


def _remove_others(index_directory: Path, keep: IndexLocation) -> None:
    """Drop replaced and abandoned indexes; a reader that still looks at one turns to the current one."""
    for directory in _directories(index_directory):
        if directory != keep.directory:
            shutil.rmtree(directory, ignore_errors=True)


def _directories(index_directory: Path) -> list[Path]:
    parent = index_directory / INDEXES
    return [p for p in parent.iterdir() if p.name.isdecimal()] if parent.is_dir() else []


def _open_catalog(path: Path) -> Catalog:
    """The catalog; one that cannot be read is put aside, for the store knows enough to make it again."""
    try:
        return Catalog(path)
    except IndexDamagedError:
        path.replace(path.with_suffix(".damaged"))
        for leftover in ("-wal", "-shm"):
            path.with_name(path.name + leftover).unlink(missing_ok=True)
        return Catalog(path)


def _unknown(state: FileState) -> FileState:
    return FileState(state.ref, -1, 0, 0, 0, 0, "", state.chunks)
