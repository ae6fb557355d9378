"""What is done to a whole store from outside: looked at, salvaged, copied; by the kind that the index's manifest names.

Whichever is asked for loads its own library alone.
"""

from __future__ import annotations

from pathlib import Path

from everfind_core.index.store_backends import StoreBackend, cannot_load
from everfind_core.index.store_schema import TABLE_DIRECTORY
from everfind_core.index.written_files import WrittenFiles
from everfind_indexer.store import lance_problem

Damage = tuple[str, str]
"""A file below the index's directory, and what is wrong with it."""


def table_damage(index: Path, kind: StoreBackend, written: WrittenFiles | None) -> list[Damage]:
    """Whatever is wrong with the newest version of an index's table, of which each byte is read.

    Raises:
        IndexDamagedError: the version cannot even be opened.
        IndexIncompatibleError: the table's library cannot be loaded here.
        StorageError: the files may not be read.
    """
    if kind is StoreBackend.SQLITE:
        from everfind_indexer.store.sqlite.integrity import table_damage as damage_of_sqlite

        return damage_of_sqlite(index)
    _check_lance(index)
    from everfind_indexer.store.integrity import table_damage as damage_of_lance

    return [(f"{TABLE_DIRECTORY}/{name}", problem) for name, problem in damage_of_lance(index, written)]


def salvage_table(source: Path, target: Path, kind: StoreBackend, written: WrittenFiles | None) -> int:
    """Make the table in the index directory ``target`` of what is whole of the one in ``source``.

    Gives the version that it is made of; 0 if none can be opened: then there is no table in ``target``.

    Raises:
        OSError, StorageError: a file cannot be linked, copied or written.
        IndexIncompatibleError: the table's library cannot be loaded here.
    """
    if kind is StoreBackend.SQLITE:
        from everfind_indexer.store.sqlite.salvage import salvage_table as salvage_sqlite

        return salvage_sqlite(source, target)
    _check_lance(source)
    from everfind_indexer.store.salvage import salvage_table as salvage_lance

    return salvage_lance(source, target, written)


def copy_version(source: Path, target: Path, kind: StoreBackend, version: int) -> None:
    """Make the table in ``target`` of one version of that in ``source``, whatever is written there meanwhile.

    Raises:
        OSError: a file of it is gone, or cannot be linked or copied.
        ValueError: there is no such version.
        IndexDamagedError, StorageError: the table cannot be read, or the copy not be written.
        IndexIncompatibleError: the table's library cannot be loaded here.
    """
    if kind is StoreBackend.SQLITE:
        from everfind_indexer.store.sqlite.salvage import copy_generation

        return copy_generation(source, target, version)
    _check_lance(source)
    from everfind_indexer.store.salvage import copy_version as copy_lance_version

    return copy_lance_version(source, target, version)


def _check_lance(index: Path) -> None:
    if problem := lance_problem():
        raise cannot_load(index, problem)
