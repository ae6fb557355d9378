"""An index as one file: a consistent copy while others write, to keep or to take to another machine.

The copy is of one generation: that of the catalog, whose version of the table still lies there. Its files are linked
first, so that a writer may clean up while they are read. What is known of each file travels as text.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from everfind_core.causes import cause
from everfind_core.errors import IndexDamagedError
from everfind_core.index.archive import FILES, Header, members_of, write_archive
from everfind_core.index.directory import IndexLocation, of_current
from everfind_core.index.json_files import REPAIR_HINT, storage_error
from everfind_core.index.names import CALIBRATION, CATALOG, COVERAGE, INDEXES
from everfind_indexer.index.catalog import Catalog
from everfind_indexer.index.document_lives import fate_text
from everfind_indexer.store.kinds import copy_version

SCRATCH = "export-"
_ATTEMPTS = 3
_STALE_SECONDS = 86_400.0


def export_index(index_directory: Path, target: Path) -> Header:
    """Write the index that answers now into one file, whoever writes it meanwhile.

    Raises:
        IndexMissingError, IndexDamagedError: there is none that can be read.
        StorageError: the file cannot be written.
    """
    return of_current(index_directory, lambda location: _exported(location, index_directory, target))


def _exported(location: IndexLocation, index_directory: Path, target: Path) -> Header:
    with scratch_directory(index_directory) as scratch:
        version = _pinned(location, scratch)
        for name in (COVERAGE, CALIBRATION):
            if (location.directory / name).exists():
                shutil.copyfile(location.directory / name, scratch / name)
        header = Header(
            location.manifest,
            tuple(one.folder for one in location.read_coverage().folders),
            location.generation_base + version,
            time.time(),
            members_of(scratch),
        )
        write_archive(target, scratch, header)
    return header


@contextmanager
def scratch_directory(index_directory: Path) -> Iterator[Path]:
    """A directory beside the indexes, where links to their files can be made.

    Raises:
        StorageError: it cannot be made.
    """
    parent = index_directory / INDEXES
    try:
        for left in parent.glob(f"{SCRATCH}*"):
            if time.time() - left.stat().st_mtime > _STALE_SECONDS:
                shutil.rmtree(left, ignore_errors=True)
        made = Path(tempfile.mkdtemp(prefix=SCRATCH, dir=parent))
    except OSError as error:
        raise storage_error(error, index_directory) from error
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _pinned(location: IndexLocation, scratch: Path) -> int:
    """Copy the table of the catalog's generation, and what the catalog knows; gives that version.

    Once more where a writer removed that version meanwhile.
    """
    for _ in range(_ATTEMPTS - 1):
        with suppress(OSError, ValueError):
            return _copied(location, scratch)
        shutil.rmtree(scratch)
        scratch.mkdir(mode=0o700)
    try:
        return _copied(location, scratch)
    except (OSError, ValueError) as error:
        raise IndexDamagedError(
            f"the table in {location.directory} cannot be copied: {cause(error)}", hint=REPAIR_HINT
        ) from error


def _copied(location: IndexLocation, scratch: Path) -> int:
    with tempfile.TemporaryDirectory(prefix=SCRATCH, dir=scratch.parent) as copies:
        copied = Path(copies) / CATALOG
        with closing(Catalog(location.directory / CATALOG, read_only=True)) as catalog:
            catalog.copy_to(copied)
        with closing(Catalog(copied)) as catalog:
            version = catalog.generation()
            copy_version(location.directory, scratch, location.manifest.store, version)
            _write_lines(scratch / FILES, catalog)
    return version


def _write_lines(path: Path, catalog: Catalog) -> None:
    documents = catalog.lives.all()
    with path.open("w", encoding="utf-8") as file:
        for folder in catalog.folders():
            for state in catalog.states(folder):
                told: dict[str, Any] = {
                    "folder": state.ref.folder,
                    "path": state.ref.path,
                    "size": state.size,
                    "content_hash": state.content_hash,
                    "chunks": state.chunks,
                    "tokens": state.tokens,
                    "redactions": state.redactions,
                    "skip": state.skip.value if state.skip else "",
                    "message": state.message,
                }
                if document := documents.get(state.ref):
                    told["statement"] = json.dumps(asdict(document[0]))
                    told["fate"] = fate_text(document[1])
                file.write(json.dumps(told) + "\n")
