"""`mcp`: serve agents, and register the server with their hosts."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import platformdirs
import typer

from everfind_core.errors import EXIT_CODES, ConfigError, ErrorKind, InvalidRequestError, UnavailableError
from everfind_core.files.paths import printable
from everfind_core.workspaces import is_directory
from everfind_gateway.cli import runtime
from everfind_gateway.cli.completing import tool_names
from everfind_gateway.cli.options import TlsCertificate, TlsKey, given_path
from everfind_gateway.cli.runtime import Runtime
from everfind_gateway.cli.usage import Commands
from everfind_gateway.render.streams import emit, note
from everfind_gateway.wiring.workspace import open_followed_workspace

if TYPE_CHECKING:
    from everfind_gateway.config.settings import Settings
    from everfind_gateway.live_workspace import LiveWorkspace
    from everfind_gateway.mcp.corpora import Corpora
    from everfind_gateway.server.http_server import HttpOptions
    from everfind_gateway.wiring.local import Shared

KEPT_TOKEN = "mcp-token"  # noqa: S105 - the file's name

app = typer.Typer(
    name="mcp",
    help="Serve agents by the Model Context Protocol.\n\nOn standard input and output, until the former closes; "
    "docs/mcp.md describes tools and hosts.",
    rich_markup_mode=None,
    cls=Commands,
    invoke_without_command=True,
)


Name: TypeAlias = Annotated[
    str | None, typer.Option("--name", metavar="NAME", help="The server's name, as hosts show it.")
]
Description: TypeAlias = Annotated[
    str | None, typer.Option("--description", metavar="TEXT", help="What agents are told that the folders hold.")
]
Tools: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--tool",
        metavar="NAME",
        help="Offer this tool, and no others but those named. Repeatable.",
        autocompletion=tool_names,
    ),
]
TokenFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="With --http: the token that every request must carry, in a file. EVERFIND_MCP_TOKEN is the same. "
        "Needed on addresses that others reach; without one it makes one and keeps it for you.",
        parser=given_path,
    ),
]
AllowHost: TypeAlias = Annotated[
    list[str] | None, typer.Option(metavar="NAME", help="With --http: another name of this server. Repeatable.")
]
AllowOrigin: TypeAlias = Annotated[
    list[str] | None, typer.Option(metavar="URL", help="With --http: web pages of this origin may call. Repeatable.")
]


@app.callback()
def mcp(
    context: typer.Context,
    *,
    name: Name = None,
    description: Description = None,
    tool: Tools = None,
    http: Annotated[bool, typer.Option("--http", help="Serve many clients on streamable HTTP instead.")] = False,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="With --http: listen here.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65_535, help="With --http: on this port.")] = 8765,
    token_file: TokenFile = None,
    tls_certificate: TlsCertificate = None,
    tls_key: TlsKey = None,
    allow_host: AllowHost = None,
    allow_origin: AllowOrigin = None,
) -> None:
    """Serve on standard input and output."""
    if context.invoked_subcommand is not None:
        return
    from everfind_gateway.server.process import live_long

    live_long()
    flags: dict[str, Any] = {"mcp_name": name, "mcp_description": description, "mcp_tools": tool or None}
    started = runtime.runtime_of(context)
    if not http:
        _serve_stdio(started, flags)
        return

    from everfind_gateway.server.http_server import HttpOptions, check_options, given_tls

    token = given_token(token_file, "EVERFIND_MCP_TOKEN")
    tls = given_tls(tls_certificate, tls_key)
    options = HttpOptions(host, port, token, tuple(allow_host or ()), tuple(allow_origin or ()), tls)
    check_options(options)
    _serve_http(started, flags, options)


def _serve_http(started: Runtime, flags: dict[str, Any], options: HttpOptions) -> None:
    from everfind_gateway.mcp.http import serve_http
    from everfind_gateway.server.http_server import kept_token, listen

    where = ""
    if not options.token:
        file = platformdirs.user_config_path("everfind") / KEPT_TOKEN
        options = replace(options, token=kept_token(file))
        where = f" with the token in {printable(str(file))}"
    settings = started.settings(**flags)
    shared = shared_of(settings)
    corpus = corpus_of(started, flags, shared)

    from everfind_gateway.mcp.server import build_server

    others = others_of(settings, shared)
    server = build_server(corpus, settings, others=others)
    with listen(options) as listening:
        corpus.warm_up()
        try:
            serve_http(server, options, listening, where)
        finally:
            close_corpus(corpus, EXIT_CODES[ErrorKind.CANCELLED], others)


def _serve_stdio(started: Runtime, flags: dict[str, Any]) -> None:
    from everfind_gateway.mcp.wire import claim

    if sys.__stdin__ is None or sys.__stdout__ is None:  # as the process got them; others may stand in their places
        raise UnavailableError("standard input or output is closed", hint="A host starts this command with both open.")
    interactive = sys.stdin.isatty()
    wire = claim()
    settings = started.settings(**flags)
    if interactive:
        note("everfind speaks MCP on standard input and output; a host starts it, Ctrl-D ends it")
    shared = shared_of(settings)
    corpus = corpus_of(started, flags, shared)

    from everfind_gateway.mcp.server import Activity, build_server
    from everfind_gateway.mcp.stdio import serve

    activity = Activity()
    others = others_of(settings, shared)
    code = serve(build_server(corpus, settings, activity=activity, others=others), activity, wire)
    close_corpus(corpus, code, others)
    if code:
        raise typer.Exit(code)


def corpus_of(started: Runtime, flags: dict[str, Any], shared: Shared | None = None) -> LiveWorkspace:
    """What a server that lives long answers from, by the settings as they are at each call."""
    import logging

    from everfind_gateway.live_workspace import LiveWorkspace

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(name)s: %(message)s")
    return LiveWorkspace(lambda: started.load(**flags), lambda settings: open_followed_workspace(settings, shared))


def shared_of(settings: Settings) -> Shared | None:
    """What the workspaces that `workspaces` lists share; None if it lists none, or a server is asked."""
    if not settings.workspaces or settings.server:
        return None
    from everfind_gateway.wiring.local import open_shared

    return open_shared()


def others_of(settings: Settings, shared: Shared | None) -> Corpora | None:
    """Those workspaces, if there are any.

    Raises:
        WorkspaceNotFoundError, ConfigError: one that is listed is not there.
    """
    if shared is None:
        return None
    from everfind_gateway.mcp.corpora import Corpora
    from everfind_gateway.server.served import Served

    opening = partial(open_followed_workspace, shared=shared)
    others = Corpora(Served(settings.workspaces), opening, limit=settings.max_workspaces, own_index=settings.index_dir)
    for finding in others.findings():
        note(f"everfind: warning: {finding.message}")
    return others


def close_corpus(corpus: LiveWorkspace, code: int, others: Corpora | None = None) -> None:
    """Close it; or end the process at once where native code still runs, which must not meet its end half-way."""
    closed = [corpus.close(), others is None or others.close()]
    if not all(closed):
        os._exit(code)


def given_token(file: Path | None, variable: str) -> str:
    """The token that a file or an environment variable holds; empty if neither is given.

    Raises:
        ConfigError: the file cannot be read, or is empty.
    """
    if file is None:
        return os.environ.get(variable, "")
    try:
        token = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigError(f"cannot read the token file {file}: {why}", hint="Check its path and mode.") from error
    if not token:
        raise ConfigError(f"the token file {file} is empty", hint="Write a long random word into it.")
    return token


@app.command()
def install(
    context: typer.Context,
    client: Annotated[
        Literal["claude", "cursor", "codex", "zed", "vscode"], typer.Option(help="The host to register with.")
    ],
    *,
    project: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="For this project only, in a file that can be shared.", parser=given_path),
    ] = None,
    name: Annotated[str, typer.Option(metavar="NAME", help="The server's name there.")] = "everfind",
    write: Annotated[
        bool, typer.Option("--write", help="Write it, in place of printing it. Other servers there stay.")
    ] = False,
) -> None:
    """Print, or write, what makes a host start this server."""
    from everfind_gateway.mcp import registration

    registration.check_name(name)
    wanted = registration.registration(client, name, _command(context, project), project)
    if not write:
        if wanted.file is not None:
            note(f"add to {printable(str(wanted.file))}:")
        emit(wanted.text())
        return
    if wanted.file is None:
        note(f"{client} keeps its own file; run this:")
        emit(wanted.text())
    elif registration.write(wanted):
        emit(f"registered {name} in {printable(str(wanted.file))}")
    else:
        emit(f"{name} is registered in {printable(str(wanted.file))} already")


def _command(context: typer.Context, project: Path | None) -> list[str]:
    """What starts the server: without a machine's paths in a file that others get."""
    started = runtime.runtime_of(context)
    options = ["--server", started.server] if started.server is not None else []
    if started.no_server:
        options.append("--no-server")
    if started.workspace:
        if project is not None:
            what = "a project's file is for others too, and the workspace is yours alone"
            raise InvalidRequestError.of("workspace", what)
        directory = is_directory(started.workspace) and not started.server
        options += ["--workspace", str(Path(started.workspace).absolute()) if directory else started.workspace]
    if started.config is not None:
        options += ["--config", str(started.config if project is not None else started.config.absolute())]
    if project is not None:
        return ["everfind", *options, "mcp"]
    found = shutil.which("everfind")
    return [*([found] if found else [sys.executable, "-m", "everfind_gateway"]), *options, "mcp"]
