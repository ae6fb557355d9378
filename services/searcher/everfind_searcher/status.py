"""What a searcher sees of its index."""

from __future__ import annotations

from everfind_core import __version__
from everfind_core.errors import IndexMissingError
from everfind_core.index.directory import FolderCoverage, IndexLocation, of_current
from everfind_core.index.watch_state import WatchState, read_watch_state, with_waiting
from everfind_core.model import Coverage, FolderStatus, WorkspaceStatus
from everfind_searcher.current import ReaderOpener
from everfind_searcher.settings import SearcherSettings


def index_status(settings: SearcherSettings, open_reader: ReaderOpener) -> WorkspaceStatus:
    """The status of the index that answers now; an empty one before the first run.

    Raises:
        IndexDamagedError, IndexIncompatibleError: the index cannot be read.
    """
    if settings.published:
        settings.published.check()
    try:
        return of_current(settings.index_directory, lambda location: _of_index(location, settings, open_reader))
    except IndexMissingError:
        return WorkspaceStatus(
            workspace=settings.workspace,
            index_directory=settings.place,
            generation=0,
            folders=(),
            coverage=Coverage(),
            version=__version__,
        )


def _of_index(location: IndexLocation, settings: SearcherSettings, open_reader: ReaderOpener) -> WorkspaceStatus:
    published = location.read_coverage()
    watch = read_watch_state(settings.index_directory)
    return WorkspaceStatus(
        workspace=settings.workspace,
        index_directory=settings.place,
        generation=location.generation_base + open_reader(location.directory).generation(),
        folders=tuple(_folder_status(folder, watch) for folder in published.folders),
        coverage=with_waiting(published.total(), watch),
        model=location.manifest.model,
        vector_type=location.manifest.recipe.vector_type.value,
        indexed_at=published.indexed_at,
        redactions=sum(f.redactions for f in published.folders),
        version=__version__,
    )


def _folder_status(covered: FolderCoverage, watch: WatchState | None) -> FolderStatus:
    return FolderStatus(
        covered.folder,
        with_waiting(covered.coverage, watch, (covered.folder.name,)),
        redactions=covered.redactions,
        watched=watch is not None,
    )
