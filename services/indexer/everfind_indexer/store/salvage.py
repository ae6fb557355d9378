"""Takes what is whole of a damaged table into a new one: rows by fragment, and search structures one by one.

Lance never changes a file, so the new table gets the old one's files as links and costs no space. Of the versions the
newest counts whose manifest is whole. Fragments with a damaged file are left out with all their rows, and whoever knows
what should be there indexes those files again. Structures with a damaged file are dropped, to be made
anew, and so are those that the library cannot load.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import lance

from everfind_core.index.store_errors import panics_are_damage
from everfind_core.index.store_schema import TABLE_DIRECTORY
from everfind_core.index.written_files import WrittenFiles, find_damage
from everfind_indexer.store.integrity import fragment_files, is_readable, is_usable, version_files

if TYPE_CHECKING:
    from lance.fragment import LanceFragment

_VERSIONS: Final = "_versions"
_INDICES: Final = "_indices"
_LINKED: Final = ("data", "_deletions", _INDICES)


def salvage_table(source: Path, target: Path, written: WrittenFiles | None) -> int:
    """Make the table in the index directory ``target`` of what is whole of the one in ``source``.

    Of files that ``written`` does not know, rows count as whole that can be read, and structures are made anew. Gives
    the version that it is made of; 0 if none can be opened: then there is no table in ``target``.

    Raises:
        OSError: a file cannot be linked or copied.
    """
    old, new = source / TABLE_DIRECTORY, target / TABLE_DIRECTORY
    known = frozenset(written.files if written else ())
    damaged = frozenset(name for name, _ in find_damage(old, written, list(written.files))) if written else frozenset()
    for part in _LINKED:
        for path in sorted((old / part).rglob("*")):
            name = path.relative_to(old).as_posix()
            if path.is_file() and name not in damaged:
                link_or_copy(path, new / name)
    for manifest in _newest_first(old):
        name = manifest.relative_to(old).as_posix()
        if name in damaged:
            continue
        link_or_copy(manifest, new / name)
        with contextlib.suppress(Exception), panics_are_damage(target):
            dataset = lance.dataset(str(new))
            version: int = dataset.version
            _drop_what_is_lost(dataset, new, known)
            return version
        shutil.rmtree(new / _VERSIONS)
    shutil.rmtree(new, ignore_errors=True)
    return 0


def copy_version(source: Path, target: Path, version: int) -> None:
    """Make the table in ``target`` of one version of that in ``source``, whatever is written there meanwhile.

    Raises:
        OSError: a file of it is gone, or cannot be linked or copied.
        ValueError: there is no such version.
    """
    old, new = source / TABLE_DIRECTORY, target / TABLE_DIRECTORY
    for name in version_files(lance.dataset(str(old), version=version), old):
        link_or_copy(old / name, new / name)


def link_or_copy(source: Path, target: Path) -> None:
    """A second name for a file that nobody changes, or a copy where the file system gives none."""
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copyfile(source, target)


def _newest_first(table: Path) -> list[Path]:
    """Manifests are named so that newer ones sort first: by numbers that fall."""
    return sorted((table / _VERSIONS).glob("*.manifest"))


def _drop_what_is_lost(dataset: lance.LanceDataset, table: Path, known: frozenset[str]) -> None:
    """``known`` files are whole where they are there."""
    for index in dataset.describe_indices():
        whole = all(_is_whole_structure(segment.uuid, table, known) for segment in index.segments)
        if not (whole and is_usable(dataset, index)):
            dataset.drop_index(index.name)
    lost = [f.fragment_id for f in dataset.get_fragments() if not _is_whole_fragment(f, table, known)]
    if lost:
        dataset = lance.LanceDataset.commit(
            dataset,
            lance.LanceOperation.Update(removed_fragment_ids=lost, updated_fragments=[], new_fragments=[]),
            read_version=dataset.version,
            max_retries=0,
        )
    dataset.cleanup_old_versions(older_than=timedelta(0), delete_unverified=True, error_if_tagged_old_versions=False)


def _is_whole_structure(uuid: str, table: Path, known: frozenset[str]) -> bool:
    parts = [name for name in known if name.startswith(f"{_INDICES}/{uuid}/")]
    return bool(parts) and all((table / name).exists() for name in parts)


def _is_whole_fragment(fragment: LanceFragment, table: Path, known: frozenset[str]) -> bool:
    names = fragment_files(fragment)
    return all((table / name).exists() for name in names) and (known.issuperset(names) or is_readable(fragment))
