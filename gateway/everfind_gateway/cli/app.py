"""The application: the options before a command, and the commands in the order of the help."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from everfind_core import __version__
from everfind_core.errors import InvalidRequestError
from everfind_core.workspaces import is_directory
from everfind_gateway.cli import completing
from everfind_gateway.cli.options import given_path
from everfind_gateway.cli.runtime import Runtime
from everfind_gateway.cli.usage import Commands
from everfind_gateway.render.streams import emit

EPILOG = 'Start with `everfind add DIR`, then `everfind index`, then `everfind search "a question"`.'


def _version(wanted: bool) -> None:
    if wanted:
        emit(f"everfind {__version__}")
        raise typer.Exit


Config: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="PATH",
        help="A project (its directory or its .everfind/config.toml), or a settings file to use in place of your own. "
        "EVERFIND_CONFIG says the same.",
        parser=given_path,
    ),
]
Server: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="HOST[:PORT]",
        help="Ask this server in place of the index of this machine. EVERFIND_SERVER says the same.",
    ),
]
NoServer: TypeAlias = Annotated[
    bool, typer.Option("--no-server", help="Ask no server: neither a connected one nor this machine's running one.")
]
Workspace: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|DIR",
        help="Use the workspace of this name, which `everfind index DIR --workspace NAME` made, or of the project in "
        "which a directory lies (`./DIR`), in place of the added folders. With --server: one of that server's.",
        show_default=False,
        autocompletion=completing.workspace_names,
    ),
]
Version: TypeAlias = Annotated[
    bool, typer.Option("--version", help="Print the version and exit.", callback=_version, is_eager=True)
]


def everfind(
    context: typer.Context,
    *,
    config: Config = None,
    server: Server = None,
    no_server: NoServer = False,
    workspace: Workspace = None,
    version: Version = False,  # noqa: ARG001 - its callback answers
) -> None:
    """Semantic search over folders of code and documents."""
    _refuse_contradictions(config, server, workspace, no_server=no_server)
    context.obj = Runtime(config, server, no_server, workspace or "")
    if context.invoked_subcommand is None:
        emit(context.get_help())


def _refuse_contradictions(config: Path | None, server: str | None, workspace: str | None, *, no_server: bool) -> None:
    if server is not None and no_server:
        raise InvalidRequestError.of("server", "give either --server or --no-server")
    if workspace == "":
        raise InvalidRequestError.of("workspace", "it is empty", hint="`everfind list --workspaces` shows the names.")
    if workspace and config is not None and is_directory(workspace):
        raise InvalidRequestError.of(
            "workspace", "a directory selects its project: give either --workspace or --config"
        )


COMMANDS = {
    "add": "folders:add",
    "remove": "folders:remove",
    "list": "folders:list_folders",
    "config": "config:config",
    "index": "index:index",
    "watch": "watch:watch",
    "search": "search:search",
    "gather": "search:gather",
    "find": "find:find",
    "related": "related:related",
    "grep": "files:grep",
    "cat": "files:cat",
    "status": "health:status",
    "doctor": "health:doctor",
    "calibrate": "health:calibrate",
    "export": "archive:export",
    "import": "archive:import_",
    "serve": "serve:serve",
    "web": "web:web",
    "connect": "connect:connect",
    "init": "project:init",
    "scaffold": "project:scaffold",
    "hook": "project:hook",
    "import-config": "import_config:import_config",
    "eval": "evaluate:evaluate",
    "completion": "completing:completion",
    "version": "health:version",
}
"""The commands by name, in the order of the help: each a module of this package and a function in it."""

GROUPS = {"mcp": "mcp:app", "token": "serve:token_app"}
"""Commands that have commands of their own: each a module and its application."""

BRIEF = frozenset({"search", "gather", "related", "list", "config", "version"})
"""Commands that end before garbage counts, so that nobody looks for it."""

WITH_VALUE = ("--config", "--server", "--workspace")
"""Options before the command that are followed by a value."""


def application(only: str = "") -> typer.Typer:
    """The application, with all its commands or with ``only`` one: making all takes longer than most of them run."""
    app = typer.Typer(
        name="everfind",
        cls=Commands,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        epilog=EPILOG,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(everfind)
    for name, place in COMMANDS.items():
        if only in ("", name):
            app.command(name)(_found(place))
    for name, place in GROUPS.items():
        if only in ("", name):
            app.add_typer(_found(place), name=name)
    return app


def command_of(arguments: Sequence[str]) -> str:
    """The command that a command line names; empty where it names none, or the line must be read to tell."""
    words = iter(arguments)
    for word in words:
        if word in WITH_VALUE:
            next(words, None)
        elif not word.startswith("-"):
            return word if word in COMMANDS or word in GROUPS else ""
    return ""


def _found(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(f"everfind_gateway.cli.{module}"), name)
