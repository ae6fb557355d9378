"""One index run over the chosen folders: discover, plan, look, embed, commit, prune, settle, maintain."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from everfind_core.cancellation import Cancellation
from everfind_core.errors import FolderUnusableError, ModelUnusableError, UnavailableError
from everfind_core.model import (
    Calibration,
    FileFailed,
    FileProcessed,
    FileRef,
    FileState,
    Folder,
    FolderFinished,
    FolderStarted,
    IndexReport,
    IndexRequest,
    IndexStage,
    RunFinished,
    SkippedFile,
    SkipReason,
)
from everfind_core.ports import Embedder, EventSink, FileChunks
from everfind_indexer.calibrating import calibrate, is_due
from everfind_indexer.found import FoundFile
from everfind_indexer.looking import Changed, Looker, Settled, Unreadable
from everfind_indexer.pipeline import Clock, Committed, Pipeline
from everfind_indexer.planning import outermost, plan
from everfind_indexer.preparing import Preparation, PreparedFile
from everfind_indexer.settling import settle_documents
from everfind_indexer.sources import Sources
from everfind_indexer.tally import Tally, report
from everfind_indexer.target import Target
from everfind_indexer.vectors import VectorCache

GROUP_FILES = 32
GROUP_CHARACTERS = 500_000
PRUNE_FILES = 1_000
RECORD_FILES = 1_000
COVERAGE_SECONDS = 2.0

_WORTH_A_WORD = frozenset(
    {
        SkipReason.UNREADABLE,
        SkipReason.EXTRACTION_FAILED,
        SkipReason.NO_TEXT,
        SkipReason.ENCRYPTED,
        SkipReason.OVER_LIMIT,
    }
)


class Run:
    """Brings a target up to date. One use, one thread."""

    def __init__(
        self,
        request: IndexRequest,
        target: Target,
        sources: Sources,
        how: Preparation,
        embedder: Embedder,
        *,
        kept: VectorCache | None,
        concurrency: int,
        min_score: float | None,
        on_event: EventSink,
        cancel: Cancellation,
        warnings: Sequence[str] = (),
    ) -> None:
        self._request = request
        self._target = target
        self._sources = sources
        self._how = how
        self._embedder = embedder
        self._kept = None if request.force else kept
        self._concurrency = request.concurrency or concurrency
        # What an index had nothing of before cannot be looked up; equal texts within the run still are.
        self._reuse = not request.force and bool(target.catalog.folders())
        # A run before this one may have ended between its last commit and its end.
        before = target.location.read_coverage().folders
        self._unsettled = frozenset(f.folder.name for f in before if f.coverage.pending)
        self._min_score = min_score
        self._emit = on_event
        self._cancel = cancel
        self._clock = Clock()
        self._started = time.perf_counter()
        self._tallies: dict[str, Tally] = {}
        self._gone: list[FileState] = []
        self._errors: list[SkippedFile] = []
        self._warnings: list[str] = list(warnings)
        self._coverage_due = 0.0

    def folders(self, folders: Sequence[Folder]) -> IndexReport:
        """Do the run; what is committed before an error or a cancel stays."""
        for position, folder in enumerate(folders, start=1):
            self._cancel.check()
            self._emit(FolderStarted(position, len(folders), folder.name, folder.root))
            try:
                self._folder(folder)
            except FolderUnusableError as error:
                if self._request.folders:
                    raise
                self._unusable(folder, error)
        if folders and not self._tallies:
            raise FolderUnusableError(self._errors[0].message, hint="Bring the directory back, or remove the folder.")
        self._prune()
        with self._clock.measure(IndexStage.STORE):
            settle_documents(self._target, self._how.vocabulary)
        with self._clock.measure(IndexStage.MAINTAIN):
            self._target.maintain(exact=not self._request.paths)
            self._keep_vectors()
        finished = replace(self._report([folder.name for folder in folders]), calibration=self._calibrated())
        self._emit(RunFinished(finished))
        return finished

    # --- one folder ---------------------------------------------------------------------------------------------------

    def _folder(self, folder: Folder) -> None:
        request, catalog = self._request, self._target.catalog
        below = outermost((request.below,) if request.below else request.paths)
        tally = Tally(folder.name)
        with self._clock.measure(IndexStage.DISCOVER):
            found = self._sources.discover(folder, below=below, cancel=self._cancel)
            todo = plan(found.files, catalog.states(folder.name, below), force=request.force)
        self._warnings += found.warnings
        files = self._within_limit(todo.read)
        tally.todo, tally.postponed, tally.unchanged = len(files), len(todo.read) - len(files), todo.unchanged
        self._tallies[folder.name] = tally
        self._publish()  # hits of this folder must find its root
        sizes = self._sources.sizes
        self._process(Looker(folder, todo.known, self._how, sizes, request.force, self._clock), files, tally)
        self._forget_later(tally, self._surely_gone(todo.gone, found.skipped))
        catalog.record_left_out(folder.name, found.skipped, below=below)
        skipped = catalog.coverage(folder.name)[0].skipped
        deleted = 0 if tally.pending else tally.deleted
        self._emit(
            FolderFinished(folder.name, tally.indexed, tally.unchanged, deleted, skipped, tally.chunks, tally.seconds)
        )

    def _unusable(self, folder: Folder, error: FolderUnusableError) -> None:
        """One folder that is not there does not end the run, and loses nothing."""
        self._warnings.append(f"{error.message}; its chunks stay as they are")
        self._errors.append(SkippedFile(FileRef(folder.name, ""), SkipReason.UNREADABLE, error.message))

    def _within_limit(self, files: Sequence[FoundFile]) -> Sequence[FoundFile]:
        if not self._request.max_files:
            return files
        return files[: max(0, self._request.max_files - sum(t.indexed for t in self._tallies.values()))]

    def _process(self, looker: Looker, files: Sequence[FoundFile], tally: Tally) -> None:
        with Pipeline(
            self._target.store,
            self._embedder,
            on_commit=lambda committed: self._committed(committed, tally),
            cancel=self._cancel,
            clock=self._clock,
            reuse=self._reuse,
            kept=self._kept,
            older=self._target.older,
            concurrency=self._concurrency,
        ) as pipeline:
            for group in _groups(self._changed(looker, files, tally)):
                pipeline.add(group)
            pipeline.finish()

    def _changed(self, looker: Looker, files: Sequence[FoundFile], tally: Tally) -> Iterator[PreparedFile]:
        """Files that the store must take; what needs no commit there is recorded on the way."""
        settled: list[FileState] = []
        for file in files:
            self._cancel.check()
            outcome = looker.look(file)
            if isinstance(outcome, Changed):
                self._note(outcome.file.state)
                yield outcome.file
                continue
            tally.done += 1
            if isinstance(outcome, Settled):
                tally.unchanged += outcome.same and outcome.state.skip is None
                self._note(outcome.state)
                settled.append(outcome.state)
            elif isinstance(outcome, Unreadable):
                self._note(outcome.state)
            elif outcome.state is not None:
                self._forget_later(tally, [outcome.state])
            if len(settled) >= RECORD_FILES:
                self._target.catalog.record(settled)
                settled.clear()
        self._target.catalog.record(settled)

    def _surely_gone(self, gone: Sequence[FileState], skipped: Sequence[SkippedFile]) -> list[FileState]:
        """Without what lies in directories that cannot be listed now; those are told of."""
        closed = [s for s in skipped if s.reason is SkipReason.UNREADABLE]
        self._errors += closed
        for one in closed:
            self._emit(FileFailed(one))
        inside = tuple(one.ref.path.removesuffix("/") + "/" for one in closed)
        return [state for state in gone if not f"{state.ref.path}/".startswith(inside)]

    def _forget_later(self, tally: Tally, gone: Sequence[FileState]) -> None:
        tally.deleted += sum(state.skip is None for state in gone)
        self._gone += gone

    def _note(self, state: FileState) -> None:
        """Tell of a file that was left out for a reason that a user may want to act on."""
        if state.skip is not None and state.skip in _WORTH_A_WORD:
            failed = SkippedFile(state.ref, state.skip, state.message)
            self._errors.append(failed)
            self._emit(FileFailed(failed))

    # --- commits ------------------------------------------------------------------------------------------------------

    def _committed(self, files: Sequence[Committed], tally: Tally) -> None:
        self._target.catalog.record(
            [c.file.state for c in files],
            statements={c.file.state.ref: c.file.statement for c in files},
            generation=self._target.store.generation(),
        )
        for committed in files:
            tally.count(committed)
            if committed.file.state.skip is None:
                self._emit(FileProcessed(committed.file.state.ref, len(committed.file.rows), committed.embedded))
        self._emit(tally.progress())
        with self._clock.measure(IndexStage.MAINTAIN):
            self._target.store.maintain(finish=False)
        if time.monotonic() >= self._coverage_due:
            self._publish()
            self._coverage_due = time.monotonic() + COVERAGE_SECONDS

    def _publish(self) -> None:
        """What is covered now. Until the run's end a folder with changes has one waiting, committed as they may be.

        Documents' fates and BM25's statistics follow then: an answer with nothing pending is one of a settled index.
        """
        pending = {
            name: max(tally.pending, tally.changed or name in self._unsettled) for name, tally in self._tallies.items()
        }
        self._target.write_coverage(self._sources.by_name(), pending=pending)

    # --- the end ------------------------------------------------------------------------------------------------------

    def _prune(self) -> None:
        """Forget what is gone, last: a moved file finds its vectors under the old name first.

        While files wait, nothing is forgotten: what is gone may be one of them under its old name.
        """
        if any(tally.pending for tally in self._tallies.values()):
            for tally in self._tallies.values():
                tally.deleted = 0
            return
        if self._gone:
            self._publish()
        for start in range(0, len(self._gone), PRUNE_FILES):
            part = self._gone[start : start + PRUNE_FILES]
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
            self._warnings.append(f"the model's noise could not be measured: {error.message}")
            return None

    def _keep_vectors(self) -> None:
        """Now and then, say that the index still uses its vectors: what it drops later is kept from then on."""
        if self._kept is None:
            return
        if time.time() >= self._target.catalog.fact("renewed") + self._kept.renewal_seconds:
            self._kept.renew(self._target.store.embedding_keys())
            self._target.catalog.set_fact("renewed", int(time.time()))
        self._kept.tidy()
        self._warnings += self._kept.warnings

    def _report(self, names: Sequence[str]) -> IndexReport:
        pending = {name: tally.pending for name, tally in self._tallies.items()}
        coverage = self._target.write_coverage(self._sources.by_name(), indexed_at=time.time(), pending=pending)
        return report(
            list(self._tallies.values()),
            skipped=coverage.total(tuple(names)).skipped,
            stages=self._clock.seconds,
            seconds=time.perf_counter() - self._started,
            errors=self._errors,
            warnings=self._warnings,
            generation=self._target.generation(),
        )


def _groups(files: Iterable[PreparedFile]) -> Iterator[list[PreparedFile]]:
    """Small groups of files, so that one look-up serves several."""
    group: list[PreparedFile] = []
    characters = 0
    for file in files:
        group.append(file)
        characters += sum(len(row.text) for row in file.rows)
        if len(group) >= GROUP_FILES or characters >= GROUP_CHARACTERS:
            yield group
            group, characters = [], 0
    if group:
        yield group
