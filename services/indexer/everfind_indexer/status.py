"""What a workspace's index covers, who changes it, and what it takes: read from its files, nothing is loaded for it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing

from everfind_core import __version__
from everfind_core.errors import IndexMissingError
from everfind_core.files.disk_use import bytes_below
from everfind_core.index.directory import FolderCoverage, IndexLocation, of_current
from everfind_core.index.names import CATALOG
from everfind_core.index.table_size import table_size
from everfind_core.index.watch_state import WatchState, read_watch_state, with_waiting
from everfind_core.model import Coverage, FolderStatus, HealthFinding, ModelInfo, WorkspaceStatus
from everfind_core.noise.calibration import as_used, floor_of
from everfind_indexer.index.catalog import Catalog
from everfind_indexer.index.findings import document_findings, store_findings, table_findings
from everfind_indexer.index.lock import lock_holder
from everfind_indexer.settings import IndexerSettings
from everfind_indexer.sources import Sources


def workspace_status(
    settings: IndexerSettings, sources: Sources, *, skipped_files: bool, verify: bool
) -> WorkspaceStatus:
    """See :meth:`everfind_core.ports.Indexer.status`."""

    def read(location: IndexLocation) -> WorkspaceStatus:
        return _of_index(location, settings, sources, skipped_files=skipped_files, verify=verify)

    try:
        return of_current(settings.index_directory, read)
    except IndexMissingError:
        return _without_index(settings, sources)


def _of_index(
    location: IndexLocation, settings: IndexerSettings, sources: Sources, *, skipped_files: bool, verify: bool
) -> WorkspaceStatus:
    directory = settings.index_directory
    published = location.read_coverage()
    watch = read_watch_state(directory)
    folders = _folders(sources, {f.folder.name: f for f in published.folders}, watch)
    model, calibration = location.manifest.model, location.read_calibration()
    with closing(Catalog(location.directory / CATALOG, read_only=True)) as catalog:
        generation = location.generation_base + catalog.generation()
        findings = document_findings(catalog)
        skipped = [s for name in catalog.folders() for s in catalog.skipped_files(name)] if skipped_files else ()
    return WorkspaceStatus(
        workspace=settings.workspace,
        index_directory=str(directory),
        generation=generation,
        folders=folders,
        coverage=with_waiting(published.total(), watch),
        model=model,
        vector_type=location.manifest.recipe.vector_type.value,
        indexed_at=published.indexed_at,
        disk_bytes=bytes_below(directory),
        redactions=sum(f.redactions for f in folders),
        writer=lock_holder(directory),
        skipped_files=tuple(skipped),
        calibration=None if calibration is None else as_used(calibration, model, settings.min_score),
        floor=floor_of(model, calibration, settings.min_score),
        findings=(*findings, *_findings_of_store(settings, location, published.total().chunks, verify=verify)),
        outgoing=(*_outgoing(model), *settings.outgoing),
        version=__version__,
        settings_digest=settings.digest,
    )


def _folders(
    sources: Sources, known: Mapping[str, FolderCoverage], watch: WatchState | None
) -> tuple[FolderStatus, ...]:
    """The added folders, and those that the index has; by name."""
    added = sources.by_name()
    return tuple(
        FolderStatus(
            folder=added.get(name) or known[name].folder,
            coverage=with_waiting(known[name].coverage if name in known else Coverage(), watch, (name,)),
            usable=sources.usable(added.get(name) or known[name].folder),
            added=name in added,
            redactions=known[name].redactions if name in known else 0,
            watched=watch is not None and name in added,
        )
        for name in sorted({*known, *added})
    )


def _findings_of_store(
    settings: IndexerSettings, location: IndexLocation, chunks: int, *, verify: bool
) -> list[HealthFinding]:
    size = table_size(str(settings.index_directory))
    findings = [*store_findings(location.manifest), *table_findings(size, chunks)]
    if verify:
        from everfind_indexer.index.repairing import findings_of  # loads the store's library

        findings += findings_of(location)
    return findings


def _without_index(settings: IndexerSettings, sources: Sources) -> WorkspaceStatus:
    return WorkspaceStatus(
        workspace=settings.workspace,
        index_directory=str(settings.index_directory),
        generation=0,
        folders=tuple(FolderStatus(f, Coverage(), sources.usable(f)) for f in settings.folders),
        coverage=Coverage(),
        writer=lock_holder(settings.index_directory),
        outgoing=settings.outgoing,
        version=__version__,
        settings_digest=settings.digest,
    )


def _outgoing(model: ModelInfo) -> tuple[str, ...]:
    """What the model makes leave the machine."""
    return (f"the text of indexed files, and queries, to {model.endpoint}",) if model.endpoint else ()
