"""`serve` and `token`: let others ask this corpus, and say who may."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from everfind_core.errors import EverfindError, IndexLockedError, InvalidRequestError, UnavailableError
from everfind_core.files.paths import encode_os_path, printable
from everfind_core.workspaces import is_directory
from everfind_gateway.cli import runtime
from everfind_gateway.cli.completing import workspace_names
from everfind_gateway.cli.options import Json, TlsCertificate, TlsKey, given_path
from everfind_gateway.cli.usage import Commands
from everfind_gateway.render.streams import emit, emit_json, note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from everfind_gateway.config.settings import Settings
    from everfind_gateway.server.open_workspaces import OpenWorkspaces
    from everfind_gateway.wiring.running import Announcement
    from everfind_rpc.auth import TokenFile
    from everfind_rpc.serving.server import ServerSettings

_THIS_MACHINE = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}  # noqa: S104 - where one that listens everywhere is reached

SETTINGS_SECONDS = 1.0
"""How often the settings are looked at: who finds the server must have the folders that it has."""

token_app = typer.Typer(
    name="token",
    help="Tokens that a server takes: who may search, index and administer.",
    rich_markup_mode=None,
    cls=Commands,
    no_args_is_help=True,
)


Listen: TypeAlias = Annotated[
    str | None, typer.Option("--listen", metavar="HOST:PORT", help="Where to listen, in place of the setting.")
]
ClientCa: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--client-ca", metavar="FILE", help="Clients need a certificate signed by this authority.", parser=given_path
    ),
]
Others: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="NAME|DIR",
        help="Answer from these workspaces, too, in place of the setting `workspaces`: named ones, and directories "
        "(`./DIR`) with their projects.",
        show_default=False,
        autocompletion=workspace_names,
    ),
]
LogLevel: TypeAlias = Annotated[
    Literal["debug", "info", "warning", "error"], typer.Option("--log-level", help="What is logged on stderr.")
]
IdleSeconds: TypeAlias = Annotated[
    float, typer.Option("--idle-seconds", metavar="N", min=0, help="End after N seconds without a call; 0: never.")
]
Stop: TypeAlias = Annotated[bool, typer.Option("--stop", help="End the server that runs for this corpus, and wait.")]
HeldLock: TypeAlias = Annotated[int | None, typer.Option("--held-lock", hidden=True)]


def serve(
    context: typer.Context,
    workspaces: Others = None,
    *,
    listen: Listen = None,
    tls_certificate: TlsCertificate = None,
    tls_key: TlsKey = None,
    client_ca: ClientCa = None,
    log_level: LogLevel = "warning",
    idle_seconds: IdleSeconds = 0.0,
    stop: Stop = False,
    held_lock: HeldLock = None,
) -> None:
    """Serve this corpus to gRPC clients, and keep its index up with its folders, until it is told to stop.

    Every call needs a token, so that no other user of this machine can ask. Your own commands on this machine find one
    by themselves, unless it serves over TLS; others get one from `everfind token create`. Clients name the workspace
    they mean with --workspace.
    """
    from everfind_gateway.wiring.running import Announcement
    from everfind_rpc.auth import TokenFile
    from everfind_rpc.logs import configure_logs
    from everfind_rpc.serving.server import ServerSettings, check_listen
    from everfind_rpc.tls import server_tls

    settings = runtime.runtime_of(context).settings(listen=listen, workspaces=workspaces)
    runtime.refuse_remote(settings, "`serve` serves the corpus of this machine")
    if stop:
        _stop(settings)
        return
    announcement = Announcement(settings.index_dir, settings.digest, idle_seconds=idle_seconds, held=held_lock)
    serving = ServerSettings(
        listen=settings.listen,
        tokens=TokenFile(settings.token_file, own=announcement.token),
        tls=server_tls(tls_certificate, tls_key, client_ca),
        idle_seconds=idle_seconds,
    )
    check_listen(serving)
    configure_logs("everfind", log_level)
    _run(context, settings, serving, announcement)


def _stop(settings: Settings) -> None:
    from everfind_gateway.wiring.autostart import stop_server

    stopped = stop_server(settings)
    note("no server runs for this corpus" if stopped is None else f"stopped process {stopped.pid}, {stopped.address}")


def _run(context: typer.Context, settings: Settings, serving: ServerSettings, announcement: Announcement) -> None:
    from everfind_gateway.server.process import live_long
    from everfind_gateway.server.server_health import server_line
    from everfind_gateway.server.serving import open_serving
    from everfind_rpc.serving.server import run_server
    from everfind_rpc.tracing import configure_tracing

    host = settings.listen.rpartition(":")[0]

    def ready(port: int) -> None:
        found = False
        if serving.tls is None:
            opened.opener.address = f"{_THIS_MACHINE.get(host, host)}:{port}"
            found = announcement.publish(opened.opener.address)
        note(f"serving on {host}:{port}")
        if not found and not (serving.tokens and serving.tokens.tokens()):
            note("nobody has a token for it yet: `everfind token create NAME`")
        threading.Thread(target=_open_listed, args=(opened.others,), name="listed", daemon=True).start()

    live_long()
    with contextlib.ExitStack() as stack:
        stack.callback(configure_tracing("serve"))
        stack.enter_context(announcement)
        if announcement.taken:
            if serving.idle_seconds:  # started unasked, beside one that was quicker
                return
            raise _runs_already(server_line(settings.index_dir))
        opened = stack.enter_context(open_serving(settings, announcement.token))
        stack.enter_context(_looking_at_settings(context, settings, serving, announcement, opened.others))
        opened.own.embedder.model()
        if settings.watch:
            opened.own.follow()
        run_server(opened.services, serving, on_ready=ready)


def _runs_already(server: str) -> IndexLockedError:
    """``server`` is that which runs, in a few words; empty while it starts, and where it serves over TLS."""
    return IndexLockedError(
        f"`everfind serve` runs for this corpus already{server and ': '}{server}",
        hint="Ask that one, or end it first: `everfind serve --stop`.",
    )


def _open_listed(others: OpenWorkspaces) -> None:
    def warn(error: EverfindError) -> None:  # it says so again to whoever asks
        note(f"everfind: warning: {error.message}")

    try:
        others.open_listed(warn)
    except UnavailableError:  # the server is told to end meanwhile
        return
    except EverfindError as error:
        warn(error)


@contextlib.contextmanager
def _looking_at_settings(
    context: typer.Context,
    settings: Settings,
    serving: ServerSettings,
    announcement: Announcement,
    opened: OpenWorkspaces,
) -> Iterator[None]:
    """Within the block, let whoever has the same settings and the folders of now find the server."""
    stopped = threading.Event()
    known = Followed(settings, announcement.renew, _told(serving))

    def look() -> None:
        while not stopped.wait(SETTINGS_SECONDS):
            with contextlib.suppress(EverfindError):  # settings that cannot be used now: those of before hold
                known.look(runtime.runtime_of(context).load())
            opened.look()

    thread = threading.Thread(target=look, name="settings", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def _told(serving: ServerSettings) -> Callable[[str], object]:
    """Who hears that the settings have changed: one that ends by itself ends now, to be started with those of now."""
    if serving.idle_seconds:
        return lambda _change: os.kill(os.getpid(), signal.SIGTERM)
    return note


class Followed:
    """The settings that a server was started with, of which the folders alone may change while it runs.

    ``renew`` gets the digest of what it answers for now, ``tell`` hears once of each other change.
    """

    def __init__(self, settings: Settings, renew: Callable[[str], object], tell: Callable[[str], object]) -> None:
        self._settings = settings
        self._digest = settings.digest
        self._renew = renew
        self._tell = tell

    def look(self, now: Settings) -> None:
        """Take in the settings as they are now."""
        digest = now.digest
        if digest == self._digest:
            return
        self._digest = digest
        if now.model_copy(update={"folders": self._settings.folders}).digest == self._settings.digest:
            self._renew(digest)
        else:
            self._tell("the settings have changed: restart `everfind serve` to answer with them")


@token_app.command("create")
def create(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whom or what the token is for.")],
    *,
    scope: Annotated[
        list[str] | None,
        typer.Option("--scope", metavar="SCOPE", help="One of search (the default), index and admin. Repeatable."),
    ] = None,
    folder: Annotated[
        list[str] | None,
        typer.Option("--folder", "-f", metavar="NAME", help="Only this folder exists for it. Repeatable."),
    ] = None,
    workspace: Annotated[
        list[str] | None,
        typer.Option(
            "--workspace",
            metavar="NAME|DIR",
            help="Only this workspace exists for it, or those whose projects lie in this directory. Repeatable. "
            "A token with --folder and without this is for the server's own workspace.",
        ),
    ] = None,
) -> None:
    """Make a token and print it. It is shown this once: only its hash is kept."""
    from everfind_rpc.auth import Scope

    known = [one.value for one in Scope]
    for given in scope or ():
        if given not in known:
            raise InvalidRequestError.of("scope", f"{given!r} is no scope", hint=f"Use one of: {', '.join(known)}.")
    scopes = [Scope(given) for given in scope or ("search",)]
    workspaces = [_absolute(one) if is_directory(one) else one for one in workspace or ()]
    token, secret = _tokens(context).create(name, scopes, folder or (), workspaces)
    emit(secret)
    limits = (*token.folders, *token.workspaces)
    limit = f", only {', '.join(map(printable, limits))}" if limits else ""
    note(f"token {token.id} for {printable(token.name)}: {', '.join(token.scopes)}{limit}")


@token_app.command("list")
def list_tokens(context: typer.Context, as_json: Json = False) -> None:
    """List the tokens: id, name, scopes and folders. The tokens themselves are not kept."""
    tokens = _tokens(context).tokens()
    if as_json:
        listed = [
            {
                "id": token.id,
                "name": token.name,
                "scopes": list(token.scopes),
                "folders": list(token.folders),
                "workspaces": list(token.workspaces),
                "created": token.created,
            }
            for token in tokens
        ]
        emit_json({"tokens": listed})
        return
    for token in tokens:
        created = dt.datetime.fromtimestamp(token.created, dt.UTC).strftime("%Y-%m-%d")
        folders = ",".join(map(printable, token.folders)) or "all folders"
        within = f" in {','.join(map(printable, token.workspaces))}" if token.workspaces else ""
        emit(f"{token.id}  {created}  {','.join(token.scopes):<12}  {folders}{within}  {printable(token.name)}")
    if not tokens:
        note("no tokens yet: `everfind token create NAME`")


@token_app.command("revoke")
def revoke(
    context: typer.Context,
    token: Annotated[str, typer.Argument(metavar="ID|NAME", help="The token, by its id or its name.")],
) -> None:
    """Make a token unknown, at once."""
    revoked = _tokens(context).revoke(token)
    emit(f"revoked {revoked.id}  {printable(revoked.name)}")


def _absolute(directory: str) -> str:
    return encode_os_path(os.path.realpath(os.path.expanduser(directory)))  # noqa: PTH111 - Path's fails without a home


def _tokens(context: typer.Context) -> TokenFile:
    from everfind_rpc.auth import TokenFile

    settings = runtime.runtime_of(context).settings()
    runtime.refuse_remote(settings, "tokens are kept where the server runs")
    return TokenFile(settings.token_file)
