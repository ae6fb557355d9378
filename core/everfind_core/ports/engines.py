"""The engines: what keeps an index, and what answers from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from everfind_core.cancellation import Cancellation
from everfind_core.model import (
    AddFolderRequest,
    Calibration,
    FileRef,
    FileText,
    Folder,
    GatherAnswer,
    GatherRequest,
    GrepAnswer,
    GrepRequest,
    IndexedFile,
    IndexReport,
    IndexRequest,
    ReadFileRequest,
    RelatedAnswer,
    RelatedRequest,
    RemovedFolder,
    RemoveFolderRequest,
    RunEvent,
    SearchAnswer,
    SearchRequest,
    WorkspaceStatus,
)

EventSink: TypeAlias = Callable[[RunEvent], None]


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

    def add_folder(self, request: AddFolderRequest) -> Folder:
        """Add a directory below one of those in which folders may be added; the next run indexes it.

        Raises:
            PermissionDeniedError: it lies below none of them.
            FolderUnusableError: it is not a directory that can be read, or lies in the index.
            FolderExistsError: directory or name are taken.
            InvalidRequestError: a name or glob cannot be one.
        """
        ...

    def remove_folder(self, request: RemoveFolderRequest, *, cancel: Cancellation | None = None) -> RemovedFolder:
        """Remove a folder: all of it, or after an error nothing. Waits for whoever writes the index, if it may.

        Raises:
            FolderNotFoundError: no such folder.
            IndexLockedError: another process writes and ``request.wait`` is false.
            InvalidRequestError: it is one that only the operator's settings change, or the request contradicts itself.
            StorageError, CancelledError, DeadlineExceededError: as they say.
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

    def status(self, *, skipped_files: bool = False, verify: bool = False, compare: bool = False) -> WorkspaceStatus:
        """Coverage, sizes and health; with the list of what was skipped if asked for.

        ``verify`` reads each byte of the index: a finding of the check ``damage`` says what is not as it was written.
        ``compare`` lists the folders as a run does: a finding of the check ``stale`` says how many files changed, are
        gone or are new.

        Raises:
            IndexDamagedError: not even its size and coverage can be told.
        """
        ...

    def folders(self) -> Sequence[Folder]:
        """The added folders."""
        ...

    def indexed_files(
        self, *, folder: str = "", globs: Sequence[str] = (), after: FileRef | None = None, limit: int = 0
    ) -> Sequence[IndexedFile]:
        """The files that the index holds, of one folder or of all, ordered by folder and path; none without an index.

        ``after`` begins behind the place of a file in that order, whether there is one or not; ``limit`` gives at most
        so many, 0 all. Nothing before the place or beyond the limit is read.

        Raises:
            FolderNotFoundError: no such folder is added or indexed.
            InvalidRequestError: a glob cannot be used.
        """
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
