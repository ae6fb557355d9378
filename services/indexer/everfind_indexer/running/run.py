"""One index run over the chosen folders: discover, plan, look, embed, commit, prune, settle, maintain.

Where the index that answers has nothing yet of many files, a first pass takes them in by their words; see
:mod:`everfind_indexer.running.first_pass`.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice

from everfind_core.cancellation import Cancellation
from everfind_core.errors import EverfindError, FolderUnusableError, ModelUnusableError, UnavailableError
from everfind_core.model import (
    Calibration,
    FileState,
    Folder,
    FolderFinished,
    FolderStarted,
    IndexReport,
    IndexRequest,
    IndexStage,
    RunFinished,
)
from everfind_core.ports import Embedder, EventSink, FileChunks
from everfind_indexer.files.found import FoundFile
from everfind_indexer.index.target import Target
from everfind_indexer.index.vectors import VectorCache
from everfind_indexer.running.backlog import Backlog
from everfind_indexer.running.bookkeeping import Books
from everfind_indexer.running.calibrating import calibrate, is_due
from everfind_indexer.running.first_pass import FED_TOKENS, FirstPass, pays
from everfind_indexer.running.looking import Changed, Looker, Settled, Unreadable
from everfind_indexer.running.pipeline import Clock, Committed, Pipeline
from everfind_indexer.running.planning import Plan, outermost, plan
from everfind_indexer.running.preparing import Preparation, PreparedFile
from everfind_indexer.running.settling import settle_documents, with_noted_fate
from everfind_indexer.running.tally import Tally
from everfind_indexer.running.work import GROUP_FILES, FolderWork, in_groups
from everfind_indexer.running.workers import Workers
from everfind_indexer.sources import Sources

PRUNE_FILES = 1_000
RECORD_FILES = 1_000


@dataclass(frozen=True, slots=True)
class Resources:
    """What a run works with: the index, what is read and how rows are made of it, and who embeds.

    ``kept`` has vectors for reuse, where they are kept. At most ``concurrency`` batches are under way unless the
    request says another number. ``min_score`` is that of the settings.
    """

    target: Target
    sources: Sources
    how: Preparation
    embedder: Embedder
    workers: Workers
    kept: VectorCache | None
    concurrency: int
    min_score: float | None


class Run:
    """Brings a target up to date. One use, one thread.

    ``warnings`` are told with its own. ``answers`` says whether searches see the target while it is written.
    """

    def __init__(
        self,
        request: IndexRequest,
        resources: Resources,
        on_event: EventSink,
        cancel: Cancellation,
        *,
        warnings: Sequence[str] = (),
        answers: bool = True,
    ) -> None:
        self._request = request
        self._target = resources.target
        self._sources = resources.sources
        self._how = resources.how
        self._workers = resources.workers
        self._embedder = self._workers.embedder(resources.embedder)
        self._kept = None if request.force else resources.kept
        self._min_score = resources.min_score
        self._emit = on_event
        self._cancel = cancel
        self._clock = Clock()
        self._books = Books(self._target, self._sources, self._clock, on_event)
        self._books.warnings += warnings
        self._pipeline = self._opened_pipeline(request.concurrency or resources.concurrency)
        self._backlog = Backlog(self._target.store)
        self._finished = time.monotonic()
        self._below = outermost((request.below,) if request.below else request.paths)
        self._has_first_pass = answers and not (request.force or request.max_files)

    def _opened_pipeline(self, concurrency: int) -> Pipeline:
        # What an index had nothing of before cannot be looked up; equal texts within the run still are.
        reuse = not self._request.force and bool(self._target.catalog.folders())
        return Pipeline(
            self._target.store,
            self._embedder,
            on_commit=self._books.committed,
            cancel=self._cancel,
            clock=self._clock,
            reuse=reuse,
            kept=self._kept,
            older=self._target.older,
            concurrency=concurrency,
        )

    def folders(self, folders: Sequence[Folder]) -> IndexReport:
        """Do the run; what is committed before an error or a cancel stays."""
        try:
            with self._pipeline:
                self._all(folders)
        except EverfindError:
            with contextlib.suppress(EverfindError):  # the first error counts
                self._books.publish()
            raise
        if folders and not self._books.tallies:
            first = self._books.errors[0]
            raise FolderUnusableError(first.message, hint="Bring the directory back, or remove the folder.")
        self._prune()
        with self._clock.measure(IndexStage.STORE):
            settle_documents(self._target, self._how.vocabulary)
        with self._clock.measure(IndexStage.MAINTAIN):
            self._target.maintain(exact=not self._request.paths)
            self._keep_vectors()
        report = self._books.close([folder.name for folder in folders], self._below)
        calibration = self._calibrated()
        finished = replace(report, calibration=calibration, warnings=tuple(self._books.warnings))
        self._emit(RunFinished(finished))
        return finished

    def _all(self, folders: Sequence[Folder]) -> None:
        ahead = self._ahead(folders) if self._has_first_pass else {}
        for position, folder in enumerate(folders, start=1):
            self._cancel.check()
            self._emit(FolderStarted(position, len(folders), folder.name, folder.root))
            try:
                self._folder(folder, ahead.get(folder.name) or self._plan(folder))
            except FolderUnusableError as error:
                if self._request.folders:
                    raise
                self._books.unusable(folder, error)

    # --- the first pass -----------------------------------------------------------------------------------------------

    def _ahead(self, folders: Sequence[Folder]) -> dict[str, FolderWork]:
        """Plan for folders of which the index has nothing, or not all vectors; take them in if that is much."""
        works: dict[str, FolderWork] = {}
        for folder in folders:
            covered, _ = self._target.catalog.coverage(folder.name)
            if not covered.files or covered.unembedded:
                with contextlib.suppress(FolderUnusableError):  # told of when its turn comes
                    works[folder.name] = self._plan(folder)
        if all(work.has_words for work in works.values()):
            for work in works.values():
                if work.waiting:
                    self._emit(work.skip_words())
        if pays([file for work in works.values() for file in work.waiting]):
            self._take_in(works)
        return works

    def _take_in(self, works: Mapping[str, FolderWork]) -> None:
        """Commit all new files without waiting for vectors; embedding goes on beside it, so that no time is lost."""
        pass_ = FirstPass(
            self._target.store, self._pipeline.known, lambda files: self._first_committed(files, works), self._clock
        )
        for work in works.values():
            work.begin()
        for work in works.values():
            new = [file for file in work.files if file.path not in work.looker.known]
            for group in in_groups(self._changed(work.looker, new, work.tally)):
                pass_.add(group)
                self._feed()
            pass_.finish()
        self._books.publish()
        self._pipeline.finish()  # rows that are under way would take back what documents are given now
        with self._clock.measure(IndexStage.STORE):
            settle_documents(self._target, self._how.vocabulary)
        self._books.publish()
        for work in works.values():
            work.end(self._backlog)

    def _first_committed(self, files: list[PreparedFile], works: Mapping[str, FolderWork]) -> None:
        self._books.record(files)
        for file in files:
            work = works[file.state.ref.folder]
            work.first.count(file)
            if not file.state.unembedded:
                self._books.done(Committed(file, embedded=0, reused=len(file.rows), tokens=0, context_tokens=0))
                continue
            self._backlog.add(file)
            if not self._backlog.remembers(file.state.ref):
                work.looker.known[file.state.ref.path] = file.state
        self._books.keep_up()
        for name in dict.fromkeys(file.state.ref.folder for file in files):
            self._emit(works[name].first.progress())

    def _feed(self) -> None:
        """Let the embedder never be idle."""
        while self._pipeline.has_room() and (refs := self._backlog.first(FED_TOKENS)):
            self._pipeline.add(self._backlog.take(refs), wait=False)

    # --- one folder ---------------------------------------------------------------------------------------------------

    def _plan(self, folder: Folder) -> FolderWork:
        request, catalog = self._request, self._target.catalog
        below = self._below
        tally = Tally(folder.name)
        with self._clock.measure(IndexStage.DISCOVER):
            found = self._sources.discover(folder, below=below, cancel=self._cancel)
            todo = plan(found.files, catalog.states(folder.name, below), force=request.force)
        self._books.warnings += found.warnings
        files = self._within_limit(todo)
        tally.todo, tally.postponed, tally.unchanged = len(files), len(todo.read) - len(files), todo.unchanged
        self._books.tallies[folder.name] = tally
        self._books.publish()  # hits of this folder must find its root
        looker = Looker(folder, dict(todo.known), self._how, self._sources.sizes, request.force, self._clock)
        return FolderWork(looker, list(files), tally, todo.gone, found.skipped, below)

    def _folder(self, folder: Folder, work: FolderWork) -> None:
        catalog, tally = self._target.catalog, work.tally
        for group in self._prepared(work):
            self._pipeline.add(group)
        self._pipeline.finish()
        self._books.forget_later(tally, self._books.surely_gone(work.gone, work.skipped))
        catalog.record_left_out(folder.name, work.skipped, below=work.below)
        skipped = catalog.skipped(folder.name, work.below)
        deleted = 0 if tally.pending else tally.deleted
        self._emit(
            FolderFinished(
                folder.name, tally.indexed, tally.unchanged, deleted, skipped, tally.chunks, self._since_last()
            )
        )

    def _since_last(self) -> float:
        """Seconds since the folder before was finished, so that those of all folders add up to the run's."""
        before, self._finished = self._finished, time.monotonic()
        return self._finished - before

    def _within_limit(self, todo: Plan) -> Sequence[FoundFile]:
        if not self._request.max_files:
            return todo.read
        return todo.first(max(0, self._request.max_files - sum(t.indexed for t in self._books.tallies.values())))

    def _prepared(self, work: FolderWork) -> Iterator[list[PreparedFile]]:
        """Groups of what must be embedded: what the first pass remembers as it is, the rest looked at."""
        for remembered, files in groupby(work.files, lambda file: self._backlog.remembers(work.ref(file))):
            if not remembered:
                yield from in_groups(self._changed(work.looker, files, work.tally))
                continue
            while part := [work.ref(file) for file in islice(files, GROUP_FILES)]:
                yield self._backlog.take(part)

    def _changed(self, looker: Looker, files: Iterable[FoundFile], tally: Tally) -> Iterator[PreparedFile]:
        """Files that the store must take; what needs no commit there is recorded on the way."""
        settled: list[FileState] = []
        for outcome in self._workers.look(looker, files, self._cancel):
            self._cancel.check()
            if isinstance(outcome, Changed):
                self._books.note(outcome.file.state)
                yield with_noted_fate(outcome.file, self._target.catalog.lives)
                continue
            tally.done += 1
            if isinstance(outcome, Settled):
                tally.unchanged += outcome.same and outcome.state.skip is None
                self._books.note(outcome.state)
                settled.append(outcome.state)
            elif isinstance(outcome, Unreadable):
                self._books.note(outcome.state)
            elif outcome.state is not None:
                self._books.forget_later(tally, [outcome.state])
            if len(settled) >= RECORD_FILES:
                self._target.catalog.record(settled)
                settled.clear()
        self._target.catalog.record(settled)

    # --- the end ------------------------------------------------------------------------------------------------------

    def _prune(self) -> None:
        """Forget what is gone, last: a moved file finds its vectors under the old name first.

        While files wait, nothing is forgotten: what is gone may be one of them under its old name.
        """
        if any(tally.pending for tally in self._books.tallies.values()):
            for tally in self._books.tallies.values():
                tally.deleted = 0
            return
        if self._books.gone:
            self._books.publish()
        for start in range(0, len(self._books.gone), PRUNE_FILES):
            part = self._books.gone[start : start + PRUNE_FILES]
            with self._clock.measure(IndexStage.STORE):
                self._target.store.replace([FileChunks(state.ref) for state in part if state.chunks])
            refs = [state.ref for state in part]
            self._target.catalog.record([], refs, generation=self._target.store.generation())

    def _calibrated(self) -> Calibration | None:
        """The model's noise, if it was to be measured; a run never fails for it."""
        if not is_due(self._target):
            return None
        try:
            return calibrate(self._target, self._embedder, self._min_score, self._cancel)
        except (ModelUnusableError, UnavailableError) as error:
            self._books.warnings.append(f"the model's noise could not be measured: {error.message}")
            return None

    def _keep_vectors(self) -> None:
        """Now and then, say that the index still uses its vectors: what it drops later is kept from then on."""
        if self._kept is None:
            return
        if time.time() >= self._target.catalog.fact("renewed") + self._kept.renewal_seconds:
            self._kept.renew(self._target.store.embedding_keys())
            self._target.catalog.set_fact("renewed", int(time.time()))
        self._kept.tidy()
        self._books.warnings += self._kept.warnings
