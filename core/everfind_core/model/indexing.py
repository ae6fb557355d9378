"""Index runs: the request, what happens during one, and its report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TypeAlias

from everfind_core.model.coverage import EMPTY_COUNTS
from everfind_core.model.embedding import Calibration
from everfind_core.model.files import FileRef, SkippedFile

NO_SECONDS: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class IndexRequest:
    """Bring the index up to date.

    ``folders`` names which (empty: all). ``below`` limits the run, pruning included, to a path below the one named
    folder, ``paths`` to several: those that changed. ``force`` processes unchanged files too; ``rebuild`` makes a new
    index beside the old and swaps; ``max_files`` (0: no limit) stops after that many changed files; ``concurrency``
    (0: by CPU quota) is the number of embedding calls under way; ``wait`` waits for another writer instead of failing.
    ``request_id`` makes a repeated call find the first one's run. ``repair`` finds damaged parts of the index and
    indexes them again.
    """

    folders: tuple[str, ...] = ()
    below: str = ""
    force: bool = False
    rebuild: bool = False
    max_files: int = 0
    concurrency: int = 0
    wait: bool = True
    request_id: str = ""
    workspace: str = ""
    repair: bool = False
    paths: tuple[str, ...] = ()


class RunState(StrEnum):
    """Where an index run is."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class IndexStage(StrEnum):
    """What a run's time goes into; ``seconds`` of a report has one entry each. Stages overlap in time."""

    DISCOVER = "discover"
    READ = "read"
    CHUNK = "chunk"
    EMBED = "embed"
    STORE = "store"
    MAINTAIN = "maintain"


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What a run did.

    ``tokens`` were embedded: body and overlap, code that is left out of what is embedded included; ``context_tokens``
    are the breadcrumbs and scopes before them. ``corpus_tokens`` are the distinct tokens of the embedded files' text.
    ``seconds`` by stage, and ``total``.
    """

    indexed: int = 0
    unchanged: int = 0
    deleted: int = 0
    skipped: Mapping[str, int] = field(default_factory=lambda: EMPTY_COUNTS)
    chunks_written: int = 0
    chunks_embedded: int = 0
    chunks_reused: int = 0
    tokens: int = 0
    context_tokens: int = 0
    corpus_tokens: int = 0
    redactions: int = 0
    pending: int = 0
    seconds: Mapping[str, float] = field(default_factory=lambda: NO_SECONDS)
    errors: tuple[SkippedFile, ...] = ()
    generation: int = 0
    warnings: tuple[str, ...] = ()
    calibration: Calibration | None = None


@dataclass(frozen=True, slots=True)
class FolderStarted:
    """A run turns to a folder: number ``position`` of ``count``, from 1."""

    position: int
    count: int
    name: str
    root: str


class IndexPhase(StrEnum):
    """What a run that takes files in twice does: first they are found by their words, then by vectors, too."""

    WORDS = "words"
    VECTORS = "vectors"


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """How far a run is. Files count those that must be processed; ``eta_seconds`` is None while unknown.

    Where the run has phases, all numbers are those of ``phase``; None where it has none.
    """

    folder: str
    files_done: int
    files_total: int
    chunks: int
    tokens: int
    tokens_per_second: float
    eta_seconds: float | None = None
    phase: IndexPhase | None = None


@dataclass(frozen=True, slots=True)
class FileProcessed:
    """A file is committed: with how many chunks, of which so many had to be embedded."""

    ref: FileRef
    chunks: int
    embedded: int


@dataclass(frozen=True, slots=True)
class FileFailed:
    """A file was left out for a reason that a user may want to act on."""

    skipped: SkippedFile


@dataclass(frozen=True, slots=True)
class FolderFinished:
    """A folder's totals."""

    name: str
    indexed: int
    unchanged: int
    deleted: int
    skipped: Mapping[str, int]
    chunks: int
    seconds: float


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The last event of a run that succeeded."""

    report: IndexReport


RunEvent: TypeAlias = FolderStarted | IndexProgress | FileProcessed | FileFailed | FolderFinished | RunFinished


@dataclass(frozen=True, slots=True)
class IndexRun:
    """An index run as a resource. Times are seconds since the epoch; 0 where not reached."""

    id: str
    request: IndexRequest
    state: RunState
    created: float
    started: float = 0.0
    finished: float = 0.0
    progress: IndexProgress | None = None
    report: IndexReport | None = None
    error_reason: str = ""
    error_message: str = ""
    error_hint: str = ""
