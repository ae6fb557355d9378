"""An exported index takes the place of the one here: nothing of the archive is taken on trust."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from everfind_core.errors import (
    ArchiveUnusableError,
    EverfindError,
    FolderNotFoundError,
    IndexDamagedError,
    IndexIncompatibleError,
    IndexMissingError,
    InvalidRequestError,
    StorageFullError,
)
from everfind_core.files.parsed_json import parse_json
from everfind_core.files.paths import check_relative
from everfind_core.index.archive import FILES, ArchiveReader, Header, open_archive
from everfind_core.index.directory import IndexLocation, adopt_index, create_place, current_index, make_current
from everfind_core.index.manifest import Recipe, check_recipe, is_upgrade
from everfind_core.index.names import CATALOG
from everfind_core.index.store_backends import StoreBackend, StoreChoice
from everfind_core.lifecycle import Fate
from everfind_core.model import FileRef, FileState, Folder, SkipReason
from everfind_indexer.index.catalog import Catalog
from everfind_indexer.index.document_lives import fate_of, statement_of
from everfind_indexer.index.exporting import scratch_directory
from everfind_indexer.index.target import StoreOpener, counting_on, opened, remove_others
from everfind_indexer.store import lance_problem
from everfind_indexer.store.choosing import suits
from everfind_indexer.store.kinds import table_damage

_LINES = 1_000

_OTHER_HINT = (
    "Use the setting that it was made with, or export it again where `everfind index --rebuild` ran with yours."
)


def import_index(
    index_directory: Path,
    source: Path,
    folders: Sequence[Folder],
    recipe: Recipe,
    open_store: StoreOpener,
    *,
    store: StoreChoice,
    overwrite: bool,
) -> Header:
    """Let an exported index answer, for the folders of the same names here. Hold the writer's lock.

    Raises:
        ArchiveUnusableError: the file is damaged or no such archive.
        IndexIncompatibleError: it was made by another model, other settings or a newer everfind.
        FolderNotFoundError: a folder of it is not added here.
        InvalidRequestError: there is an index here, and it is not to be overwritten.
        StorageError: there is no room, or the directory cannot be written.
    """
    with open_archive(source) as archive:
        header = archive.header
        _check(index_directory, header, source, folders, recipe, overwrite=overwrite)
        _check_store(header, source, store)
        location = _unpacked(archive, source, index_directory)
    try:
        with opened(location, open_store) as target:
            location.read_calibration()
            _move_folders(location, folders)
            target.write_coverage({folder.name: folder for folder in folders})
        _check_table(location)
    except BaseException as error:  # an interruption leaves no half index
        shutil.rmtree(location.directory, ignore_errors=True)
        if isinstance(error, IndexDamagedError | KeyError):
            raise ArchiveUnusableError(f"{source} cannot be imported: {error}", hint="Export it again.") from error
        raise
    make_current(index_directory, counting_on(index_directory, location))
    remove_others(index_directory, location)
    return header


def _unpacked(archive: ArchiveReader, source: Path, index_directory: Path) -> IndexLocation:
    """What the archive holds as the newest index, which does not answer yet."""
    header = archive.header
    create_place(index_directory)
    free = shutil.disk_usage(index_directory).free
    if free < header.size:
        raise StorageFullError(
            f"{header.size:,} bytes are needed in {index_directory}, {free:,} are free", hint="Free some space."
        )
    with scratch_directory(index_directory) as scratch:
        archive.unpack(scratch)
        _make_catalog(archive, source, scratch)
        return adopt_index(index_directory, scratch, header.manifest)


def _check(
    index_directory: Path, header: Header, source: Path, folders: Sequence[Folder], recipe: Recipe, *, overwrite: bool
) -> None:
    if not is_upgrade(header.manifest, recipe, source):
        check_recipe(header.manifest.recipe, recipe, source, hint=_OTHER_HINT)
    here = {folder.name for folder in folders}
    for folder in header.folders:
        if folder.name not in here:
            raise FolderNotFoundError(
                f"{source} has the folder {folder.name!r} ({folder.root} on the other side), which is not added here",
                hint=f"Add it first: `everfind add --name {folder.name} DIR`.",
            )
    if not overwrite:
        try:
            current_index(index_directory)
        except IndexMissingError:
            return
        except EverfindError:
            pass
        raise InvalidRequestError.of(
            "overwrite", f"there is an index in {index_directory} already", hint="Add --overwrite to replace it."
        )


def _check_table(location: IndexLocation) -> None:
    """Refuse a table with a part that cannot be read: that a file is what was exported does not say that it is sound.

    Raises:
        IndexDamagedError: there is one.
    """
    for name, problem in table_damage(location.directory, location.manifest.store, None):
        raise IndexDamagedError(f"{name} {problem}")


def _check_store(header: Header, source: Path, choice: StoreChoice) -> None:
    kept = header.manifest.store
    if not suits(kept, choice):
        raise IndexIncompatibleError(
            f"{source} holds an index that is kept in {kept.value}, store_backend asks for {choice.value}",
            hint="Set it to `auto`, or make the index anew here.",
        )
    if kept is StoreBackend.LANCEDB and (problem := lance_problem()):
        raise IndexIncompatibleError(
            f"{source} holds an index that is kept in LanceDB, which cannot be loaded here ({problem})",
            hint="Make it on the other side with `store_backend` set to `sqlite` and `everfind index --rebuild`.",
        )


def _move_folders(location: IndexLocation, folders: Sequence[Folder]) -> None:
    """The folders of the index are those of this machine."""
    here = {folder.name: folder for folder in folders}
    coverage = location.read_coverage()
    moved = tuple(replace(one, folder=here[one.folder.name]) for one in coverage.folders)
    location.write_coverage(replace(coverage, folders=moved))


def _make_catalog(archive: ArchiveReader, source: Path, directory: Path) -> None:
    """A catalog of what the archive tells of each file, which takes nothing for granted."""
    names = frozenset(folder.name for folder in archive.header.folders)
    fates: dict[FileRef, Fate] = {}
    try:
        with closing(Catalog(directory / CATALOG)) as catalog, (directory / FILES).open(encoding="utf-8") as lines:
            states: list[FileState] = []
            statements = {}
            for line in lines:
                told = parse_json(line)
                state = _state(told, names)
                states.append(state)
                if "statement" in told:
                    statements[state.ref] = statement_of(told["statement"])
                    fates[state.ref] = fate_of(told["fate"])
            for start in range(0, len(states), _LINES):
                part = states[start : start + _LINES]
                catalog.record(part, statements={s.ref: statements[s.ref] for s in part if s.ref in statements})
            catalog.lives.settle(fates, [])
            catalog.doubt(fates=False)
        (directory / FILES).unlink()
    except (
        OSError, ValueError, TypeError, KeyError, AttributeError, OverflowError, InvalidRequestError
    ) as error:  # fmt: skip
        raise ArchiveUnusableError(
            f"{source} cannot be imported: {FILES} cannot be read", hint="Export it again."
        ) from error


def _state(told: Mapping[str, Any], folders: frozenset[str]) -> FileState:
    """What an archive tells of a file. No file's times match it, so the next run compares its content."""
    ref = FileRef(str(told["folder"]), str(told["path"]))
    check_relative(ref.path, field="path")
    if ref.folder not in folders or int(told["chunks"]) < 0:
        raise ValueError("a file of no folder")
    return FileState(
        ref=ref,
        size=max(0, int(told.get("size", 0))),  # archives of earlier versions do not tell it
        mtime_ns=0,
        ctime_ns=0,
        inode=0,
        checked_ns=0,
        content_hash=str(told["content_hash"]),
        chunks=int(told["chunks"]),
        tokens=int(told["tokens"]),
        redactions=int(told["redactions"]),
        skip=SkipReason(str(told["skip"])) if told["skip"] else None,
        message=str(told["message"]),
    )
