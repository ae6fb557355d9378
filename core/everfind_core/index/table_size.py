"""How large the table of chunks is on the disk, and how much of that is in use."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from everfind_core.errors import IndexMissingError
from everfind_core.files.disk_use import files_below
from everfind_core.index.directory import current_index
from everfind_core.index.store_backends import StoreBackend
from everfind_core.index.store_schema import TABLE_DIRECTORY
from everfind_core.index.written_files import read_written

TABLE_DATA = "data"
"""Where in the table's directory its data files lie."""

_STRUCTURES = "_indices/"


@dataclass(frozen=True, slots=True)
class TableSize:
    """Data ``files`` and ``size`` in bytes of all files, those of old versions included.

    Of them the newest version is made of ``fragments`` and ``live`` bytes; its search structures lie in ``segments``.
    These three are 0 where nothing was noted of it yet. A store in SQLite is one file, without segments; its free pages
    are not live.
    """

    files: int = 0
    size: int = 0
    fragments: int = 0
    live: int = 0
    segments: int = 0


def table_size(index_directory: str) -> TableSize:
    """The size of the current index's table; nothing before the first run.

    Raises:
        IndexDamagedError, IndexIncompatibleError, StorageError: as :func:`current_index`, or it cannot be read.
    """
    try:
        location = current_index(Path(index_directory))
    except IndexMissingError:
        return TableSize()
    if location.manifest.store is StoreBackend.SQLITE:
        return _sqlite_size(location.directory)
    index = location.directory
    table = index / TABLE_DIRECTORY
    sizes = dict(files_below(table))
    written = read_written(index)
    live = {} if written is None else written.files
    return TableSize(
        files=sum(path.parent == table / TABLE_DATA for path in sizes),
        size=sum(sizes.values()),
        fragments=sum(name.startswith(f"{TABLE_DATA}/") for name in live),
        live=sum(file.size for file in live.values()),
        segments=len({name.split("/")[1] for name in live if name.startswith(_STRUCTURES)}),
    )


def _sqlite_size(index: Path) -> TableSize:
    from everfind_core.index.sqlite_files import opened_for_reading  # whoever reads files does not wait for numpy
    from everfind_core.index.sqlite_schema import DATABASE

    if not (index / DATABASE).exists():
        return TableSize()
    with opened_for_reading(index) as db:
        (fragments,) = db.execute("SELECT count(*) FROM fragments WHERE removed IS NULL").fetchone()
        pages, free, page = (
            db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
        )
    return TableSize(1, pages * page, fragments=fragments, live=(pages - free) * page)
