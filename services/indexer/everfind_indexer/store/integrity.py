"""Whether the files of a table are whole: by what Lance knows of them, and by what was noted when they were written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import lance

from everfind_core.index.store_errors import panics_are_damage
from everfind_core.index.store_schema import (
    MANIFEST_SUFFIX,
    TABLE_DIRECTORY,
    VECTOR,
    VERSIONS,
    index_name,
    manifest_file,
)
from everfind_core.index.written_files import WrittenFiles, file_damaged, find_damage, note_written
from everfind_indexer.store.errors import store_errors

if TYPE_CHECKING:
    from lance.fragment import LanceFragment
    from lance.lance.indices import IndexDescription

_INDICES: Final = "_indices/"

Damage = tuple[str, str]
"""A file below the table's directory, and what is wrong with it."""


def version_files(dataset: lance.LanceDataset, table: Path) -> frozenset[str]:
    """The files that the version at hand is read from, by their paths below the table's directory.

    Transaction files are none: they tell a second writer what a commit changed. The library's own list of them
    (``tracked_files``) looks at all versions, of which there are thousands after many saves.
    """
    fragments = {name for fragment in dataset.get_fragments() for name in fragment_files(fragment)}
    segments = {str(segment.uuid) for index in dataset.describe_indices() for segment in index.segments}
    structures = {f"{_INDICES}{uuid}/{name}" for uuid in segments for name in _names(table / _INDICES / uuid)}
    return frozenset({manifest_file(dataset.version)} | fragments | structures)


def newest_files(index: Path) -> tuple[int, frozenset[str]]:
    """The newest version of an index's table, and its files below the table's directory."""
    with store_errors(index, opening=True):
        dataset = lance.dataset(str(index / TABLE_DIRECTORY))
        return dataset.version, version_files(dataset, index / TABLE_DIRECTORY)


def referenced(dataset: lance.LanceDataset, table: Path) -> list[str]:
    """The files that the version at hand is read from, and all manifests, by their paths below the table's directory.

    Those of old versions are read when these are removed.
    """
    manifests = {f"{VERSIONS}/{name}" for name in _names(table / VERSIONS) if name.endswith(MANIFEST_SUFFIX)}
    return sorted(version_files(dataset, table) | manifests)


def lost_structures(dataset: lance.LanceDataset, table: Path, written: WrittenFiles) -> list[str]:
    """The noted files of search structures in use that are absent: the library lists only those that are there."""
    used = {str(segment.uuid) for index in dataset.describe_indices() for segment in index.segments}
    noted = (name for name in written.files if name.startswith(_INDICES) and name.split("/")[1] in used)
    return sorted(name for name in noted if not (table / name).exists())


def check_files(dataset: lance.LanceDataset, table: Path) -> None:
    """Compare each data file with the size that its commit noted, and see that each deletion file is there.

    One stat a file: a table has one for thousands of rows.

    Raises:
        IndexDamagedError: one is absent or has another size.
    """
    for name, problem in _by_size(dataset, table):
        raise file_damaged(table / name, problem)


def settle_written(
    dataset: lance.LanceDataset, index: Path, table: Path, written: WrittenFiles | None
) -> WrittenFiles | None:
    """When a writer opens a table that passed its checks: what of its files is known from now on.

    Raises:
        IndexDamagedError: a file is absent, or was written before the machine went down and never noted.
    """
    names = referenced(dataset, table)
    if written is not None:
        known = written.files
        absent = [name for name in names if name in known and not (table / name).exists()]
        absent += lost_structures(dataset, table, written)
        if absent:
            raise file_damaged(table / absent[0], "is absent")
        unknown = [name for name in names if name not in known]
        if unknown and not written.of_this_start:
            raise file_damaged(table / unknown[0], "was written as the machine went down, and may not be whole")
        if not written.of_this_start:
            written = written.outlived()
    return note_written(index, table, names, written)


def table_damage(index: Path, written: WrittenFiles | None) -> list[Damage]:
    """Whatever is wrong with the files of the newest version of an index's table, of which each byte is read.

    Raises:
        IndexDamagedError: the version cannot even be opened.
        StorageError: the files may not be read.
    """
    table = index / TABLE_DIRECTORY
    with store_errors(index, opening=True), panics_are_damage(index):
        dataset = lance.dataset(str(table))
        found = dict(_by_size(dataset, table))
        if written is None:
            found |= {name: problem for name, problem in _by_reading(dataset) if name not in found}
            return sorted((found | dict(_structures(dataset))).items())
        names = [*referenced(dataset, table), *lost_structures(dataset, table, written)]
    found |= find_damage(table, written, [name for name in names if name in written.files])
    found |= {name: "was never noted as written" for name in names if name not in written.files}
    if not any(name.startswith(_INDICES) for name in found):  # or the library would say the same again
        found |= dict(_structures(dataset))
    return sorted(found.items())


def _names(directory: Path) -> list[str]:
    """The files in a directory; none where it is not there."""
    try:
        return os.listdir(directory)  # noqa: PTH208 - names are all that is wanted, of thousands of files
    except FileNotFoundError:
        return []


def fragment_files(fragment: LanceFragment) -> list[str]:
    """The files of a fragment, below the table's directory."""
    deletions = fragment.deletion_file()
    return [f"data/{file.path}" for file in fragment.data_files()] + ([deletions] if deletions else [])


def _by_size(dataset: lance.LanceDataset, table: Path) -> Iterator[Damage]:
    for fragment in dataset.get_fragments():
        sizes = {f"data/{file.path}": file.file_size_bytes for file in fragment.data_files()}
        for name in fragment_files(fragment):
            if problem := _size_problem(table / name, sizes.get(name)):
                yield name, problem


def _size_problem(path: Path, expected: int | None) -> str:
    try:
        found = path.stat().st_size
    except FileNotFoundError:
        return "is absent"
    if found < 1 or (expected is not None and found != expected):
        return f"has {found:,} bytes instead of {f'{expected:,}' if expected else 'some'}"
    return ""


def _by_reading(dataset: lance.LanceDataset) -> Iterator[Damage]:
    """Fragments whose rows cannot be read, where nothing is known of their files but this."""
    for fragment in dataset.get_fragments():
        if not is_readable(fragment):
            yield fragment_files(fragment)[0], "cannot be read"


def _structures(dataset: lance.LanceDataset) -> Iterator[Damage]:
    """Search structures that the library cannot load, though their files may be what was written."""
    for index in dataset.describe_indices():
        if not is_usable(dataset, index):
            yield f"{_INDICES}{index.segments[0].uuid}", f"holds a structure ({index.name}) that cannot be read"


def is_usable(dataset: lance.LanceDataset, index: IndexDescription) -> bool:
    """Whether the library can load all of a search structure. One of vectors has no file before the first of them."""
    if index.name == index_name(VECTOR) and not any(segment.fragment_ids for segment in index.segments):
        return True
    try:
        with panics_are_damage(Path()):
            dataset.prewarm_index(index.name)
    except Exception:  # the library raises whatever it stumbles over
        return False
    return True


def is_readable(fragment: LanceFragment) -> bool:
    """Whether every column of every row can be decoded."""
    try:
        with panics_are_damage(Path()):
            for _ in fragment.scanner().to_batches():
                pass
    except Exception:  # the library raises whatever it stumbles over
        return False
    return True
