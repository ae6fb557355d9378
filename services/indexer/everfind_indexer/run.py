"""One index run over the chosen folders: discover, plan, read, prepare, embed, commit, prune, maintain."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from everfind_core.cancellation import Cancellation
from everfind_core.errors import FolderUnusableError
from everfind_core.model import (
    FileFailed,
    FileProcessed,
    FileRef,
    FileState,
    Folder,
    FolderFinished,
    FolderStarted,
    IndexProgress,
    IndexReport,
    IndexRequest,
    IndexStage,
    RunFinished,
    SkippedFile,
    SkipReason,
)
from everfind_core.ports import Embedder, EventSink, FileChunks, NotExtractedError
from everfind_indexer.discovery import Discovery, FoundFile
from everfind_indexer.pipeline import Clock, Committed, Pipeline
from everfind_indexer.planning import plan
from everfind_indexer.preparing import Preparation, PreparedFile, prepare, skipped
from everfind_indexer.reading import read_file
from everfind_indexer.sources import Sources
from everfind_indexer.target import Target

GROUP_FILES = 32
GROUP_CHARACTERS = 500_000
PRUNE_FILES = 1_000
COVERAGE_SECONDS = 2.0

_WORTH_A_WORD = frozenset({SkipReason.UNREADABLE, SkipReason.EXTRACTION_FAILED, SkipReason.NO_TEXT})


@dataclass(slots=True)
class _Tally:
    """Counts of one folder; summed up for the report."""

    indexed: int = 0
    unchanged: int = 0
    deleted: int = 0
    chunks: int = 0
    embedded: int = 0
    reused: int = 0
    tokens: int = 0
    context_tokens: int = 0
    corpus_tokens: int = 0
    redactions: int = 0
    pending: int = 0


@dataclass(slots=True)
class _Progress:
    """Of one folder: how many files must be processed, how many are, and since when."""

    folder: str
    total: int
    done: int = 0
    started: float = field(default_factory=time.monotonic)


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
        concurrency: int,
        on_event: EventSink,
        cancel: Cancellation,
    ) -> None:
        self._request = request
        self._target = target
        self._sources = sources
        self._how = how
        self._embedder = embedder
        self._concurrency = request.concurrency or concurrency
        self._emit = on_event
        self._cancel = cancel
        self._clock = Clock()
        self._started = time.perf_counter()
        self._tallies: dict[str, _Tally] = {}
        self._gone: list[FileState] = []
        self._errors: list[SkippedFile] = []
        self._warnings: list[str] = []
        self._progress = _Progress("", 0)
        self._coverage_due = 0.0

    def folders(self, folders: Sequence[Folder]) -> IndexReport:
        """Do the run; what is committed before an error or a cancel stays."""
        for position, folder in enumerate(folders, start=1):
            self._cancel.check()
            self._emit(FolderStarted(position, len(folders), folder.name, folder.root))
            self._folder(folder)
        self._prune()
        self._maintain()
        report = self._report([folder.name for folder in folders])
        self._emit(RunFinished(report))
        return report

    # --- one folder ---------------------------------------------------------------------------------------------------

    def _folder(self, folder: Folder) -> None:
        started = time.monotonic()
        tally = self._tallies[folder.name] = _Tally()
        try:
            found, known = self._discover(folder)
        except FolderUnusableError as error:
            if self._request.folders:
                raise
            self._warnings.append(f"{error.message}; its chunks stay as they are")
            self._errors.append(SkippedFile(FileRef(folder.name, ""), SkipReason.UNREADABLE, error.message))
            return
        todo = plan(found.files, known, force=self._request.force)
        tally.unchanged = sum(state.skip is None for state in todo.unchanged)
        tally.deleted = sum(state.skip is None for state in todo.gone)
        self._gone += todo.gone
        self._process(folder, self._within_limit(todo.read, tally), known)
        self._target.catalog.record_left_out(folder.name, found.skipped, below=self._request.below)
        coverage, _ = self._target.catalog.coverage(folder.name)
        self._emit(
            FolderFinished(
                folder.name,
                tally.indexed,
                tally.unchanged,
                tally.deleted,
                coverage.skipped,
                tally.chunks,
                time.monotonic() - started,
            )
        )

    def _discover(self, folder: Folder) -> tuple[Discovery, dict[str, FileState]]:
        with self._clock.measure(IndexStage.DISCOVER):
            found = self._sources.discover(folder, below=self._request.below, cancel=self._cancel)
            self._warnings += found.warnings
            return found, self._target.catalog.states(folder.name, self._request.below)

    def _within_limit(self, files: Sequence[FoundFile], tally: _Tally) -> Sequence[FoundFile]:
        if not self._request.max_files:
            return files
        left = max(0, self._request.max_files - sum(t.indexed for t in self._tallies.values()))
        tally.pending = max(0, len(files) - left)
        return files[:left]

    def _process(self, folder: Folder, files: Sequence[FoundFile], known: dict[str, FileState]) -> None:
        self._progress = _Progress(folder.name, len(files))
        with Pipeline(
            self._target.store,
            self._embedder,
            on_commit=self._committed,
            cancel=self._cancel,
            clock=self._clock,
            reuse=not self._request.force,
            concurrency=self._concurrency,
        ) as pipeline:
            for group in _groups(self._prepared(folder, files, known)):
                pipeline.add(group)
            pipeline.finish()

    def _prepared(
        self, folder: Folder, files: Sequence[FoundFile], known: dict[str, FileState]
    ) -> Iterator[PreparedFile]:
        """Changed files, prepared; what needs no commit to the store is recorded on the way."""
        settled: list[FileState] = []
        for file in files:
            self._cancel.check()
            before = known.get(file.path)
            outcome = self._prepare(folder, file, before)
            if isinstance(outcome, PreparedFile):
                yield outcome
                continue
            self._progress.done += 1
            if outcome is not None:
                settled.append(outcome)
        self._target.catalog.record(settled)

    def _prepare(self, folder: Folder, file: FoundFile, before: FileState | None) -> PreparedFile | FileState | None:
        """A file to commit, a state to record, or nothing for one that is gone."""
        ref = FileRef(folder.name, file.path)
        had_rows = before is not None and before.chunks > 0
        looked = time.time_ns()
        try:
            with self._clock.measure(IndexStage.READ):
                raw = read_file(folder.root, file.path, self._sources.max_file_bytes)
        except NotExtractedError as error:
            return self._left_out(file_state(ref, file, looked), error, before, had_rows=had_rows)
        state = file_state(ref, raw.found, looked, raw.content_hash)
        if before and not self._request.force and before.content_hash == raw.content_hash:
            self._tallies[folder.name].unchanged += before.skip is None
            return replace(
                before,
                size=state.size,
                mtime_ns=state.mtime_ns,
                ctime_ns=state.ctime_ns,
                inode=state.inode,
                checked_ns=state.checked_ns,
            )
        with self._clock.measure(IndexStage.CHUNK):
            prepared = prepare(state, raw.data, self._how)
        if prepared.state.skip:
            self._note(prepared.state)
            if not had_rows:
                return prepared.state
        return prepared

    def _left_out(
        self, state: FileState, error: NotExtractedError, before: FileState | None, *, had_rows: bool
    ) -> PreparedFile | FileState | None:
        if error.reason is SkipReason.VANISHED:
            if before is not None:
                self._gone.append(before)
                self._tallies[state.ref.folder].deleted += 1
            return None
        left_out = skipped(state, error.reason, error.message)
        self._note(left_out)
        return PreparedFile(left_out) if had_rows else left_out

    def _note(self, state: FileState) -> None:
        if state.skip is not None and state.skip in _WORTH_A_WORD:
            failed = SkippedFile(state.ref, state.skip, state.message)
            self._errors.append(failed)
            self._emit(FileFailed(failed))

    # --- commits ------------------------------------------------------------------------------------------------------

    def _committed(self, files: list[Committed]) -> None:
        self._target.catalog.record([c.file.state for c in files], generation=self._target.store.generation())
        for committed in files:
            self._count(committed)
            if committed.file.state.skip is None:
                self._emit(FileProcessed(committed.file.state.ref, len(committed.file.rows), committed.embedded))
        self._progress.done += len(files)
        self._emit(self._progress_event())
        with self._clock.measure(IndexStage.MAINTAIN):
            self._target.store.maintain(finish=False)
        if time.monotonic() >= self._coverage_due:
            self._target.write_coverage(self._sources.by_name(), pending=self._pending())
            self._coverage_due = time.monotonic() + COVERAGE_SECONDS

    def _count(self, committed: Committed) -> None:
        tally = self._tallies[committed.file.state.ref.folder]
        tally.indexed += committed.file.state.skip is None
        tally.chunks += len(committed.file.rows)
        tally.embedded += committed.embedded
        tally.reused += committed.reused
        tally.tokens += committed.tokens
        tally.context_tokens += committed.context_tokens
        tally.corpus_tokens += committed.file.corpus_tokens
        tally.redactions += committed.file.state.redactions

    def _pending(self) -> dict[str, int]:
        """Files that this run found changed and has not committed, in each folder that it came to."""
        pending = {name: tally.pending for name, tally in self._tallies.items()}
        if self._progress.folder:
            pending[self._progress.folder] += self._progress.total - self._progress.done
        return pending

    def _progress_event(self) -> IndexProgress:
        tally = self._tallies[self._progress.folder]
        tokens = tally.tokens + tally.context_tokens
        seconds = max(time.monotonic() - self._progress.started, 1e-6)
        done, total = self._progress.done, self._progress.total
        return IndexProgress(
            folder=self._progress.folder,
            files_done=done,
            files_total=total,
            chunks=tally.chunks,
            tokens=tokens,
            tokens_per_second=tokens / seconds,
            eta_seconds=seconds / done * (total - done) if done else None,
        )

    # --- the end ------------------------------------------------------------------------------------------------------

    def _prune(self) -> None:
        """Forget what is gone, last: a moved file finds its vectors under the old name first."""
        for start in range(0, len(self._gone), PRUNE_FILES):
            refs = [state.ref for state in self._gone[start : start + PRUNE_FILES]]
            stored = [FileChunks(s.ref) for s in self._gone[start : start + PRUNE_FILES] if s.chunks]
            with self._clock.measure(IndexStage.STORE):
                if stored:
                    self._target.store.replace(stored)
            self._target.catalog.record([], refs, generation=self._target.store.generation())

    def _maintain(self) -> None:
        """Leave every search structure whole, also after an earlier run that could not."""
        catalog, store = self._target.catalog, self._target.store
        if store.generation() != catalog.settled():
            with self._clock.measure(IndexStage.MAINTAIN):
                store.maintain(finish=True)
            catalog.record([], generation=store.generation(), settled=True)

    def _report(self, names: Sequence[str]) -> IndexReport:
        coverage = self._target.write_coverage(self._sources.by_name(), indexed_at=time.time(), pending=self._pending())
        tallies = [self._tallies[name] for name in names]
        seconds = {stage.value: round(s, 4) for stage, s in self._clock.seconds.items()}
        return IndexReport(
            indexed=sum(t.indexed for t in tallies),
            unchanged=sum(t.unchanged for t in tallies),
            deleted=sum(t.deleted for t in tallies),
            skipped=coverage.total(tuple(names)).skipped,
            chunks_written=sum(t.chunks for t in tallies),
            chunks_embedded=sum(t.embedded for t in tallies),
            chunks_reused=sum(t.reused for t in tallies),
            tokens=sum(t.tokens for t in tallies),
            context_tokens=sum(t.context_tokens for t in tallies),
            corpus_tokens=sum(t.corpus_tokens for t in tallies),
            redactions=sum(t.redactions for t in tallies),
            pending=sum(t.pending for t in tallies),
            seconds={**seconds, "total": round(time.perf_counter() - self._started, 4)},
            errors=tuple(self._errors),
            generation=self._target.generation(),
            warnings=tuple(self._warnings),
        )


def file_state(ref: FileRef, found: FoundFile, looked_ns: int, content_hash: str = "") -> FileState:
    """The state of a file that was looked at from ``looked_ns`` on, before anything is known of its chunks."""
    return FileState(
        ref=ref,
        size=found.size,
        mtime_ns=found.mtime_ns,
        ctime_ns=found.ctime_ns,
        inode=found.inode,
        checked_ns=looked_ns,
        content_hash=content_hash,
        chunks=0,
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
