"""Folders that a user added, and how they come and go."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Folder:
    """A directory that a user added.

    ``name`` is short and unique in the workspace, ``root`` its absolute path in string form (in a team, the path on
    the indexer), ``include`` globs that keep only matching files (empty: all).
    """

    name: str
    root: str
    include: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AddFolderRequest:
    """Add a directory of the indexer's machine: ``root`` is its absolute path in string form.

    An empty ``name`` takes the directory's, made unique; ``include`` as in :class:`Folder`.
    """

    root: str
    name: str = ""
    include: tuple[str, ...] = ()
    workspace: str = ""


@dataclass(frozen=True, slots=True)
class RemoveFolderRequest:
    """Remove a folder, by its name or its root. Its chunks go, too, unless ``keep_index``.

    With ``purge`` nothing of it stays for readers of older generations, and none of its vectors for reuse. ``wait``
    waits while another process writes the index.
    """

    folder: str
    keep_index: bool = False
    purge: bool = False
    workspace: str = ""
    wait: bool = True


@dataclass(frozen=True, slots=True)
class RemovedFolder:
    """A folder that was removed, and how many files the index forgot."""

    folder: Folder
    files_forgotten: int = 0
