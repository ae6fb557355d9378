"""The application: the options before a command, and the commands in the order of the help."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from everfind_core import __version__
from everfind_core.errors import InvalidRequestError
from everfind_gateway.cli import (
    archive,
    completing,
    connect,
    corpus,
    evaluate,
    files,
    find,
    health,
    import_config,
    index,
    mcp,
    project,
    related,
    search,
    serve,
    watch,
    web,
)
from everfind_gateway.cli.options import given_path
from everfind_gateway.cli.runtime import Runtime
from everfind_gateway.cli.usage import Commands
from everfind_gateway.render.streams import emit
from everfind_gateway.workspace import is_directory

EPILOG = 'Start with `everfind add DIR`, then `everfind index`, then `everfind search "a question"`.'

app = typer.Typer(
    name="everfind",
    cls=Commands,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        emit(f"everfind {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def everfind(
    context: typer.Context,
    *,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="A project (its directory or its .everfind/config.toml), or a settings file to use in place of your "
            "own. EVERFIND_CONFIG says the same.",
            parser=given_path,
        ),
    ] = None,
    server: Annotated[
        str | None,
        typer.Option(
            metavar="HOST[:PORT]",
            help="Ask this server in place of the index of this machine. EVERFIND_SERVER says the same.",
        ),
    ] = None,
    no_server: Annotated[
        bool, typer.Option("--no-server", help="Ask no server: neither a connected one nor this machine's running one.")
    ] = False,
    workspace: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|DIR",
            help="Use the workspace of this name, which `everfind index DIR --workspace NAME` made, or of the project "
            "in which a directory lies (`./DIR`), in place of the added folders. With --server: one of that server's.",
            show_default=False,
            autocompletion=completing.workspace_names,
        ),
    ] = None,
    version: Annotated[  # noqa: ARG001 - its callback answers
        bool, typer.Option("--version", help="Print the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Semantic search over folders of code and documents."""
    if server is not None and no_server:
        raise InvalidRequestError.of("server", "give either --server or --no-server")
    if workspace == "":
        raise InvalidRequestError.of("workspace", "it is empty", hint="`everfind list --workspaces` shows the names.")
    if workspace and config is not None and is_directory(workspace):
        raise InvalidRequestError.of(
            "workspace", "a directory selects its project: give either --workspace or --config"
        )
    context.obj = Runtime(config, server, no_server, workspace or "")
    if context.invoked_subcommand is None:
        emit(context.get_help())


COMMANDS: dict[str, Callable[..., None]] = {
    "add": corpus.add,
    "remove": corpus.remove,
    "list": corpus.list_folders,
    "config": corpus.config,
    "index": index.index,
    "watch": watch.watch,
    "search": search.search,
    "gather": search.gather,
    "find": find.find,
    "related": related.related,
    "grep": files.grep,
    "cat": files.cat,
    "status": health.status,
    "doctor": health.doctor,
    "calibrate": health.calibrate,
    "export": archive.export,
    "import": archive.import_,
    "serve": serve.serve,
    "web": web.web,
    "connect": connect.connect,
    "init": project.init,
    "scaffold": project.scaffold,
    "hook": project.hook,
    "import-config": import_config.import_config,
    "eval": evaluate.evaluate,
    "completion": completing.completion,
    "version": health.version,
}
"""The commands by name, in the order of the help."""

for name, command in COMMANDS.items():
    app.command(name)(command)

GROUPS: dict[str, typer.Typer] = {"mcp": mcp.app, "token": serve.token_app}
"""Commands that have commands of their own."""

for name, group in GROUPS.items():
    app.add_typer(group, name=name)
