"""Health of servers: the one that runs here for this index, and the one that the settings name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from everfind_core import __version__
from everfind_core.errors import EverfindError
from everfind_core.model import HealthFinding, Severity, WorkspaceStatus
from everfind_core.text.numbers import duration
from everfind_gateway.wiring.running import RunningServer, announced_server

WORKSPACE_CHECK = "workspace"
"""What findings about the workspaces that a server lists are called."""

if TYPE_CHECKING:
    from pathlib import Path

    from everfind_gateway.config.settings import Settings


def check_server_here(settings: Settings) -> list[HealthFinding]:
    """Whether `everfind serve` runs for this index and answers as this process would, and what it cannot serve."""
    server = announced_server(settings.index_dir)
    if server is None:
        alone = "no `everfind serve` runs here; each command does its own work"
        return [HealthFinding("server", Severity.OK, alone)]
    try:
        status, error = _ask(server), None
    except EverfindError as refused:
        status, error = None, refused
    served = () if status is None else status.findings
    return [_answers(server, settings, error), *(one for one in served if one.check == WORKSPACE_CHECK)]


def _answers(server: RunningServer, settings: Settings, error: EverfindError | None) -> HealthFinding:
    """Whether ``server``, which gave an ``error`` or an answer, answers searches."""
    what = f"`everfind serve` ({_described(server)})"
    if not settings.local_server:
        return HealthFinding("server", Severity.OK, f"{what} runs, and is not asked: `local_server` is off")
    if server.version != __version__ or server.digest != settings.digest:
        other = f"everfind {server.version}" if server.version != __version__ else "other settings or folders"
        hint = "Start it again: it then has the settings of now."
        return HealthFinding("server", Severity.WARNING, f"{what} runs with {other}, so searches do not ask it", hint)
    if error is not None:
        hint = "Searches go on without it; start it again."
        return HealthFinding("server", Severity.WARNING, f"{what} does not answer: {error.message}", hint)
    return HealthFinding("server", Severity.OK, f"{what} answers the searches of this machine")


def server_line(index_dir: Path) -> str:
    """The server that runs here for an index, in a few words; empty where none does."""
    server = announced_server(index_dir)
    return "" if server is None else _described(server)


def check_server_asked(server: str, status: WorkspaceStatus) -> HealthFinding:
    """What the server that the settings name has said of itself by answering with ``status``."""
    theirs = f"everfind {status.version}" if status.version else "an everfind of unknown version"
    if status.version in ("", __version__):
        return HealthFinding("server", Severity.OK, f"{server} answers: {theirs}")
    hint = "Use the same version on both sides, so that both know the same calls."
    return HealthFinding("server", Severity.WARNING, f"{server} answers: {theirs}, this is {__version__}", hint)


def _described(server: RunningServer) -> str:
    ends = f", ends when idle for {duration(server.idle_seconds)}" if server.idle_seconds else ""
    return f"process {server.pid}, {server.address}{ends}"


def _ask(server: RunningServer) -> WorkspaceStatus:
    from everfind_rpc.channel import Connection, Endpoint
    from everfind_rpc.clients.indexer import SERVICE, RemoteIndexer

    connection = Connection(Endpoint(server.address, server.token), (SERVICE,))
    try:
        return RemoteIndexer(connection).status()
    finally:
        connection.close()
