"""Which directories agents may have indexed: those in added folders, and those that the user lets them add."""

from __future__ import annotations

import os
import shlex
import threading
from collections.abc import Sequence
from pathlib import Path

from everfind_core.errors import FolderNotFoundError
from everfind_core.files.paths import encode_os_path
from everfind_gateway.config.folders import add_folders, existing_path
from everfind_gateway.config.settings import Settings
from everfind_gateway.live_workspace import LiveWorkspace
from everfind_gateway.requests import added_folders
from everfind_gateway.target_requests import index_requests

_adding = threading.Lock()


def allow(corpus: LiveWorkspace, paths: Sequence[str]) -> None:
    """Add each of ``paths`` that lies in no folder, but is a directory below one of the user's ``workspace_roots``.

    Raises:
        FolderNotFoundError: one lies in no folder and below no root; the hint is the command that adds it.
    """
    for path in paths:
        with _adding, corpus.call() as opened:
            try:
                index_requests(opened.settings, [path])
            except FolderNotFoundError as error:
                directory = os.path.realpath(existing_path(path))
                if not _in_workspace_roots(opened.settings, directory):
                    raise _refused(opened.settings, path, directory, error) from None
                add_folders(opened.settings.files.folders_file, [directory], index_dir=opened.settings.index_dir)


def _in_workspace_roots(settings: Settings, directory: str) -> bool:
    """Whether a resolved directory is one of the user's ``workspace_roots`` or lies below one.

    Never on a server: its directories are other ones, and its operator adds them.
    """
    if settings.server:
        return False
    roots = [Path(os.path.realpath(root)) for root in settings.workspace_roots]
    return any(Path(directory).is_relative_to(root) for root in roots)


def _refused(settings: Settings, given: str, directory: str, error: FolderNotFoundError) -> FolderNotFoundError:
    """The same for a directory that is there and one that is not: nobody learns which there are."""
    if "/" not in given:
        names = ", ".join(folder.name for folder in added_folders(settings)) or "none yet"
        return FolderNotFoundError(error.message, hint=f"The folders are: {names}.")
    shown = encode_os_path(directory)
    if settings.server:
        return FolderNotFoundError(
            f"{shown} is in no folder of the server", hint="Whoever has its admin token adds folders."
        )
    return FolderNotFoundError(
        f"{shown} is in no added folder", hint=f"The user adds it with: everfind add {shlex.quote(shown)}"
    )
