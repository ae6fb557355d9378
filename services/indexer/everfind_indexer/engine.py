"""The indexer's engine: one workspace's folders and index, behind the port :class:`everfind_core.ports.Indexer`."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from everfind_core.cancellation import Cancellation
from everfind_core.errors import EverfindError, FolderNotFoundError, IndexMissingError, InvalidRequestError
from everfind_core.files.globs import compile_globs
from everfind_core.files.paths import encode_os_path
from everfind_core.folder_rules import check_allowed, check_globs, check_name, directory_of, named_folder
from everfind_core.model import (
    AddFolderRequest,
    Calibration,
    FileRef,
    FileText,
    Folder,
    GrepAnswer,
    GrepRequest,
    HealthFinding,
    IndexedFile,
    IndexReport,
    IndexRequest,
    ReadFileRequest,
    RemovedFolder,
    RemoveFolderRequest,
    WorkspaceStatus,
)
from everfind_core.noise.calibration import LEAST_CHUNKS
from everfind_core.ports import Chunker, Embedder, EventSink
from everfind_core.workspaces import check_workspace
from everfind_indexer.checks import check_run
from everfind_indexer.folder_file import FolderFile, FolderSource
from everfind_indexer.grep import grep
from everfind_indexer.index.catalog import Catalog, current_catalog
from everfind_indexer.recent import RecentDocuments
from everfind_indexer.settings import IndexerSettings
from everfind_indexer.sources import Sources
from everfind_indexer.status import workspace_status

if TYPE_CHECKING:
    from pathlib import Path

    from everfind_core.index.archive import Header
    from everfind_indexer.index.target import StoreOpener
    from everfind_indexer.running.workers import WorkersOpener
    from everfind_indexer.running.writing import Writing


@dataclass(frozen=True, slots=True)
class _View:
    """The folders as they are at one moment: what a call works with from its beginning to its end."""

    settings: IndexerSettings
    sources: Sources


class IndexEngine:
    """Keeps one workspace's index. Its folders may change meanwhile."""

    def __init__(
        self,
        settings: IndexerSettings,
        embedder: Embedder,
        chunker: Chunker,
        open_store: StoreOpener,
        folders: FolderSource | None = None,
        *,
        open_workers: WorkersOpener | None = None,
    ) -> None:
        """Prepare. ``folders`` are those of the settings and of the file beside the index, if nothing else is given.

        ``open_workers`` gives what does the heavy part of a run; this process, if nothing else is given.
        """
        self._settings = settings
        self._embedder = embedder
        self._chunker = chunker
        self._open_store = open_store
        self._open_workers = open_workers
        self._folders = folders or FolderFile(settings.index_directory, settings.folders)
        self._recent = RecentDocuments()
        self._view = _View(settings, Sources(settings, self._recent))
        self._changing = threading.Lock()
        self._leaving: frozenset[str] = frozenset()

    def folders(self) -> Sequence[Folder]:
        """See :meth:`everfind_core.ports.Indexer.folders`. One that is being removed is none of them."""
        return tuple(folder for folder in self._folders.folders() if folder.name not in self._leaving)

    def add_folder(self, request: AddFolderRequest) -> Folder:
        """See :meth:`everfind_core.ports.Indexer.add_folder`."""
        self._check_workspace(request.workspace)
        if request.name:
            check_name(request.name)
        check_globs(request.include)
        allowed = self._settings.folder_roots
        root = directory_of(check_allowed(request.root, allowed), self._settings.index_directory)
        check_allowed(encode_os_path(root), allowed)  # it may have become a link meanwhile
        return self._folders.add(root, request.name, request.include)

    def remove_folder(self, request: RemoveFolderRequest, *, cancel: Cancellation | None = None) -> RemovedFolder:
        """See :meth:`everfind_core.ports.Indexer.remove_folder`."""
        self._check_workspace(request.workspace)
        if request.keep_index and request.purge:
            raise InvalidRequestError.of("purge", "the index cannot be kept and purged at once")
        with self._leaving_folder(request.folder) as folder:
            if request.keep_index or not self._settings.index_directory.exists():
                self._folders.remove(folder)
                return RemovedFolder(folder)
            forgotten = self._writing().forget_folder(
                folder.name,
                purge=request.purge,
                wait=request.wait,
                cancel=cancel,
                forgotten=lambda: self._folders.remove(folder),
            )
            return RemovedFolder(folder, forgotten)

    def index(self, request: IndexRequest, on_event: EventSink, *, cancel: Cancellation | None = None) -> IndexReport:
        """See :meth:`everfind_core.ports.Indexer.index`."""
        self._check_workspace(request.workspace)
        folders = self._chosen(request)
        return self._writing().index(request, folders, on_event, cancel or Cancellation())

    def forget_folder(self, name: str, *, purge: bool = False) -> int:
        """Remove a folder's chunks from the index, whether it is added or not; gives the number of files forgotten."""
        if not self._settings.index_directory.exists():
            return 0
        return self._writing().forget_folder(name, purge=purge)

    def ignored_directories(self, folder: str) -> frozenset[str]:
        """The directories of a folder that rules leave out as a whole, each with ``/`` at its end."""
        with current_catalog(self._settings.index_directory) as catalog:
            return frozenset(catalog.ignored_directories(folder))

    def calibrate(self, *, cancel: Cancellation | None = None) -> Calibration:
        """See :meth:`everfind_core.ports.Indexer.calibrate`."""
        found = self._writing().calibrate(cancel or Cancellation())
        if found is None:
            raise InvalidRequestError.of(
                "index", f"it has fewer than {LEAST_CHUNKS} chunks, too few to measure noise on", hint="Index more."
            )
        return found

    def read_file(self, request: ReadFileRequest) -> FileText:
        """See :meth:`everfind_core.ports.SourceReader.read_file`."""
        self._check_workspace(request.workspace)
        return self._now().sources.read_lines(request, self._indexed_hash)

    def grep(self, request: GrepRequest, *, cancel: Cancellation | None = None) -> GrepAnswer:
        """See :meth:`everfind_core.ports.Indexer.grep`."""
        self._check_workspace(request.workspace)
        return grep(request, self._now().sources, cancel or Cancellation())

    def indexed_files(
        self, *, folder: str = "", globs: Sequence[str] = (), after: FileRef | None = None, limit: int = 0
    ) -> Sequence[IndexedFile]:
        """See :meth:`everfind_core.ports.Indexer.indexed_files`."""
        wanted = compile_globs(globs, field="globs")
        try:
            with current_catalog(self._settings.index_directory) as catalog:
                names = catalog.folders()
                if folder and folder not in names:
                    return self._none_of(folder)
                with closing(_behind(catalog, [folder] if folder else names, after or FileRef("", ""))) as files:
                    found = (file for file in files if wanted is None or wanted.matches(file.ref.path))
                    return list(islice(found, limit or None))
        except IndexMissingError:
            return self._none_of(folder) if folder else []

    def status(self, *, skipped_files: bool = False, verify: bool = False, compare: bool = False) -> WorkspaceStatus:
        """See :meth:`everfind_core.ports.Indexer.status`."""
        now = self._now()
        status = workspace_status(now.settings, now.sources, skipped_files=skipped_files, verify=verify)
        return replace(status, findings=(*status.findings, *self._compared(now))) if compare else status

    def export(self, target: Path) -> Header:
        """Write the index into one file, whoever writes it meanwhile; gives what is in it.

        Raises:
            IndexMissingError, IndexDamagedError: there is none that can be read.
            StorageError: the file cannot be written.
        """
        from everfind_indexer.index.exporting import export_index  # loads the store's library

        return export_index(self._settings.index_directory, target)

    def import_archive(self, source: Path, *, overwrite: bool, cancel: Cancellation | None = None) -> Header:
        """Let an exported index answer here; gives what was in it.

        Raises:
            ArchiveUnusableError, IndexIncompatibleError, FolderNotFoundError, InvalidRequestError, StorageError: see
                :func:`everfind_indexer.index.importing.import_index`.
        """
        return self._writing().import_archive(source, overwrite=overwrite, cancel=cancel or Cancellation())

    def _compared(self, now: _View) -> Sequence[HealthFinding]:
        from everfind_indexer.running.comparing import stale_findings
        from everfind_indexer.running.refusals import refusal_findings

        stale = stale_findings(self._settings.index_directory, now.settings.folders, now.sources)
        return (*refusal_findings(now.settings, self._chunker), *stale)

    def _none_of(self, folder: str) -> Sequence[IndexedFile]:
        """The files of a folder that is not indexed; raises FolderNotFoundError if it is not added either."""
        self._now().sources.folder(folder)
        return []

    def _check_workspace(self, asked: str) -> None:
        check_workspace(asked, self._settings.workspace, (folder.root for folder in self.folders()))

    def _chosen(self, request: IndexRequest) -> Sequence[Folder]:
        now = self._now()
        if not now.settings.folders:
            raise FolderNotFoundError("no folder is added yet", hint="Add one with `everfind add DIR`.")
        check_run(request)
        if not request.folders:
            return now.settings.folders
        return [now.sources.folder(name) for name in dict.fromkeys(request.folders)]

    def _writing(self) -> Writing:
        from everfind_indexer.running.writing import Writing  # whoever only reads files does not wait for it to load

        now = self._now()
        writing = Writing(now.settings, now.sources, self._embedder, self._chunker, self._open_store, self.folders)
        return replace(writing, open_workers=self._open_workers) if self._open_workers else writing

    def _now(self) -> _View:
        folders = tuple(self.folders())
        view = self._view
        if view.settings.folders != folders:
            digest = self._settings.digest if folders == self._settings.folders else ""
            settings = replace(self._settings, folders=folders, digest=digest)
            view = self._view = _View(settings, Sources(settings, self._recent))
        return view

    @contextmanager
    def _leaving_folder(self, target: str) -> Iterator[Folder]:
        """A folder that is none any more within the block, so that nobody follows or indexes it meanwhile."""
        with self._changing:
            folder = named_folder(self.folders(), target)
            self._folders.check_removable(folder)
            self._leaving |= {folder.name}
        try:
            yield folder
        finally:
            with self._changing:
                self._leaving -= {folder.name}

    def _indexed_hash(self, folder: str, path: str) -> str:
        """Content hash of a file as the index has it; empty if it has none."""
        try:
            with current_catalog(self._settings.index_directory) as catalog:
                state = catalog.state(folder, path)
        except EverfindError:
            return ""
        return state.content_hash if state else ""


def _behind(catalog: Catalog, folders: Sequence[str], after: FileRef) -> Generator[IndexedFile]:
    """The indexed files of ``folders``, which are in order, behind the place of ``after``."""
    for name in folders:
        if name >= after.folder:
            yield from catalog.indexed_files(name, after=after.path if name == after.folder else "")
