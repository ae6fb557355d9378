"""`scaffold`, `init` and `hook`: a project with an index of its own."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from everfind_core.cancellation import Cancellation
from everfind_core.errors import EverfindError
from everfind_core.files.paths import printable
from everfind_gateway.cli import runtime
from everfind_gateway.cli.options import given_path
from everfind_gateway.render.streams import emit, emit_json, note

if TYPE_CHECKING:
    from everfind_gateway.config.settings import Settings
    from everfind_gateway.scaffold.project import Current, Options


class Client(StrEnum):
    """The hosts that the MCP server can be registered with."""

    CLAUDE = "claude"
    CURSOR = "cursor"
    CODEX = "codex"
    ZED = "zed"
    VSCODE = "vscode"


Name = Annotated[str | None, typer.Option("--name", metavar="NAME", help="What the project's corpus is called.")]
Description = Annotated[
    str | None, typer.Option("--description", metavar="TEXT", help="What agents are told that it holds.")
]
Include = Annotated[
    list[str] | None,
    typer.Option("--include", metavar="GLOB", help="Index only files whose path matches. Repeatable."),
]
Clients = Annotated[
    list[Client] | None,
    typer.Option("--client", help="Register the MCP server with this host. Repeatable; claude if none is given."),
]
Hook = Annotated[
    bool, typer.Option("--hook", help="Let Claude Code index after each edit, in its settings for you alone.")
]


def scaffold(
    context: typer.Context,
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The project's directory.", parser=given_path)],
    *,
    name: Name = None,
    description: Description = None,
    include: Include = None,
    client: Clients = None,
    hook: Hook = False,
) -> None:
    """Give a project its own folders and index, and register it with agents.

    Run again it keeps what was tuned; options given then change what they name.
    """
    del context
    _write(directory, _options(name, description, include, client, hook=hook))


def init(
    context: typer.Context,
    directory: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="The project's directory.", parser=given_path)
    ] = Path(),
    *,
    name: Name = None,
    description: Description = None,
    include: Include = None,
    client: Clients = None,
    hook: Annotated[bool | None, typer.Option("--hook/--no-hook", help="As in `scaffold`.", show_default=False)] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing; take what is there, or the defaults.")] = False,
) -> None:
    """As `scaffold`, but asks for what no option says."""
    from everfind_gateway.scaffold.project import current

    del context
    if not yes and sys.stdin.isatty():
        has = current(directory)
        name = name if name is not None else _asked("Name", has.name or directory.resolve().name)
        if description is None:
            description = _asked("What it holds, for agents (may be empty)", has.description) or None
        include = include if include is not None else _asked_globs(has)
        hook = hook if hook is not None else typer.confirm("Index after each edit in Claude Code?", default=False)
    _write(directory, _options(name, description, include, client, hook=bool(hook)))


def hook(
    context: typer.Context,
    *,
    work: Annotated[bool, typer.Option("--work", hidden=True)] = False,
) -> None:
    """Index after an edit, in the background; an editor runs this, with its event on standard input.

    Edits are gathered: a run starts two seconds after the last one, at most every 30 seconds. It warns once a session
    when indexing fails.
    """
    from everfind_gateway.scaffold import reindex

    started = runtime.runtime_of(context)
    if work:
        settings = started.settings()
        reindex.work(reindex.Notes.of(settings.index_dir), lambda folders: _index(settings, folders))
        return
    event = sys.stdin.buffer.read(reindex.MAX_EVENT_BYTES)
    config = ["--config", str(started.config.absolute())] if started.config is not None else []
    try:
        warning = reindex.after_edit(started.settings(), event, [*config, "hook", "--work"])
    except EverfindError as error:
        warning = reindex.Notes.of(Path.cwd()).once(reindex.edited_file(event).session, error)
    except OSError as error:
        warning = f"the hook's notes cannot be written: {error.strerror}"
    if warning:
        emit_json({"systemMessage": f"everfind does not index your edits: {warning} `everfind index` shows more."})


def _options(
    name: str | None, description: str | None, include: list[str] | None, client: list[Client] | None, *, hook: bool
) -> Options:
    from everfind_gateway.scaffold.project import Options

    globs = None if include is None else tuple(glob for glob in include if glob)
    return Options(name, description, globs, tuple(one.value for one in client or (Client.CLAUDE,)), hook)


def _write(directory: Path, options: Options) -> None:
    from everfind_gateway.scaffold.project import write

    found = shutil.which("everfind")
    command = [*([found] if found else [sys.executable, "-m", "everfind_gateway"]), "hook"]
    for step in write(directory, options, command):
        emit(f"{'wrote' if step.changed else 'kept':<6} {printable(str(step.path))}  ({step.what})")
    note(f"`everfind --config {printable(str(directory))} index` makes it searchable")


def _asked(question: str, default: str) -> str:
    return str(typer.prompt(question, default=default, err=True)).strip()


def _asked_globs(has: Current) -> list[str]:
    answer = _asked("Only files that match, separated by commas (empty: all)", ",".join(has.include))
    return [glob.strip() for glob in answer.split(",") if glob.strip()]


def _index(settings: Settings, folders: Iterable[str]) -> None:
    from everfind_gateway.target_requests import index_requests

    known = {folder.name for folder in settings.folders}
    names = [name for name in folders if name in known]
    if not names:
        return
    with runtime.open_workspace(settings) as workspace:
        for request in index_requests(settings, names):
            workspace.indexer.index(request, lambda _event: None, cancel=Cancellation())
