"""Whether indexed files are still as they were read: a look at each, without reading any."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from everfind_core.errors import EverfindError
from everfind_core.folder_rules import is_readable
from everfind_core.model import HealthFinding, IndexedFile, Severity, WorkspaceStatus
from everfind_core.numbers import count
from everfind_core.paths import decode_os_path
from everfind_core.ports import Indexer

_SECONDS = 1e-3
"""Times are kept as seconds with a fraction; smaller differences are of their form."""


def check_stale(indexer: Indexer, status: WorkspaceStatus) -> list[HealthFinding]:
    """How many indexed files changed or are gone; nothing to say before the first run. New ones only a run finds."""
    roots = {one.folder.name: one.folder.root for one in status.folders if is_readable(one.folder.root)}
    try:
        files = [file for file in indexer.indexed_files() if file.ref.folder in roots]
    except EverfindError:  # said by the check of the index
        return []
    if not files:
        return []
    changed, gone = stale(files, roots)
    if not changed and not gone:
        return [HealthFinding("stale", Severity.OK, f"{count(len(files), 'file')} on disk as indexed")]
    parts = [f"{number:,} {what}" for number, what in ((changed, "changed"), (gone, "gone")) if number]
    hint = "Run `everfind index`, or let `everfind watch` follow the folders."
    message = f"of {count(len(files), 'file')} that are indexed, {' and '.join(parts)} since"
    return [HealthFinding("stale", Severity.WARNING, message, hint)]


def stale(files: Iterable[IndexedFile], roots: Mapping[str, str]) -> tuple[int, int]:
    """How many of ``files`` have another size or time, and how many are not there; ``roots`` by folder name."""
    changed = gone = 0
    for file in files:
        try:
            found = os.stat(decode_os_path(f"{roots[file.ref.folder].rstrip('/')}/{file.ref.path}"))  # noqa: PTH116 - may not be UTF-8
        except OSError:
            gone += 1
            continue
        changed += bool(file.modified) and (
            found.st_size != file.size or abs(found.st_mtime - file.modified) > _SECONDS
        )
    return changed, gone
