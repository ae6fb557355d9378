"""The indexer's engine: one workspace's folders and index, behind the port :class:`everfind_core.ports.Indexer`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from everfind_core.calibration import LEAST_CHUNKS
from everfind_core.cancellation import Cancellation
from everfind_core.errors import EverfindError, FolderNotFoundError, IndexMissingError, InvalidRequestError
from everfind_core.globs import compile_globs
from everfind_core.index_directory import CATALOG, current_index
from everfind_core.model import (
    Calibration,
    FileText,
    Folder,
    GrepAnswer,
    GrepRequest,
    IndexedFile,
    IndexReport,
    IndexRequest,
    ReadFileRequest,
    WorkspaceStatus,
)
from everfind_core.ports import Chunker, Embedder, EventSink
from everfind_core.workspaces import check_workspace
from everfind_indexer.catalog import Catalog
from everfind_indexer.checks import check_run
from everfind_indexer.grep import grep
from everfind_indexer.settings import IndexerSettings
from everfind_indexer.sources import Sources
from everfind_indexer.status import workspace_status

if TYPE_CHECKING:
    from everfind_indexer.target import StoreOpener
    from everfind_indexer.writing import Writing


class IndexEngine:
    """Keeps one workspace's index."""

    def __init__(
        self, settings: IndexerSettings, embedder: Embedder, chunker: Chunker, open_store: StoreOpener
    ) -> None:
        self._settings = settings
        self._embedder = embedder
        self._chunker = chunker
        self._open_store = open_store
        self._sources = Sources(settings)

    def folders(self) -> Sequence[Folder]:
        """See :meth:`everfind_core.ports.Indexer.folders`."""
        return self._settings.folders

    def index(self, request: IndexRequest, on_event: EventSink, *, cancel: Cancellation | None = None) -> IndexReport:
        """See :meth:`everfind_core.ports.Indexer.index`."""
        self._check_workspace(request.workspace)
        folders = self._chosen(request)
        return self._writing().index(request, folders, on_event, cancel or Cancellation())

    def forget_folder(self, name: str, *, purge: bool = False) -> int:
        """See :meth:`everfind_core.ports.Indexer.forget_folder`."""
        if not self._settings.index_directory.exists():
            return 0
        return self._writing().forget_folder(name, purge=purge)

    def ignored_directories(self, folder: str) -> frozenset[str]:
        """The directories of a folder that rules leave out as a whole, each with ``/`` at its end."""
        location = current_index(self._settings.index_directory)
        with closing(Catalog(location.directory / CATALOG, read_only=True)) as catalog:
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
        return self._sources.read_lines(request, self._indexed_hash)

    def grep(self, request: GrepRequest, *, cancel: Cancellation | None = None) -> GrepAnswer:
        """See :meth:`everfind_core.ports.Indexer.grep`."""
        self._check_workspace(request.workspace)
        return grep(request, self._sources, cancel or Cancellation())

    def indexed_files(self, *, folder: str = "", globs: Sequence[str] = ()) -> Sequence[IndexedFile]:
        """See :meth:`everfind_core.ports.Indexer.indexed_files`."""
        wanted = compile_globs(globs, field="globs")
        try:
            location = current_index(self._settings.index_directory)
        except IndexMissingError:
            return self._none_of(folder) if folder else []
        with closing(Catalog(location.directory / CATALOG, read_only=True)) as catalog:
            names = catalog.folders()
            if folder and folder not in names:
                return self._none_of(folder)
            found = [file for name in ([folder] if folder else names) for file in catalog.indexed_files(name)]
        return [file for file in found if wanted is None or wanted.matches(file.ref.path)]

    def status(self, *, skipped_files: bool = False) -> WorkspaceStatus:
        """See :meth:`everfind_core.ports.Indexer.status`."""
        return workspace_status(self._settings, self._sources, skipped_files=skipped_files)

    def _none_of(self, folder: str) -> Sequence[IndexedFile]:
        """The files of a folder that is not indexed; raises FolderNotFoundError if it is not added either."""
        self._sources.folder(folder)
        return []

    def _check_workspace(self, asked: str) -> None:
        check_workspace(asked, self._settings.workspace, (folder.root for folder in self._settings.folders))

    def _chosen(self, request: IndexRequest) -> Sequence[Folder]:
        if not self._settings.folders:
            raise FolderNotFoundError("no folder is added yet", hint="Add one with `everfind add DIR`.")
        check_run(request)
        if not request.folders:
            return self._settings.folders
        return [self._sources.folder(name) for name in dict.fromkeys(request.folders)]

    def _writing(self) -> Writing:
        from everfind_indexer.writing import Writing  # whoever only reads files does not wait for it to load

        return Writing(self._settings, self._sources, self._embedder, self._chunker, self._open_store)

    def _indexed_hash(self, folder: str, path: str) -> str:
        """Content hash of a file as the index has it; empty if it has none."""
        try:
            location = current_index(self._settings.index_directory)
            with closing(Catalog(location.directory / CATALOG, read_only=True)) as catalog:
                state = catalog.state(folder, path)
        except EverfindError:
            return ""
        return state.content_hash if state else ""
