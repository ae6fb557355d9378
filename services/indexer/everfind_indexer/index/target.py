"""The index that a run writes to: found, made or refused; and brought back in step after a crash."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

from everfind_core.errors import IndexDamagedError, IndexIncompatibleError, IndexMissingError, StorageError
from everfind_core.index.directory import (
    FolderCoverage,
    IndexCoverage,
    IndexLocation,
    create_index,
    current_index,
    index_directories,
    make_current,
    read_location,
)
from everfind_core.index.manifest import Manifest, Recipe, check_recipe
from everfind_core.index.names import CATALOG, INDEXES
from everfind_core.index.store_backends import StoreChoice
from everfind_core.model import FileState, Folder, ModelInfo
from everfind_core.ports import ChunkWriter
from everfind_indexer.index.catalog import Catalog
from everfind_indexer.store.choosing import check_store, choose, suits

REPLACED = "replaced-"
"""Before the name of an index that is being removed."""

StoreOpener = Callable[[Path, int], ChunkWriter]


@dataclass(frozen=True, slots=True)
class Target:
    """An open index: where it lies, its store, and the catalog of its files.

    ``older`` is the store of the index that it replaces, where that one's vectors may be taken. ``notices`` are
    sentences for the user on how it was made.
    """

    location: IndexLocation
    store: ChunkWriter
    catalog: Catalog
    older: ChunkWriter | None = None
    notices: tuple[str, ...] = ()

    def generation(self) -> int:
        """The generation that readers see."""
        return self.location.generation_base + self.store.generation()

    def maintain(self, *, exact: bool = True) -> None:
        """Leave every search structure whole, and drop what only old versions need; ``exact`` as in the store."""
        self.store.maintain(finish=True, exact=exact)
        if self.store.generation() != self.catalog.generation():
            self.catalog.record([], generation=self.store.generation())

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


@dataclass(frozen=True, slots=True)
class Opening:
    """Which index to write to: the current one as it is, or one beside it.

    ``rebuild`` asks for a new one, with ``reuse`` of the vectors that the current one has; ``salvaged`` is one that is
    there, to be brought up to date. ``store`` is what an index is to be kept in.
    """

    rebuild: bool = False
    reuse: bool = False
    salvaged: IndexLocation | None = None
    store: StoreChoice = StoreChoice.AUTO

    @property
    def beside(self) -> bool:
        """Whether the current index answers until another takes its place."""
        return self.rebuild or self.salvaged is not None


AS_IT_IS = Opening()


@contextlib.contextmanager
def open_target(
    index_directory: Path,
    recipe: Recipe,
    model: ModelInfo,
    open_store: StoreOpener,
    how: Opening = AS_IT_IS,
) -> Iterator[Target]:
    """The index to write to; another than the current answers once the block ends well. Hold the writer's lock.

    Raises:
        IndexIncompatibleError: the current index has another recipe or store, and this is no rebuild.
        IndexDamagedError: the current index cannot be read, and this is no rebuild.
    """
    current = _current(index_directory, rebuild=how.beside)
    with contextlib.ExitStack() as stack:
        target: Target | None = None
        if how.salvaged is not None:
            target = _opened_if_whole(stack, how.salvaged, open_store)
        elif how.rebuild:
            fits = partial(_fits, recipe=recipe, choice=how.store)
            target = _resumed(stack, index_directory, current, fits, open_store)
        elif current:
            check_recipe(current.manifest.recipe, recipe, index_directory)
            check_store(current.manifest.store, how.store, index_directory)
            target = stack.enter_context(opened(current, open_store))
        if target is None:
            location, notices = _created(index_directory, recipe, model, how.store)
            target = replace(stack.enter_context(opened(location, open_store)), notices=notices)
        if how.beside:
            target = replace(target, location=counting_on(index_directory, target.location))
        else:
            make_current(index_directory, target.location)
        if how.reuse and current:
            target = replace(target, older=_older_store(stack, current, open_store))
        yield target
    if how.beside:
        make_current(index_directory, target.location)
    remove_others(index_directory, target.location)


def counting_on(index_directory: Path, location: IndexLocation) -> IndexLocation:
    """An index that is to take the place of all others, with generations that follow theirs."""
    others = [directory for directory in index_directories(index_directory) if directory != location.directory]
    try:
        return location.counting_from(max(map(_generation, others), default=0))
    except (IndexDamagedError, IndexIncompatibleError, StorageError):
        return location.counting_from(None)


def _generation(directory: Path) -> int:
    """The last generation of the index in ``directory``, as its catalog knows it; 0 where it is none yet.

    The store is not asked: it may be damaged, and who writes would make anew what is missing.
    """
    location = read_location(directory)
    if location is None:
        return 0
    with contextlib.closing(Catalog(directory / CATALOG, read_only=True)) as catalog:
        return location.generation_base + catalog.generation()


@contextlib.contextmanager
def opened(location: IndexLocation, open_store: StoreOpener) -> Iterator[Target]:
    """An index with its store and catalog, in step with each other. Hold the writer's lock."""
    with (
        contextlib.closing(open_store(location.directory, location.manifest.model.dimensions)) as store,
        contextlib.closing(_open_catalog(location.directory / CATALOG)) as catalog,
    ):
        target = Target(location, store, catalog)
        reconcile(target)
        yield target


def reconcile(target: Target) -> None:
    """Bring the catalog back in step with the store.

    After a kill the store may be one commit ahead; after a power cut, or with a lost catalog, it may be anything.
    A file on which both do not agree gets a state that no stat matches, so the run reads it again. What waits for
    vectors is what waits in the store, and documents' fates are those of its rows.
    """
    generation = target.store.generation()
    if generation == target.catalog.generation():
        return
    stored, unembedded = dict(target.store.chunk_counts()), target.store.unembedded()
    known = (s for folder in target.catalog.folders() for s in target.catalog.states(folder))
    doubtful: list[FileState] = []
    for state in known:
        if stored.pop(state.ref, (0, state.content_hash)) != (state.chunks, state.content_hash):
            doubtful.append(_unknown(state))
        elif state.unembedded != (waiting := unembedded.get(state.ref, 0)):
            doubtful.append(replace(state, unembedded=waiting))
    doubtful += [_unknown(FileState(ref, -1, 0, 0, 0, 0, "", count)) for ref, (count, _) in stored.items()]
    target.catalog.lives.correct(target.store.fates())
    target.catalog.record(doubtful, generation=generation)


def _current(index_directory: Path, *, rebuild: bool) -> IndexLocation | None:
    """The current index; None if there is none, or one that cannot be read and is to be replaced."""
    try:
        return current_index(index_directory)
    except IndexMissingError:
        return None
    except (IndexDamagedError, IndexIncompatibleError):
        if not rebuild:
            raise
        return None


def _created(
    index_directory: Path, recipe: Recipe, model: ModelInfo, choice: StoreChoice
) -> tuple[IndexLocation, tuple[str, ...]]:
    """A new index, empty, and what the user is told of the store that was chosen for it."""
    chosen = choose(choice)
    manifest = Manifest.new(recipe, model, chosen.backend)
    return create_index(index_directory, manifest), chosen.notices


def _fits(made: Manifest, *, recipe: Recipe, choice: StoreChoice) -> bool:
    """Whether an index of this manifest is what a run would make."""
    return made.recipe == recipe and suits(made.store, choice)


def _resumed(
    stack: contextlib.ExitStack,
    index_directory: Path,
    current: IndexLocation | None,
    fits: Callable[[Manifest], bool],
    open_store: StoreOpener,
) -> Target | None:
    """A rebuild beside ``current`` that was interrupted and can go on; one that cannot be opened is dropped."""
    newer = (d for d in index_directories(index_directory) if current and d.name > current.directory.name)
    for directory in reversed(list(newer)):
        with contextlib.suppress(IndexDamagedError, IndexIncompatibleError):
            location = read_location(directory)
            if location and fits(location.manifest):
                return _opened_if_whole(stack, location, open_store)
        shutil.rmtree(directory, ignore_errors=True)
    return None


def _opened_if_whole(stack: contextlib.ExitStack, location: IndexLocation, open_store: StoreOpener) -> Target | None:
    """An index that is not the current one; one that cannot be opened is dropped."""
    try:
        return stack.enter_context(opened(location, open_store))
    except (IndexDamagedError, IndexIncompatibleError, StorageError):
        shutil.rmtree(location.directory, ignore_errors=True)
        return None


def _older_store(stack: contextlib.ExitStack, location: IndexLocation, open_store: StoreOpener) -> ChunkWriter | None:
    """The store of an index that is about to be replaced; None if it cannot be opened."""
    try:
        return stack.enter_context(
            contextlib.closing(open_store(location.directory, location.manifest.model.dimensions))
        )
    except (IndexDamagedError, IndexIncompatibleError, StorageError):
        return None


def remove_others(index_directory: Path, keep: IndexLocation) -> None:
    """Drop replaced and abandoned indexes; a reader that still looks at one turns to the current one.

    Each gets another name first, so that whoever opens it meanwhile finds nothing: SQLite would put a file into the
    directory, which then stays. What a run leaves that dies meanwhile is dropped by the next.
    """
    for directory in index_directories(index_directory):
        if directory != keep.directory:
            with contextlib.suppress(OSError):
                directory.rename(directory.with_name(f"{REPLACED}{directory.name}"))
    for replaced in (index_directory / INDEXES).glob(f"{REPLACED}*"):
        shutil.rmtree(replaced, ignore_errors=True)


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
