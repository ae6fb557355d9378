"""Named workspaces: directories that are searched apart from the added folders, each set in an index of its own.

::

    <user data>/workspaces/NAME/
        folders.toml    its directories, listed as in a settings file
        index/          its index directory

Only the command line makes or removes one; agents and clients reach those that a server was told to answer from.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from everfind_core.errors import WorkspaceNotFoundError
from everfind_core.folder_rules import check_name
from everfind_core.index.json_files import storage_error
from everfind_core.model import Folder
from everfind_gateway.config import files as config_files
from everfind_gateway.config.files import SettingsFile
from everfind_gateway.config.folders import parse_folders
from everfind_gateway.config.suggestions import did_you_mean

FILE_NAME = "folders.toml"


@dataclass(frozen=True, slots=True)
class NamedWorkspace:
    """A named workspace; ``file`` lists its folders, and is empty where there is no such workspace yet."""

    name: str
    file: SettingsFile

    @property
    def index_dir(self) -> Path:
        """Its index directory."""
        return self.file.root / "index"

    @property
    def folders(self) -> tuple[Folder, ...]:
        """Its folders."""
        return parse_folders(self.file)


def named_workspace(name: str, *, may_be_missing: bool = False) -> NamedWorkspace:
    """The workspace of this name; ``may_be_missing`` lets it not exist yet.

    Raises:
        InvalidRequestError: the name cannot be one.
        WorkspaceNotFoundError: there is none.
    """
    found = NamedWorkspace(name, config_files.read_user_file(_directory() / check_name(name, "workspace") / FILE_NAME))
    if not found.file.text and not may_be_missing:
        raise WorkspaceNotFoundError(
            f"no workspace is named {name!r}{did_you_mean(name, names())}",
            hint=f"`everfind list --workspaces` shows those there are; `everfind index DIR --workspace {name}` makes "
            "it. A directory is written with a slash: `./NAME`.",
        )
    return found


def names() -> tuple[str, ...]:
    """The names of all named workspaces, in order."""
    try:
        found = [path.parent.name for path in _directory().glob(f"*/{FILE_NAME}")]
    except OSError:
        return ()
    return tuple(sorted(found))


def delete(workspace: NamedWorkspace) -> None:
    """Delete its index and the list of its folders. Close it before; their files stay as they are.

    Raises:
        StorageError: something of it cannot be deleted.
    """
    try:
        os.unlink(workspace.file.path)  # noqa: PTH108 - first, so that what is left by a fault is no workspace any more
        shutil.rmtree(workspace.file.root)
    except OSError as error:
        raise storage_error(error, workspace.file.root) from error


def _directory() -> Path:
    return platformdirs.user_data_path("everfind") / "workspaces"
