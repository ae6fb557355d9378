"""What the HTTP servers share: where they listen, and who may call."""

from __future__ import annotations

import hmac
import secrets
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers

from everfind_core.errors import ConfigError, InvalidRequestError, UnavailableError
from everfind_core.files.whole import replace_file
from everfind_gateway.render.streams import note
from everfind_rpc.hosts import is_loopback

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from starlette.types import ASGIApp

    from everfind_rpc.tls import ServerTls

MIN_TOKEN = 16
STOP_SECONDS = 3
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """Where to listen, and who may call.

    ``port`` 0 takes a free one. ``token`` is what requests must carry; where none is given, one is made. ``hosts`` and
    ``origins`` are further names of this server and origins of pages that may call it. Without ``tls`` it speaks plain
    HTTP.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    token: str = ""
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    tls: ServerTls | None = None


def check_options(options: HttpOptions) -> None:
    """Refuse options that are not safe to serve with, or that cannot be.

    Raises:
        InvalidRequestError: the token is too short, or there is none where others reach the server.
        ConfigError: a TLS file cannot be used.
    """
    if options.tls is not None:
        from everfind_rpc.tls import check_tls

        check_tls(options.tls)
    if options.token and (len(options.token) < MIN_TOKEN or not options.token.isascii()):
        raise InvalidRequestError.of("token", f"it needs at least {MIN_TOKEN} ASCII characters")
    if not options.token and not is_loopback(options.host):
        raise InvalidRequestError.of(
            "host",
            f"{options.host!r} can be reached by others, and no token is set",
            hint="Set EVERFIND_MCP_TOKEN or --token-file, or listen on 127.0.0.1.",
        )


def given_tls(certificate: Path | None, key: Path | None) -> ServerTls | None:
    """What two options mean; None is plain HTTP.

    Raises:
        ConfigError: one of the two files is missing.
    """
    if certificate is None and key is None:
        return None
    from everfind_rpc.tls import server_tls  # loads gRPC

    return server_tls(certificate, key, None)


def kept_token(file: Path) -> str:
    """The token that a user's server keeps in ``file``, which nobody else may read; made at its first start.

    Raises:
        ConfigError: the file can be read by others, or cannot be read or written.
    """
    try:
        if file.exists() and file.stat().st_mode & 0o077:
            raise ConfigError(f"others can read the token in {file}", hint=f"Run `chmod 600 {file}`, or remove it.")
        token = file.read_text(encoding="ascii").strip() if file.exists() else ""
        if len(token) < MIN_TOKEN:
            token = secrets.token_urlsafe(32)
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            replace_file(file, f"{token}\n")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigError(
            f"no token can be kept in {file}: {why}", hint="Check its owner and mode, or give a token of your own."
        ) from error
    return token


def security(options: HttpOptions, *, own_pages: bool = False) -> TransportSecuritySettings:
    """Which Host and Origin headers are taken, so that a page loaded from elsewhere cannot call, whatever its name.

    With ``own_pages`` the pages that this server itself serves may call it, under each of its names.
    """
    named = f"[{options.host}]" if ":" in options.host else options.host
    hosts = dict.fromkeys((*_LOOPBACK, named, *options.hosts))
    origins = [f"http://{host}:*" for host in _LOOPBACK]
    if own_pages:
        origins += [f"{scheme}://{host}{port}" for scheme in ("http", "https") for host in hosts for port in ("", ":*")]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[form for host in hosts for form in (host, f"{host}:*")],
        allowed_origins=[*dict.fromkeys(origins), *options.origins],
    )


def has_token(headers: Headers, token: str) -> bool:
    """Whether a request carries ``token`` as its bearer token, compared in constant time."""
    return hmac.compare_digest(headers.get("authorization", "").encode(), f"Bearer {token}".encode())


def listen(options: HttpOptions) -> socket.socket:
    """Listen where the options say, so that what is wrong with that is known before anything else begins.

    Raises:
        UnavailableError: the address cannot be listened on.
    """
    try:
        found = socket.getaddrinfo(options.host, options.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = found[0]
        return socket.create_server((str(address[0]), int(address[1])), family=family, backlog=128)
    except (OSError, UnicodeError) as error:  # the latter for what cannot be a name
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UnavailableError(
            f"cannot listen on {options.host}:{options.port}: {why}",
            hint="Choose another --port or --host.",
        ) from error


def serve(app: ASGIApp, listening: socket.socket, announce: Callable[[str], str], tls: ServerTls | None = None) -> None:
    """Serve ``app`` until SIGTERM or SIGINT; ``announce`` makes the line that says so from the server's URL."""
    address = listening.getsockname()
    shown = f"[{address[0]}]" if ":" in address[0] else address[0]
    note(announce(f"http{'s' if tls else ''}://{shown}:{address[1]}"))
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=STOP_SECONDS,
        ssl_certfile=tls.certificate if tls else None,
        ssl_keyfile=tls.key if tls else None,
    )
    uvicorn.Server(config).run(sockets=[listening])
