"""`connect`: use a server's corpus from now on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from everfind_core.errors import InvalidRequestError
from everfind_core.files.paths import printable
from everfind_gateway.cli import runtime
from everfind_gateway.cli.options import given_path
from everfind_gateway.render.streams import emit, note

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

    from everfind_core.model import WorkspaceStatus
    from everfind_gateway.config.settings import Settings

KEYS = ("server", "server_token_file", "server_tls", "server_ca", "server_certificate", "server_key")
"""The settings that say how to reach a server; one `connect` replaces all of them."""


TokenFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--token-file", metavar="FILE", help="File that holds the token for it.", parser=given_path),
]
Ca: TypeAlias = Annotated[
    Path | None,
    typer.Option("--ca", metavar="FILE", help="Authority (PEM) that signed its certificate.", parser=given_path),
]
Certificate: TypeAlias = Annotated[
    Path | None,
    typer.Option("--certificate", metavar="FILE", help="Certificate (PEM) to show to it.", parser=given_path),
]
Key: TypeAlias = Annotated[
    Path | None, typer.Option("--key", metavar="FILE", help="Private key of --certificate.", parser=given_path)
]


def connect(
    context: typer.Context,
    server: Annotated[
        str, typer.Argument(metavar="[HOST[:PORT]]", help="Where the server listens.", show_default=False)
    ] = "",
    *,
    token_file: TokenFile = None,
    tls: Annotated[bool, typer.Option("--tls", help="Ask it over TLS. The options below imply it.")] = False,
    ca: Ca = None,
    certificate: Certificate = None,
    key: Key = None,
    off: Annotated[bool, typer.Option("--off", help="Use the index of this machine again.")] = False,
) -> None:
    """Use a server's corpus from now on, in place of the index of this machine.

    Asks the server first, says what it has, and writes it into your own settings. A token in EVERFIND_SERVER_TOKEN is
    used and not kept.
    """
    given = [token_file, tls, ca, certificate, key]
    if off == bool(server) or (off and any(given)):
        raise InvalidRequestError.of(
            "server", "give either HOST[:PORT] or --off", hint="Such as `everfind connect db:50051`."
        )
    started = runtime.runtime_of(context)
    if off:
        settings = started.settings()
        _store(settings, {})
        emit(f"no longer connected{f' to {printable(settings.server)}' if settings.server else ''}")
        return
    values = dict(zip(KEYS, (server, token_file, tls or None, ca, certificate, key), strict=True))
    settings = started.settings(may_be_missing=True, **values)
    emit(_found(settings.server, _ask(settings)))
    used = settings.model_dump(mode="json", include=set(KEYS))
    _store(settings, {name: used[name] for name in KEYS if values[name] is not None})
    note(f"written to {printable(str(settings.files.user.path))}; `everfind connect --off` undoes it")


def _ask(settings: Settings) -> WorkspaceStatus:
    with runtime.open_workspace(settings) as workspace:
        return workspace.indexer.status()


def _found(server: str, status: WorkspaceStatus) -> str:
    from everfind_core.text.numbers import count

    names = ", ".join(printable(one.folder.name) for one in status.folders) or "none"
    return (
        f"connected to {printable(server)}, everfind {printable(status.version) or 'of an unknown version'}\n"
        f"folders     {names}\n"
        f"searchable  {count(status.coverage.files, 'file')}, {count(status.coverage.chunks, 'chunk')}"
    )


def _store(settings: Settings, values: dict[str, object]) -> None:
    """Put ``values`` in the place of all :data:`KEYS` of the user's own settings file."""
    from everfind_gateway.config import files as config_files

    def edit(document: TOMLDocument) -> None:
        for name in KEYS:
            if name in document:
                document.remove(name)
        for name, value in values.items():
            document[name] = value

    config_files.change(settings.files.user, edit, keys=frozenset(KEYS))
