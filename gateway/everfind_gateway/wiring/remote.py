"""The remote mode: the same ports, answered by a server."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

from everfind.embedder.v1 import embedder_service_pb2
from everfind_core.errors import ConfigError
from everfind_core.files.paths import encode_os_path
from everfind_core.model import Folder
from everfind_core.ports import Embedder, Indexer, Searcher
from everfind_gateway.wiring.checkouts import CheckedOutIndexer, CheckedOutSearcher, Checkouts
from everfind_gateway.wiring.late import Late
from everfind_gateway.wiring.running import own_token
from everfind_rpc.channel import Connection, Endpoint
from everfind_rpc.clients import indexer, searcher
from everfind_rpc.tls import ClientTls

if TYPE_CHECKING:
    from everfind_gateway.config.settings import Settings

_EMBEDDER = embedder_service_pb2.DESCRIPTOR.services_by_name["EmbedderService"]

DEFAULT_PORT = 50051
TOKEN_VARIABLE = "EVERFIND_SERVER_TOKEN"  # noqa: S105 - the variable's name, no token

_ADDRESS = re.compile(r"(\[[0-9a-fA-F:.]+\]|[\w.-]+)(?::(\d{1,5}))?")


class RemoteWorkspace:
    """A server's corpus. Connects at the first call; use it as a context manager."""

    def __init__(self, settings: Settings) -> None:
        """Prepare to ask ``settings.server``.

        Raises:
            ConfigError: the address is none, or a token or TLS file cannot be used.
        """
        services = (_EMBEDDER, indexer.SERVICE, searcher.SERVICE)
        self._connection = Connection(endpoint(settings), services)
        self._embedder = Late(lambda: _open_embedder(self._connection))
        workspace = settings.server_workspace
        checkouts = Checkouts({name: encode_os_path(root) for name, root in settings.checkouts.items()})
        self._indexer = CheckedOutIndexer(indexer.RemoteIndexer(self._connection, workspace), checkouts)
        self._searcher = CheckedOutSearcher(searcher.RemoteSearcher(self._connection, workspace), checkouts)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    @property
    def embedder(self) -> Embedder:
        """The server's embedding model."""
        return self._embedder.get()

    @property
    def indexer(self) -> Indexer:
        """Keeps the server's index."""
        return self._indexer

    @property
    def searcher(self) -> Searcher:
        """Answers from it."""
        return self._searcher


def _open_embedder(connection: Connection) -> Embedder:
    from everfind_rpc.clients.embedder import RemoteEmbedder  # whoever only asks does not wait for numpy

    return RemoteEmbedder(connection)


def open_remote(settings: Settings) -> RemoteWorkspace:
    """The workspace of the server that ``settings`` name."""
    return RemoteWorkspace(settings)


def server_folders(settings: Settings) -> Sequence[Folder]:
    """The server's folders, for names and paths that a caller gives."""
    with open_remote(settings) as workspace:
        return workspace.indexer.folders()


def endpoint(settings: Settings) -> Endpoint:
    """Where and how to reach the server.

    Raises:
        ConfigError: the address is none, or the token file cannot be read.
    """
    match = _ADDRESS.fullmatch(settings.server)
    if match is None or int(match[2] or DEFAULT_PORT) > 65535:
        raise ConfigError(f"server: {settings.server!r} is no HOST[:PORT]", hint="Such as search.example.org:50051.")
    tls = None
    if settings.server_tls or settings.server_ca or settings.server_certificate:
        tls = ClientTls(settings.server_ca, settings.server_certificate, settings.server_key)
    address = f"{match[1]}:{match[2] or DEFAULT_PORT}"
    token = _token(settings.server_token_file)
    if not token and tls is None:
        token = own_token(settings.index_dir, address)
    return Endpoint(address, token, tls)


def _token(file: Path | None) -> str:
    if token := os.environ.get(TOKEN_VARIABLE, "").strip():
        return _checked(token, TOKEN_VARIABLE)
    if file is None:
        return ""
    try:
        return _checked(file.read_text(encoding="ascii").strip(), str(file))
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it holds more than a token"
        raise ConfigError(
            f"the token file {file} cannot be read: {why}", hint="Check server_token_file, its owner and mode."
        ) from error


def _checked(token: str, place: str) -> str:
    if not token.isascii() or not token.isprintable() or " " in token:
        raise ConfigError(f"{place} holds no token", hint="It is one word, as `everfind token create` prints it.")
    return token
