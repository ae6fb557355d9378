"""Counts of a run, folder by folder, and the report made of them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from everfind_core.model import IndexPhase, IndexProgress, IndexReport, IndexStage, SkippedFile
from everfind_indexer.running.pipeline import Committed
from everfind_indexer.running.preparing import PreparedFile


@dataclass(slots=True)
class Tally:
    """What a run did in one folder so far. ``todo`` files are to be looked at, of which ``done`` are; others wait."""

    folder: str
    todo: int = 0
    done: int = 0
    postponed: int = 0
    committed: int = 0
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
    started: float = field(default_factory=time.monotonic)
    phase: IndexPhase | None = None

    @property
    def pending(self) -> int:
        """Files found changed that are not committed."""
        return self.postponed + self.todo - self.done

    @property
    def changed(self) -> bool:
        """Whether the run changes anything in the folder."""
        return self.committed + self.deleted > 0

    @property
    def seconds(self) -> float:
        """Since the run came to the folder."""
        return time.monotonic() - self.started

    def count(self, committed: Committed) -> None:
        """Add a committed file."""
        self.done += 1
        self.committed += 1
        self.indexed += committed.file.state.skip is None
        self.chunks += len(committed.file.rows)
        self.embedded += committed.embedded
        self.reused += committed.reused
        self.tokens += committed.tokens
        self.context_tokens += committed.context_tokens
        self.corpus_tokens += committed.file.corpus_tokens
        self.redactions += committed.file.state.redactions

    def progress(self) -> IndexProgress:
        """How far the folder is."""
        tokens, seconds = self.tokens + self.context_tokens, max(self.seconds, 1e-6)
        return IndexProgress(
            folder=self.folder,
            files_done=self.done,
            files_total=self.todo,
            chunks=self.chunks,
            tokens=tokens,
            tokens_per_second=tokens / seconds,
            eta_seconds=seconds / self.done * (self.todo - self.done) if self.done else None,
            phase=self.phase,
        )


@dataclass(slots=True)
class FirstTally:
    """What the first pass took in of one folder so far: of ``todo`` files, ``done`` ones."""

    folder: str
    todo: int
    done: int = 0
    chunks: int = 0
    tokens: int = 0
    started: float = field(default_factory=time.monotonic)

    def count(self, file: PreparedFile) -> None:
        """Add a committed file."""
        self.done += 1
        self.chunks += len(file.rows)
        self.tokens += file.state.tokens

    def progress(self) -> IndexProgress:
        """How far the folder is."""
        seconds = max(time.monotonic() - self.started, 1e-6)
        return IndexProgress(
            folder=self.folder,
            files_done=self.done,
            files_total=self.todo,
            chunks=self.chunks,
            tokens=self.tokens,
            tokens_per_second=self.tokens / seconds,
            eta_seconds=seconds / self.done * (self.todo - self.done) if self.done else None,
            phase=IndexPhase.WORDS,
        )


def report(
    tallies: Sequence[Tally],
    *,
    skipped: Mapping[str, int],
    stages: Mapping[IndexStage, float],
    seconds: float,
    errors: Sequence[SkippedFile],
    warnings: Sequence[str],
    generation: int,
) -> IndexReport:
    """The tallies summed up. ``seconds`` is the whole run's."""
    return IndexReport(
        indexed=sum(t.indexed for t in tallies),
        unchanged=sum(t.unchanged for t in tallies),
        deleted=sum(t.deleted for t in tallies),
        skipped=skipped,
        chunks_written=sum(t.chunks for t in tallies),
        chunks_embedded=sum(t.embedded for t in tallies),
        chunks_reused=sum(t.reused for t in tallies),
        tokens=sum(t.tokens for t in tallies),
        context_tokens=sum(t.context_tokens for t in tallies),
        corpus_tokens=sum(t.corpus_tokens for t in tallies),
        redactions=sum(t.redactions for t in tallies),
        pending=sum(t.pending for t in tallies),
        seconds={**{stage.value: round(s, 4) for stage, s in stages.items()}, "total": round(seconds, 4)},
        errors=tuple(errors),
        generation=generation,
        warnings=tuple(warnings),
    )
