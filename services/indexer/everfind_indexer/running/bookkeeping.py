"""What a run has done so far: counted by folder, noted in the catalog, published for searchers, told to listeners."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

from everfind_core.errors import FolderUnusableError
from everfind_core.model import (
    FileFailed,
    FileProcessed,
    FileRef,
    FileState,
    Folder,
    IndexPhase,
    IndexReport,
    IndexStage,
    SkippedFile,
    SkipReason,
)
from everfind_core.ports import EventSink
from everfind_indexer.index.target import Target
from everfind_indexer.running.pipeline import Clock, Committed
from everfind_indexer.running.preparing import PreparedFile
from everfind_indexer.running.tally import Tally, report
from everfind_indexer.sources import Sources

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


class Books:
    """The books of one run. ``gone`` are files to forget at its end."""

    def __init__(self, target: Target, sources: Sources, clock: Clock, emit: EventSink) -> None:
        self._target = target
        self._sources = sources
        self._clock = clock
        self._emit = emit
        # A run before this one may have ended between its last commit and its end.
        before = target.location.read_coverage().folders
        self._unsettled = frozenset(f.folder.name for f in before if f.coverage.pending)
        self._started = time.perf_counter()
        self._coverage_due = 0.0
        self.tallies: dict[str, Tally] = {}
        self.gone: list[FileState] = []
        self.errors: list[SkippedFile] = []
        self.warnings: list[str] = []

    # --- what is not indexed ------------------------------------------------------------------------------------------

    def unusable(self, folder: Folder, error: FolderUnusableError) -> None:
        """One folder that is not there does not end the run, and loses nothing."""
        self.warnings.append(f"{error.message}; its chunks stay as they are")
        self.errors.append(SkippedFile(FileRef(folder.name, ""), SkipReason.UNREADABLE, error.message))

    def note(self, state: FileState) -> None:
        """Tell of a file that was left out for a reason that a user may want to act on."""
        if state.skip is not None and state.skip in _WORTH_A_WORD:
            failed = SkippedFile(state.ref, state.skip, state.message)
            self.errors.append(failed)
            self._emit(FileFailed(failed))

    def surely_gone(self, gone: Sequence[FileState], skipped: Sequence[SkippedFile]) -> list[FileState]:
        """Without what lies in directories that cannot be listed now; those are told of."""
        closed = [s for s in skipped if s.reason is SkipReason.UNREADABLE]
        self.errors += closed
        for one in closed:
            self._emit(FileFailed(one))
        inside = tuple(one.ref.path.removesuffix("/") + "/" for one in closed)
        return [state for state in gone if not f"{state.ref.path}/".startswith(inside)]

    def forget_later(self, tally: Tally, gone: Sequence[FileState]) -> None:
        """These are to be forgotten when the run ends."""
        tally.deleted += sum(state.skip is None for state in gone)
        self.gone += gone

    # --- what is ------------------------------------------------------------------------------------------------------

    def committed(self, files: Sequence[Committed]) -> None:
        """The store has these files, with all their vectors."""
        self.record([committed.file for committed in files])
        for committed in files:
            self.done(committed)
        for name in dict.fromkeys(committed.file.state.ref.folder for committed in files):
            if self.tallies[name].phase is not IndexPhase.WORDS:
                self._emit(self.tallies[name].progress())
        self.keep_up()

    def record(self, files: Sequence[PreparedFile]) -> None:
        """Note in the catalog what the store has."""
        self._target.catalog.record(
            [file.state for file in files],
            statements={file.state.ref: file.statement for file in files if file.fresh},
            generation=self._target.store.generation(),
        )

    def done(self, committed: Committed) -> None:
        """Count a file that needs nothing more."""
        file = committed.file
        self.tallies[file.state.ref.folder].count(committed)
        if file.state.skip is None:
            self._emit(FileProcessed(file.state.ref, len(file.rows), committed.embedded))

    def keep_up(self) -> None:
        """After a commit: let the store tend its search structures, and publish now and then."""
        with self._clock.measure(IndexStage.MAINTAIN):
            self._target.store.maintain(finish=False)
        if time.monotonic() >= self._coverage_due:
            self.publish()
            self._coverage_due = time.monotonic() + COVERAGE_SECONDS

    def publish(self) -> None:
        """What is covered now. Until the run's end a folder with changes has one waiting, committed as they may be.

        Documents' fates and BM25's statistics follow then: an answer with nothing pending is one of a settled index.
        """
        pending = {
            name: max(tally.pending, int(tally.changed or name in self._unsettled))
            for name, tally in self.tallies.items()
        }
        self._target.write_coverage(self._sources.by_name(), pending=pending)

    def close(self, names: Sequence[str], below: Sequence[str]) -> IndexReport:
        """Publish what the run leaves, and sum it up for these folders, or for what lies ``below`` paths of them."""
        pending = {name: tally.pending for name, tally in self.tallies.items()}
        self._target.write_coverage(self._sources.by_name(), indexed_at=time.time(), pending=pending)
        skipped: Counter[str] = Counter()
        for name in names:
            skipped.update(self._target.catalog.skipped(name, below))
        return report(
            list(self.tallies.values()),
            skipped=skipped,
            stages=self._clock.seconds,
            seconds=time.perf_counter() - self._started,
            errors=self.errors,
            warnings=self.warnings,
            generation=self._target.generation(),
        )
