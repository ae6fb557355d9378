"""The index directory: what an index was made of, and how a reader finds the current one.

Where everything lies in it: :mod:`everfind_core.index.names`.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from everfind_core.errors import EverfindError, IndexDamagedError, IndexMissingError, StorageError
from everfind_core.files.paths import encode_os_path, printable
from everfind_core.index.json_files import damaged, decoded, read_json, storage_error, write_json
from everfind_core.index.manifest import Manifest, check_format
from everfind_core.index.names import (
    CACHE_TAG,
    CALIBRATION,
    COVERAGE,
    FOLDERS,
    GIT_IGNORE,
    INDEXES,
    LOCK,
    MANIFEST,
    POINTER,
    SERVER,
    WATCH_LOCK,
)
from everfind_core.index.store_backends import StoreBackend
from everfind_core.index.vector_types import VectorType
from everfind_core.model import Calibration, Coverage, Folder

T = TypeVar("T")

GENERATIONS_PER_INDEX = 10**9
"""So many generations are left to an index where nobody knows how many it had: one that was damaged."""

CACHE_SIGNATURE = "Signature: 8a477f597d28d172789f06886806bc55\n"
"""Tells backup programs and other walks that this can be made again (bford.info/cachedir)."""


@dataclass(frozen=True, slots=True)
class FolderCoverage:
    """What the index covers of one folder."""

    folder: Folder
    coverage: Coverage
    redactions: int = 0


@dataclass(frozen=True, slots=True)
class IndexCoverage:
    """What the index covers, and when a run last finished a folder (epoch seconds)."""

    folders: tuple[FolderCoverage, ...] = ()
    indexed_at: float = 0.0

    def total(self, names: tuple[str, ...] = ()) -> Coverage:
        """Coverage of the named folders together; of all if none is named."""
        chosen = [f.coverage for f in self.folders if not names or f.folder.name in names]
        skipped: dict[str, int] = {}
        for coverage in chosen:
            for reason, count in coverage.skipped.items():
                skipped[reason] = skipped.get(reason, 0) + count
        return Coverage(
            files=sum(c.files for c in chosen),
            chunks=sum(c.chunks for c in chosen),
            skipped=skipped,
            pending=sum(c.pending for c in chosen),
            unembedded=sum(c.unembedded for c in chosen),
        )

    def roots(self) -> Mapping[str, str]:
        """Each folder's absolute path by its name."""
        return {f.folder.name: f.folder.root for f in self.folders}


@dataclass(frozen=True, slots=True)
class IndexLocation:
    """One index in the index directory."""

    directory: Path
    manifest: Manifest = field(compare=False)

    @property
    def generation_base(self) -> int:
        """What is added to the store's own count, so that generations grow over rebuilds."""
        known = self.manifest.generation_base
        return (int(self.directory.name) - 1) * GENERATIONS_PER_INDEX if known is None else known

    def counting_from(self, base: int | None) -> IndexLocation:
        """The same index, whose generations follow ``base`` from now on, by its number where that is None."""
        manifest = replace(self.manifest, generation_base=base)
        write_json(self.directory / MANIFEST, asdict(manifest))
        return replace(self, manifest=manifest)

    def read_coverage(self) -> IndexCoverage:
        """Its coverage; empty before the first commit.

        Raises:
            IndexMissingError: the index is gone: another took its place.
            IndexDamagedError: the coverage cannot be read.
        """
        found = read_json(self.directory / COVERAGE)
        if found is None and not self.directory.is_dir():
            raise missing(self.directory)
        return IndexCoverage() if found is None else decoded(self.directory / COVERAGE, found, IndexCoverage)

    def read_calibration(self) -> Calibration | None:
        """The model's noise on it; None if it was never measured."""
        found = read_json(self.directory / CALIBRATION)
        return None if found is None else decoded(self.directory / CALIBRATION, found, Calibration)

    def write_calibration(self, calibration: Calibration) -> None:
        """Keep the model's noise on it."""
        write_json(self.directory / CALIBRATION, asdict(calibration))

    def write_coverage(self, coverage: IndexCoverage) -> None:
        """Replace its coverage."""
        folders = [
            {
                "folder": asdict(one.folder),
                "coverage": {
                    "files": one.coverage.files,
                    "chunks": one.coverage.chunks,
                    "skipped": dict(one.coverage.skipped),
                    "pending": one.coverage.pending,
                    "unembedded": one.coverage.unembedded,
                },
                "redactions": one.redactions,
            }
            for one in coverage.folders
        ]
        write_json(self.directory / COVERAGE, {"folders": folders, "indexed_at": coverage.indexed_at})


def check_place(index_directory: Path) -> None:
    """Refuse a directory that holds something else.

    Raises:
        StorageError: it is no directory, or has files and no index.
    """
    try:
        names = {path.name for path in index_directory.iterdir()} if index_directory.exists() else set()
    except OSError as error:
        raise storage_error(error, index_directory) from error
    if names and names.isdisjoint({POINTER, LOCK, WATCH_LOCK, SERVER, FOLDERS, INDEXES}):
        raise StorageError(
            f"{index_directory} is not empty and holds no index: {min(names)!r} lies there",
            hint="Set `index_dir` to a directory of its own.",
        )


def check_writable(index_directory: Path) -> None:
    """Refuse, before anything is read, a directory that this process may not write; makes one that is not there.

    Raises:
        StorageError: it cannot be made or written.
    """
    try:
        index_directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise storage_error(error, index_directory) from error
    if not os.access(index_directory, os.W_OK | os.X_OK):
        raise StorageError(
            f"cannot write the index in {index_directory}: it belongs to another user, or is mounted read-only",
            hint=f"Give it to the user of this process: `chown {os.geteuid()}:{os.getegid()}`.",
        )


def current_index(index_directory: Path) -> IndexLocation:
    """The index that answers.

    Raises:
        IndexMissingError: there is none yet.
        IndexDamagedError: the pointer or the manifest cannot be read.
        IndexIncompatibleError: a newer everfind made it.
    """
    directory = _answering(index_directory)
    while (location := read_location(directory)) is None:
        before, directory = directory, _answering(index_directory)
        if directory == before:  # another did not take its place meanwhile
            raise damaged(directory / MANIFEST)
    return location


def of_current(index_directory: Path, read: Callable[[IndexLocation], T]) -> T:
    """What ``read`` gives of the index that answers; it is asked again where a rebuild took that one's place meanwhile.

    Raises:
        EverfindError: what :func:`current_index` and ``read`` raise.
    """
    location = current_index(index_directory)
    while True:
        try:
            return read(location)
        except EverfindError:
            before, location = location, current_index(index_directory)
            if location == before:
                raise


def _answering(index_directory: Path) -> Path:
    """The directory that the pointer names. Raises as :func:`current_index`."""
    pointer = read_json(index_directory / POINTER)
    if pointer is None:
        raise IndexMissingError(
            f"there is no index in {index_directory}",
            hint="`everfind index` makes one of the folders that `everfind list` shows; `everfind add DIR` adds one.",
        )
    name = pointer.get("index")
    if not isinstance(name, str) or not name.isdecimal():
        raise damaged(index_directory / POINTER)
    return index_directory / INDEXES / name


def read_location(directory: Path) -> IndexLocation | None:
    """The index in ``directory``; None if it holds no manifest.

    Raises:
        IndexDamagedError: the manifest cannot be read.
        IndexIncompatibleError: a newer everfind made it.
    """
    found = read_json(directory / MANIFEST)
    if found is None:
        return None
    check_format(directory, found)
    return IndexLocation(directory, decoded(directory / MANIFEST, found, Manifest))


def backend_of(directory: Path) -> StoreBackend:
    """What keeps the chunks of the index in ``directory``; LanceDB where it has no manifest.

    Raises:
        IndexDamagedError, IndexIncompatibleError: as :func:`read_location`.
    """
    location = read_location(directory)
    return StoreBackend.LANCEDB if location is None else location.manifest.store


def vector_type_of(directory: Path) -> VectorType:
    """What the vectors of the index in ``directory`` are stored in; half precision where it has no manifest.

    Raises:
        IndexDamagedError, IndexIncompatibleError: as :func:`read_location`.
    """
    location = read_location(directory)
    return VectorType.HALF if location is None else location.manifest.recipe.vector_type


def create_index(index_directory: Path, manifest: Manifest) -> IndexLocation:
    """Make room for a new index; it answers only once :func:`make_current` is called.

    Raises:
        StorageError: the directory cannot be written, or its path is none that the store can use.
    """
    create_place(index_directory)
    directory = _next_directory(index_directory)
    try:
        directory.mkdir(mode=0o700)
    except OSError as error:
        raise storage_error(error, index_directory) from error
    write_json(directory / MANIFEST, asdict(manifest))
    return IndexLocation(directory, manifest)


def create_place(index_directory: Path) -> None:
    """Make the directory in which indexes lie, with what tells other programs about it.

    Raises:
        StorageError: it cannot be written, or its path is none that the store can use.
    """
    if not str(index_directory).isprintable():  # the store takes paths as text, and splits them at line ends
        raise StorageError(
            f"the index cannot lie in {printable(encode_os_path(index_directory))}: its path is no plain UTF-8 text",
            hint="Set `index_dir` to another directory.",
        )
    try:
        (index_directory / INDEXES).mkdir(parents=True, exist_ok=True, mode=0o700)
        (index_directory / CACHE_TAG).write_text(CACHE_SIGNATURE, encoding="ascii")
        (index_directory / GIT_IGNORE).write_text("*\n", encoding="ascii")
    except OSError as error:
        raise storage_error(error, index_directory) from error


def adopt_index(index_directory: Path, complete: Path, manifest: Manifest) -> IndexLocation:
    """Let a directory with all that an index consists of be the newest index, but not the current one.

    ``complete`` lies in the index directory.

    Raises:
        StorageError: the directory cannot be written.
    """
    write_json(complete / MANIFEST, asdict(manifest))
    directory = _next_directory(index_directory)
    try:
        complete.rename(directory)
    except OSError as error:
        raise storage_error(error, index_directory) from error
    return IndexLocation(directory, manifest)


def index_directories(index_directory: Path) -> list[Path]:
    """The directories of all indexes, current or not, oldest first."""
    parent = index_directory / INDEXES
    return sorted(p for p in parent.iterdir() if p.name.isdecimal()) if parent.is_dir() else []


def make_current(index_directory: Path, location: IndexLocation) -> None:
    """Let ``location`` answer from now on.

    Where it does already nothing is written: searchers take a new pointer for a new index, and open that with nothing
    in memory.
    """
    pointer = {"format": location.manifest.format, "index": location.directory.name}
    with contextlib.suppress(IndexDamagedError):
        if read_json(index_directory / POINTER) == pointer:
            return
    write_json(index_directory / POINTER, pointer)


def missing(directory: Path) -> IndexMissingError:
    """What is said where there is nothing to read in the directory of an index."""
    return IndexMissingError(f"there is no index in {directory}", hint="Run `everfind index`.")


def _next_directory(index_directory: Path) -> Path:
    taken = [int(path.name) for path in index_directories(index_directory)]
    return index_directory / INDEXES / f"{max(taken, default=0) + 1:06d}"


def indexed_folders(index_dir: Path) -> tuple[Folder, ...]:
    """The folders that the index covers, with those that were removed and kept searchable; none without it."""
    try:
        return tuple(one.folder for one in current_index(index_dir).read_coverage().folders)
    except EverfindError:  # whoever works with the index says what is wrong with it
        return ()
