"""What changes an index: a run over its folders, and forgetting one. Reading files needs none of this loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from everfind_core.cancellation import Cancellation
from everfind_core.errors import FolderNotFoundError, IndexDamagedError, IndexMissingError
from everfind_core.index.archive import Header
from everfind_core.index.directory import check_place, current_index
from everfind_core.index.manifest import Recipe, check_recipe, is_upgrade
from everfind_core.index.published import KEPT_SECONDS
from everfind_core.model import Calibration, Folder, IndexReport, IndexRequest, ModelInfo
from everfind_core.ports import Chunker, Embedder, EventSink
from everfind_indexer.extractors import Extraction
from everfind_indexer.index.importing import import_index
from everfind_indexer.index.lock import writer_lock
from everfind_indexer.index.repairing import Salvage, salvage
from everfind_indexer.index.target import Opening, StoreOpener, Target, open_target, opened
from everfind_indexer.index.vectors import VectorCache
from everfind_indexer.running.calibrating import calibrate
from everfind_indexer.running.recipes import preparation, recipe_of
from everfind_indexer.running.run import Resources, Run
from everfind_indexer.running.settling import settle_documents
from everfind_indexer.running.workers import Workers, WorkersOpener, in_process
from everfind_indexer.settings import IndexerSettings
from everfind_indexer.sources import Sources

UPGRADED = "an older everfind made the index otherwise: it was made anew, with the vectors of texts that stay the same"

DEFAULT_CONCURRENCY = 2
"""Batches under way: while one waits for its last texts, the next keeps the embedder's threads busy."""


@dataclass(frozen=True, slots=True)
class Writing:
    """What it takes to write one workspace's index. ``added`` gives the folders as they are when it is asked."""

    settings: IndexerSettings
    sources: Sources
    embedder: Embedder
    chunker: Chunker
    open_store: StoreOpener
    added: Callable[[], Sequence[Folder]]
    open_workers: WorkersOpener = in_process

    def index(
        self, request: IndexRequest, folders: Sequence[Folder], on_event: EventSink, cancel: Cancellation
    ) -> IndexReport:
        """Bring ``folders`` up to date; see :meth:`everfind_core.ports.Indexer.index`."""
        directory = self.settings.index_directory
        check_place(directory)
        model = self.embedder.model()
        recipe = recipe_of(self.settings, self.chunker, model)
        with Extraction() as extraction, self._writing(wait=request.wait, cancel=cancel):
            folders = self._still_added(request, folders)
            found = salvage(directory, recipe) if request.repair else Salvage(())
            upgrade = not request.rebuild and not found.damage and self._upgrades(recipe)
            if upgrade:  # an index made anew has all folders, whatever was asked for
                request, folders = replace(request, folders=(), below="", paths=(), max_files=0), self.added()
            how = self._opening(request, found, upgrade=upgrade)
            with (
                self.open_workers(self.settings) as workers,
                open_target(directory, recipe, model, self.open_store, how) as target,
                self._kept_vectors(model) as kept,
            ):
                resources = self._resources(target, workers, kept, extraction)
                warnings = (*((UPGRADED,) if upgrade else found.damage), *target.notices)
                answers = not how.beside
                return Run(request, resources, on_event, cancel, warnings=warnings, answers=answers).folders(folders)

    def _resources(
        self, target: Target, workers: Workers, kept: VectorCache | None, extraction: Extraction
    ) -> Resources:
        return Resources(
            target,
            self.sources,
            preparation(self.settings, self.embedder, self.chunker, extraction),
            self.embedder,
            workers,
            kept,
            concurrency=max(self.settings.concurrency or DEFAULT_CONCURRENCY, workers.slots + 1),
            min_score=self.settings.min_score,
        )

    def _opening(self, request: IndexRequest, found: Salvage, *, upgrade: bool) -> Opening:
        """Which index the run writes to; with ``upgrade`` a new one in place of an older everfind's."""
        lost = bool(found.damage) and found.location is None
        return Opening(
            rebuild=request.rebuild or upgrade or lost,
            reuse=upgrade and not request.force,
            salvaged=found.location,
            store=self.settings.store,
        )

    def _upgrades(self, recipe: Recipe) -> bool:
        """Whether the index is of an older everfind and can be made anew without asking: each of its folders is there.

        Raises:
            IndexIncompatibleError: it is of a newer one.
        """
        try:
            location = current_index(self.settings.index_directory)
            covered = {one.folder.name for one in location.read_coverage().folders if one.coverage.files}
        except (IndexMissingError, IndexDamagedError):
            return False
        if not is_upgrade(location.manifest, recipe, self.settings.index_directory):
            return False
        return covered <= {folder.name for folder in self.added() if self.sources.usable(folder)}

    def _still_added(self, request: IndexRequest, folders: Sequence[Folder]) -> Sequence[Folder]:
        """Those of ``folders`` that were not removed while the run waited for the lock."""
        names = {folder.name for folder in self.added()}
        gone = [folder.name for folder in folders if folder.name not in names]
        if gone and request.folders:
            raise FolderNotFoundError(f"folder {gone[0]!r} was removed meanwhile", hint="See `everfind list`.")
        return [folder for folder in folders if folder.name in names]

    def forget_folder(
        self,
        name: str,
        *,
        purge: bool,
        wait: bool = True,
        cancel: Cancellation | None = None,
        forgotten: Callable[[], None] = lambda: None,
    ) -> int:
        """Remove a folder's chunks; gives the number of files. ``forgotten`` is called before the next may write."""
        with self._writing(wait=wait, cancel=cancel, purge=purge):
            count = self._forget(name, purge=purge)
            forgotten()
            return count

    def _forget(self, name: str, *, purge: bool) -> int:
        try:
            location = current_index(self.settings.index_directory)
        except IndexMissingError:
            return 0
        with opened(location, self.open_store) as target, self._kept_vectors(location.manifest.model) as kept:
            if purge and kept:
                kept.forget(target.store.embedding_keys(name))
            target.store.delete_folder(name)
            forgotten = target.catalog.forget_folder(name)
            settle_documents(target, self.settings.vocabulary)
            target.maintain()
            if purge:
                target.store.purge()
            target.write_coverage({f.name: f for f in self.settings.folders if f.name != name})
            return forgotten

    def import_archive(self, source: Path, *, overwrite: bool, cancel: Cancellation) -> Header:
        """See :meth:`everfind_indexer.engine.IndexEngine.import_archive`."""
        directory = self.settings.index_directory
        check_place(directory)
        recipe = recipe_of(self.settings, self.chunker, self.embedder.model())
        with self._writing(cancel=cancel):
            store = self.settings.store
            return import_index(
                directory, source, self.added(), recipe, self.open_store, store=store, overwrite=overwrite
            )

    @contextmanager
    def _writing(self, *, wait: bool = True, cancel: Cancellation | None = None, purge: bool = False) -> Iterator[None]:
        """Hold the writer's lock for the block, and where that ends well publish what there is then."""
        directory, place = self.settings.index_directory, self.settings.publish
        with writer_lock(directory, wait=wait, cancel=cancel):
            if place is None:
                yield
                return
            from everfind_indexer.index.publishing import Publisher  # not loaded where nothing is published

            publisher = Publisher(directory, place)
            publisher.before()  # what cannot be published is said before it is made
            yield
            publisher.publish(cancel, kept_seconds=0.0 if purge else KEPT_SECONDS)

    @contextmanager
    def _kept_vectors(self, model: ModelInfo) -> Iterator[VectorCache | None]:
        if self.settings.kept_vectors is None:
            yield None
            return
        with closing(VectorCache(self.settings.kept_vectors, model.identity, model.dimensions)) as kept:
            yield kept

    def calibrate(self, cancel: Cancellation) -> Calibration | None:
        """Measure the model's noise on the index that answers now; None if it has too few chunks."""
        directory = self.settings.index_directory
        location = current_index(directory)
        recipe = recipe_of(self.settings, self.chunker, self.embedder.model())
        check_recipe(location.manifest.recipe, recipe, directory)
        with self._writing(cancel=cancel), opened(location, self.open_store) as target:
            return calibrate(target, self.embedder, self.settings.min_score, cancel)
