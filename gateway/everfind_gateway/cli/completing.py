"""What a shell offers after TAB. It reads settings files alone: nobody waits for an engine to complete a word."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from everfind_core.errors import EverfindError

Shell: TypeAlias = Annotated[
    Literal["bash", "zsh", "fish"],
    typer.Argument(metavar="SHELL", help="One of bash, zsh and fish.", show_default=False),
]

_PROGRAM = "everfind"
VARIABLE = "_EVERFIND_COMPLETE"


def completion(context: typer.Context, shell: Shell) -> None:
    """Print the completion script of a shell.

    For packages and dotfiles; --install-completion does the same for the shell that is running.
    """
    from typer.completion import shell_complete

    shell_complete(context.find_root().command, {}, _PROGRAM, VARIABLE, f"source_{shell}")


def folder_names(context: typer.Context, args: list[str], incomplete: str) -> list[tuple[str, str]]:  # noqa: ARG001 - Typer's signature
    """The names of the folders that are added on this machine, and their directories, as the settings have them."""
    from everfind_core.files.paths import shown_path
    from everfind_gateway.config import files as config_files
    from everfind_gateway.config.named_workspaces import named_workspace

    options = context.find_root().params
    config = options.get("config")
    try:
        if name := options.get("workspace"):
            return [(folder.name, shown_path(folder.root)) for folder in named_workspace(str(name)).folders]
        files = config_files.locate(config if isinstance(config, Path) else None, cwd=config_files.working_directory())
        file = files.folders_file
        written = [(entry.get("name"), file.folder_path(entry)) for entry in file.folder_entries()]
        return [(name, shown_path(path)) for name, path in written if isinstance(name, str)]
    except EverfindError:  # the command itself will say it
        return []


def workspace_names(context: typer.Context, args: list[str], incomplete: str) -> list[str]:  # noqa: ARG001 - Typer's signature
    """The names of the named workspaces."""
    from everfind_gateway.config.named_workspaces import names

    return list(names())


def setting_names(context: typer.Context, args: list[str], incomplete: str) -> list[str]:  # noqa: ARG001 - Typer's signature
    """The names of the settings."""
    from everfind_gateway.config.setting_values import setting_fields

    return list(setting_fields())


def tool_names(context: typer.Context, args: list[str], incomplete: str) -> list[str]:  # noqa: ARG001 - Typer's signature
    """The names of the tools that agents can be offered."""
    from typing import get_args

    from everfind_gateway.setting_groups.serving import ToolName

    return list(get_args(ToolName))
