"""The ports: what the engines need from each other and from the outside, as protocols.

All calls are synchronous and safe to make from several threads. Long ones take a
:class:`~everfind_core.cancellation.Cancellation`. An in-process engine and a client of a remote service are the same
to a caller: same values, same errors (:mod:`everfind_core.errors`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from everfind_core.cancellation import Cancellation
from everfind_core.model import (
    Calibration,
    Chunk,
    Document,
    FileRef,
    FileText,
    Filters,
    Folder,
    GatherAnswer,
    GatherRequest,
    GrepAnswer,
    GrepRequest,
    IndexReport,
    IndexRequest,
    InputKind,
    ModelInfo,
    ReadFileRequest,
    RelatedAnswer,
    RelatedRequest,
    RerankRequest,
    RunEvent,
    SearchAnswer,
    SearchRequest,
    SkipReason,
    TokenSpans,
    Vectors,
    WorkspaceStatus,
)

if TYPE_CHECKING:  # the command line must not wait for numpy
    import numpy as np
    import numpy.typing as npt

    from everfind_core.lifecycle import Fate

TokenIds: TypeAlias = "npt.NDArray[np.int64]"
EventSink: TypeAlias = Callable[[RunEvent], None]


# --- embedding --------------------------------------------------------------------------------------------------------


class Tokenizer(Protocol):
    """The embedding model's tokenizer, local to whoever counts tokens."""

    @property
    def sliceable(self) -> bool:
        """Whether the tokens of lines are the same alone as inside a longer text."""
        ...

    def encode(self, text: str) -> TokenSpans:
        """Tokens of ``text``, without special tokens, prefix, truncation or padding."""
        ...


class Embedder(Protocol):
    """Turns texts into unit vectors. The same text gives the same vector whatever else is in the call."""

    def model(self) -> ModelInfo:
        """The model's identity.

        Raises:
            ModelUnusableError: it cannot be loaded.
            UnavailableError: a remote embedder does not answer.
        """
        ...

    def tokenizer(self) -> Tokenizer:
        """The model's tokenizer."""
        ...

    def embed(self, texts: Sequence[str], kind: InputKind, *, cancel: Cancellation | None = None) -> Vectors:
        """Vectors of ``texts``, in their order; the model's prefix for ``kind`` is put before each.

        A text beyond the window is cut at it.
        """
        ...

    def embed_tokens(self, sequences: Sequence[TokenIds], *, cancel: Cancellation | None = None) -> Vectors:
        """Vectors of documents given as token ids without special tokens or prefix, each within the budget.

        Raises:
            InvalidRequestError: a sequence is longer than ``model().text_budget``.
        """
        ...

    def close(self) -> None:
        """Release what is held; the embedder cannot be used any more."""
        ...


class Reranker(Protocol):
    """Scores texts for a query, better and slower than an arm does."""

    @property
    def identity(self) -> str:
        """The model's id and revision."""
        ...

    @property
    def endpoint(self) -> str:
        """The address that queries and texts are sent to; empty when nothing leaves the machine."""
        ...

    def rerank(self, request: RerankRequest, *, cancel: Cancellation | None = None) -> Sequence[float]:
        """One score a text, in their order; higher is better.

        Raises:
            ModelUnusableError: the model cannot be loaded, or its provider refuses the request.
            UnavailableError: it does not answer in time.
        """
        ...

    def close(self) -> None:
        """Release what is held; the reranker cannot be used any more."""
        ...


# --- from bytes to chunks ---------------------------------------------------------------------------------------------


class NotExtractedError(Exception):
    """A file that has no text to index; becomes a counted skip, never ends a run."""

    def __init__(self, reason: SkipReason, message: str = "") -> None:
        super().__init__(message or reason.value)
        self.reason = reason
        self.message = message


class Extractor(Protocol):
    """Gets the text out of one family of files.

    ``extensions`` (lower case, no dot) are those of its files that count as binary where no extractor claims them.
    """

    extensions: frozenset[str]

    def accepts(self, path: str, head: bytes) -> bool:
        """Whether this extractor reads a file with this path and these first bytes (at most 4,096)."""
        ...

    def extract(self, path: str, raw: bytes) -> Document:
        """The document in ``raw``.

        Raises:
            NotExtractedError: it has none.
        """
        ...


@dataclass(frozen=True, slots=True)
class ChunkLimits:
    """Sizes in the model's own tokens.

    ``target`` is what a chunk aims at, ``hard`` what context and text together never pass, ``overlap`` how much a
    chunk repeats of the one before where a section or body had to be split.
    """

    target: int
    hard: int
    overlap: int


class Chunker(Protocol):
    """Cuts documents. A pure function of document, tokenizer and limits."""

    @property
    def revision(self) -> str:
        """Changes whenever the same document could be cut otherwise; travels with the index."""
        ...

    def chunk(self, document: Document, tokenizer: Tokenizer, limits: ChunkLimits) -> Sequence[Chunk]:
        """The chunks in line order; every line that is not blank is in one."""
        ...


# --- the store --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """One row of the store.

    ``chunk_id`` is unique in the index, ``ordinal`` counts a file's chunks from 0. ``terms`` is the lexical form of
    text, path and symbol (:mod:`everfind_core.lexical`), terms separated by single spaces. ``embedding_key`` names
    the embedded text (hex digest): equal keys have equal vectors. ``vector`` is float16 or float32 of shape
    (dimensions,); None while it waits. ``names`` and ``symbols`` are the two forms of what the chunk defines and uses
    (:mod:`everfind_core.callgraph.symbols`). ``successor`` has the files that replace this one in the end,
    as :func:`everfind_core.lifecycle.join_refs` writes them.
    """

    chunk_id: str
    ref: FileRef
    ordinal: int
    start_line: int
    end_line: int
    text: str
    terms: str
    embedding_key: str
    content_hash: str
    tokens: int
    symbol: str = ""
    kind: str = ""
    language: str = ""
    heading: str = ""
    status: str = ""
    date: str = ""
    successor: str = ""
    page: int = 0
    names: str = ""
    symbols: str = ""
    vector: npt.NDArray[np.floating] | None = None


@dataclass(frozen=True, slots=True)
class FileChunks:
    """All chunks of one file, to stand in place of whatever the store has of it; none deletes it."""

    ref: FileRef
    chunks: tuple[StoredChunk, ...] = ()


@dataclass(frozen=True, slots=True)
class ScoredChunk:
    """A row found by an arm, with the arm's raw score: cosine or BM25.

    The chunk's ``vector``, ``terms``, ``names`` and ``symbols`` may be absent.
    """

    chunk: StoredChunk
    score: float


class ChunkWriter(Protocol):
    """The writing side of the store: one process at a time, guarded by the index lock."""

    def replace(self, files: Sequence[FileChunks]) -> None:
        """Put each file's chunks in place of its old ones, all files in one commit that readers see whole or not."""
        ...

    def restate(self, fates: Mapping[FileRef, Fate]) -> None:
        """Give the rows of these files another status, date and successor in one commit; nothing else changes."""
        ...

    def delete_folder(self, folder: str) -> None:
        """Remove every chunk of a folder in one commit."""
        ...

    def vectors(self, keys: Iterable[str]) -> Mapping[str, npt.NDArray[np.floating]]:
        """The vectors that the store has for these embedding keys."""
        ...

    def embedding_keys(self, folder: str = "") -> Iterable[str]:
        """The embedding key of every row with a vector, in no order; of one folder's if ``folder`` names one."""
        ...

    def purge(self) -> None:
        """Leave nothing on the disk of what was replaced or removed, at the expense of readers that still use it."""
        ...

    def sample_vectors(self, most: int) -> npt.NDArray[np.floating]:
        """Vectors of at most ``most`` chunks, spread evenly over the store, as rows."""
        ...

    def chunk_counts(self) -> Mapping[FileRef, tuple[int, str]]:
        """Per file in the store: number of chunks, and content hash."""
        ...

    def generation(self) -> int:
        """The generation that a reader would see now."""
        ...

    def maintain(self, *, finish: bool) -> None:
        """Keep search structures current and small; ``finish`` at the end of a run does what is worth waiting for."""
        ...

    def close(self) -> None:
        """Release what is held."""
        ...


class ChunkSnapshot(Protocol):
    """One generation of the store: everything that a snapshot gives comes from the same commit."""

    def generation(self) -> int:
        """Which one."""
        ...

    def semantic(self, vector: npt.NDArray[np.float32], limit: int, where: Filters) -> Sequence[ScoredChunk]:
        """The nearest chunks by cosine, best first, among those that pass ``where``."""
        ...

    def lexical(self, terms: Sequence[str], limit: int, where: Filters) -> Sequence[ScoredChunk]:
        """The best chunks by BM25 over ``terms`` (any of them), best first, among those that pass ``where``."""
        ...

    def file_chunks(self, ref: FileRef) -> Sequence[StoredChunk]:
        """A file's chunks in order; empty if the store has none."""
        ...

    def naming(self, tokens: Sequence[str], limit: int, where: Filters) -> Sequence[StoredChunk]:
        """Chunks whose ``names`` hold any of ``tokens``, at most ``limit``, among those that pass ``where``.

        By folder, path and line. They come with their ``symbols``, without vector, terms and ``names``.
        """
        ...


class ChunkReader(ChunkSnapshot, Protocol):
    """The reading side of the store: any number of processes, also while one writes.

    Each call sees the newest generation, commits of other processes included, without reopening.
    """

    def snapshot(self) -> ChunkSnapshot:
        """The newest generation, for calls that belong together.

        It answers for ten minutes; afterwards, once something replaced it, its files may be gone (IndexDamagedError).
        """
        ...


# --- the engines ------------------------------------------------------------------------------------------------------


class SourceReader(Protocol):
    """Reads indexable files, and nothing else; secrets masked."""

    def read_file(self, request: ReadFileRequest) -> FileText:
        """Lines of a file.

        Raises:
            FolderNotFoundError: no such folder.
            FileNotIndexableError: absent, outside, or left out of the index.
        """
        ...


class Indexer(SourceReader, Protocol):
    """Keeps one workspace's index."""

    def index(self, request: IndexRequest, on_event: EventSink, *, cancel: Cancellation | None = None) -> IndexReport:
        """Bring the index up to date and say what was done.

        Raises:
            FolderNotFoundError, FolderUnusableError: the request names a folder that is not there.
            IndexLockedError: another process writes and ``request.wait`` is false.
            IndexIncompatibleError: another model or chunker made the index; ``rebuild`` replaces it.
            StorageError, ModelUnusableError, UnavailableError, CancelledError: as they say; what was committed stays.
        """
        ...

    def forget_folder(self, name: str, *, purge: bool = False) -> int:
        """Remove a folder's chunks from the index; gives the number of files forgotten.

        With ``purge`` nothing of it stays for readers of older generations, and none of its vectors for reuse.
        """
        ...

    def grep(self, request: GrepRequest, *, cancel: Cancellation | None = None) -> GrepAnswer:
        """Search the indexable files line by line."""
        ...

    def calibrate(self, *, cancel: Cancellation | None = None) -> Calibration:
        """Measure the model's noise on what is indexed, and keep it with the index.

        Raises:
            IndexMissingError: there is no index.
            InvalidRequestError: it has too few chunks to measure noise on.
        """
        ...

    def status(self, *, skipped_files: bool = False) -> WorkspaceStatus:
        """Coverage, sizes and health; with the list of what was skipped if asked for."""
        ...

    def folders(self) -> Sequence[Folder]:
        """The added folders."""
        ...


class Searcher(Protocol):
    """Answers questions from one workspace's index."""

    def search(self, request: SearchRequest, *, cancel: Cancellation | None = None) -> SearchAnswer:
        """The best chunks for a question.

        Raises:
            InvalidRequestError: the query is empty or too long, or a filter or limit is out of range.
            IndexMissingError, IndexIncompatibleError, IndexDamagedError: the index cannot be searched.
        """
        ...

    def gather(self, request: GatherRequest, *, cancel: Cancellation | None = None) -> GatherAnswer:
        """A search whose hits come with their surroundings as one Markdown block."""
        ...

    def related(self, request: RelatedRequest, *, cancel: Cancellation | None = None) -> RelatedAnswer:
        """What calls a symbol or place, what it calls, what refers to it, and what is like it.

        Raises:
            InvalidRequestError: neither a symbol nor a place is named, or a field is out of range.
            FolderNotFoundError, FileNotIndexableError: the index has no such folder or file.
            IndexMissingError, IndexIncompatibleError, IndexDamagedError: the index cannot be searched.
        """
        ...

    def close(self) -> None:
        """Release what is held."""
        ...
