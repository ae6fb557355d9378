"""From prepared files to committed ones: batches, reuse, embedding calls under way, one commit a batch, in order.

The caller's thread prepares and commits; embedding runs beside it. At most ``concurrency`` batches are under way, so
memory does not depend on the corpus, and a batch is committed as soon as it and all before it have their vectors.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Self, TypeAlias

import numpy as np

from everfind_core.cancellation import Cancellation
from everfind_core.model import IndexStage, InputKind
from everfind_core.ports import ChunkWriter, Embedder, FileChunks, TokenIds
from everfind_indexer.index.vectors import VectorCache
from everfind_indexer.running.preparing import PreparedFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

    import numpy.typing as npt

BATCH_TOKENS = 24_000
"""Tokens to embed a batch at first: about a second on one core."""

MOST_TOKENS = 96_000
SHARE = 4
"""A batch grows to this part of what was sent before, and to ``MOST_TOKENS``: fewer commits, and a kill loses a few
seconds of a run that took longer."""

FIRST_TOKENS = 6_000
"""The first so many of a run are embedded at once: the embedder does not wait for the first batch to be full."""

BATCH_FILES = 200
BATCH_TEXT = 4_000_000
"""Characters of rows a batch: bounds memory when nothing needs embedding."""


@dataclass(slots=True)
class Clock:
    """Seconds by stage. Stages overlap in time, so they may sum to more than the run. Thread-safe."""

    seconds: dict[IndexStage, float] = field(default_factory=dict)
    guard: threading.Lock = field(default_factory=threading.Lock)

    def add(self, seconds: Mapping[IndexStage, float]) -> None:
        """Add what was measured elsewhere."""
        with self.guard:
            for stage, more in seconds.items():
                self.seconds[stage] = self.seconds.get(stage, 0.0) + more

    @contextmanager
    def measure(self, stage: IndexStage) -> Iterator[None]:
        """Add the time of the block to a stage."""
        start = time.perf_counter()
        try:
            yield
        finally:
            with self.guard:
                self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - start


@dataclass(frozen=True, slots=True)
class Committed:
    """A file that is in the store, with how many of its chunks were embedded and how many reused."""

    file: PreparedFile
    embedded: int
    reused: int
    tokens: int
    context_tokens: int


@dataclass(frozen=True, slots=True)
class _Job:
    """One text to embed: for which key, and what it costs."""

    key: str
    text: str
    token_ids: TokenIds | None
    tokens: int
    context_tokens: int


@dataclass(frozen=True, slots=True)
class _Taken:
    """A file in a batch, with the texts that are embedded on its account."""

    file: PreparedFile
    jobs: tuple[_Job, ...]


_Vectors: TypeAlias = "dict[str, npt.NDArray[np.floating]]"


@dataclass(slots=True)
class _Batch:
    """Files that are committed together. ``vectors`` are those of its jobs, there from its commit on."""

    most: int
    files: list[_Taken] = field(default_factory=list)
    jobs: dict[str, _Job] = field(default_factory=dict)
    known: _Vectors = field(default_factory=dict)
    vectors: _Vectors = field(default_factory=dict)
    borrowed: dict[str, _Vectors] = field(default_factory=dict)
    """Where the vector of a text will be that a batch before this one embeds."""
    tokens: int = 0
    characters: int = 0
    begun: int = 0
    parts: list[Future[npt.NDArray[np.float32]]] = field(default_factory=list)
    """What embeds the first ``begun`` jobs, in their order."""

    def take(self, file: PreparedFile, due: dict[str, _Vectors]) -> None:
        """Add a file; its texts that are neither known nor ``due`` become jobs, and due with this batch."""
        jobs: list[_Job] = []
        for row, ids, text, context in zip(
            file.rows, file.token_ids, file.embedded_texts, file.context_tokens, strict=True
        ):
            self.characters += len(row.text) + len(row.terms)
            if row.embedding_key in self.known:
                continue
            vectors = due.setdefault(row.embedding_key, self.vectors)
            if vectors is not self.vectors:
                self.borrowed[row.embedding_key] = vectors
            elif row.embedding_key not in self.jobs:
                job = _Job(row.embedding_key, text, ids, row.tokens, context)
                self.jobs[job.key] = job
                self.tokens += job.tokens
                jobs.append(job)
        self.files.append(_Taken(file, tuple(jobs)))

    def begin(self) -> list[_Job]:
        """The jobs that nobody has begun."""
        jobs = list(islice(self.jobs.values(), self.begun, None))
        self.begun = len(self.jobs)
        return jobs

    @property
    def embedded(self) -> bool:
        """Whether what was begun is done."""
        return all(part.done() for part in self.parts)

    @property
    def full(self) -> bool:
        return self.tokens >= self.most or len(self.files) >= BATCH_FILES or self.characters >= BATCH_TEXT


class _SeenKeys:
    """Which keys were written in this run, in fixed memory: a bit each by hash; a false yes costs one lookup."""

    _BITS = 1 << 25

    def __init__(self) -> None:
        self._bits = bytearray(self._BITS // 8)

    def add(self, keys: Iterable[str]) -> None:
        for key in keys:
            place = int(key[:12], 16) % self._BITS
            self._bits[place >> 3] |= 1 << (place & 7)

    def __contains__(self, key: str) -> bool:
        place = int(key[:12], 16) % self._BITS
        return bool(self._bits[place >> 3] & 1 << (place & 7))


def _nobody(_committed: list[Committed]) -> None:
    """Hears of commits where there are none any more."""


class Pipeline:
    """Embeds and commits prepared files. Use as a context manager; call :meth:`finish` before leaving it."""

    def __init__(
        self,
        store: ChunkWriter,
        embedder: Embedder,
        *,
        on_commit: Callable[[list[Committed]], None],
        cancel: Cancellation,
        clock: Clock,
        reuse: bool = True,
        kept: VectorCache | None = None,
        older: ChunkWriter | None = None,
        concurrency: int = 2,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._on_commit = on_commit
        self._cancel = cancel
        self._clock = clock
        self._reuse = reuse
        self._kept = kept
        self._older = older
        self._under_way = max(1, concurrency)
        self._threads = ThreadPoolExecutor(self._under_way, thread_name_prefix="embed")
        self._open: deque[_Batch] = deque()
        self._batch = _Batch(BATCH_TOKENS)
        self._sent = 0
        self._due: dict[str, _Vectors] = {}
        self._began = False
        self._written = _SeenKeys()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for batch in (*self._open, self._batch):
            for part in batch.parts:
                part.cancel()
        self._threads.shutdown(wait=True, cancel_futures=True)
        # It is the run's, which has this pipeline: both and the store's memory would stay until cycles are looked for.
        self._on_commit = _nobody

    def add(self, files: Sequence[PreparedFile], *, wait: bool = True) -> None:
        """Take files in, looking up all their vectors at once; with ``wait`` returns when there is room for more."""
        self._due = {key: vectors for key, vectors in self._due.items() if key not in vectors}  # the store has those
        known = self.known({row.embedding_key for file in files for row in file.rows})
        for file in files:
            self._batch.known.update(
                (row.embedding_key, known[row.embedding_key]) for row in file.rows if row.embedding_key in known
            )
            self._batch.take(file, self._due)
            if self._batch.full:
                self._send()
                if wait:
                    self._commit_surplus()
            elif not self._began and self._batch.tokens >= FIRST_TOKENS:
                self._begin()

    def has_room(self) -> bool:
        """Whether more can be taken in without waiting; commits on the way what has its vectors."""
        while self._open and self._open[0].embedded:
            self._commit_oldest()
        return len(self._open) < self._under_way

    def finish(self) -> None:
        """Commit all that was taken in."""
        self._send()
        while self._open:
            self._commit_oldest()

    def _commit_surplus(self) -> None:
        while len(self._open) > self._under_way:
            self._commit_oldest()

    def known(self, keys: set[str]) -> Mapping[str, npt.NDArray[np.floating]]:
        """The vectors of these embedding keys, where they exist.

        Those from before this run count if they may be reused, those from this run in any case.
        """
        wanted = keys if self._reuse else {key for key in keys if key in self._written}
        with self._clock.measure(IndexStage.STORE):
            found = self._store.vectors(wanted) if wanted else {}
            known = dict(found)
            if self._older is not None and len(known) < len(keys):
                known.update(self._older.vectors(keys - known.keys()))
            if self._kept is not None and len(known) < len(keys):
                known.update(self._kept.get(keys - known.keys()))
            return known

    def _begin(self) -> None:
        """Embed what waits in the batch that is being filled."""
        self._cancel.check()
        self._began = True
        if jobs := self._batch.begin():
            self._batch.parts.append(self._threads.submit(self._embed, jobs))

    def _send(self) -> None:
        if not self._batch.files:
            return
        self._begin()
        self._open.append(self._batch)
        self._sent += self._batch.tokens
        self._batch = _Batch(min(max(BATCH_TOKENS, self._sent // SHARE), MOST_TOKENS))

    def _embed(self, jobs: list[_Job]) -> npt.NDArray[np.float32]:
        with self._clock.measure(IndexStage.EMBED):
            ids = [job.token_ids for job in jobs if job.token_ids is not None]
            if len(ids) == len(jobs):
                return self._embedder.embed_tokens(ids, cancel=self._cancel)
            return self._embedder.embed([job.text for job in jobs], InputKind.DOCUMENT, cancel=self._cancel)

    def _commit_oldest(self) -> None:
        batch = self._open.popleft()
        found = chain.from_iterable(part.result() for part in batch.parts)
        batch.vectors.update(zip(batch.jobs, found, strict=True))
        borrowed = {key: vectors[key] for key, vectors in batch.borrowed.items()}
        self._cancel.check()
        with self._clock.measure(IndexStage.STORE):
            if self._kept is not None:
                self._kept.put(batch.vectors)
            self._store.replace(
                [_with_vectors(taken.file, batch.vectors, batch.known, borrowed) for taken in batch.files]
            )
        self._written.add(batch.jobs)
        self._on_commit([_committed(taken) for taken in batch.files])


def _with_vectors(file: PreparedFile, *sources: _Vectors) -> FileChunks:
    rows = (
        replace(row, vector=next(source[row.embedding_key] for source in sources if row.embedding_key in source))
        for row in file.rows
    )
    return FileChunks(file.state.ref, tuple(rows))


def _committed(taken: _Taken) -> Committed:
    return Committed(
        file=taken.file,
        embedded=len(taken.jobs),
        reused=len(taken.file.rows) - len(taken.jobs),
        tokens=sum(job.tokens - job.context_tokens for job in taken.jobs),
        context_tokens=sum(job.context_tokens for job in taken.jobs),
    )
