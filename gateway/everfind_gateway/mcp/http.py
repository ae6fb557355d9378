"""The server on streamable HTTP: many clients share one warm workspace."""

from __future__ import annotations

import hmac
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse

from everfind_core.errors import InvalidRequestError, UnavailableError
from everfind_gateway.render.streams import note
from everfind_rpc.hosts import is_loopback

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from starlette.types import ASGIApp, Receive, Scope, Send

PATH = "/mcp"
MAX_SESSIONS = 200
MIN_TOKEN = 16
STOP_SECONDS = 3
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """Where to listen, and who may call.

    ``port`` 0 takes a free one. ``token`` is what every request must carry; empty asks for none, on loopback only.
    ``hosts`` and ``origins`` are further names of this server and origins of pages that may call it.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    token: str = ""
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()


def serve_http(server: Server[None], options: HttpOptions) -> None:
    """Serve until SIGTERM or SIGINT.

    Raises:
        InvalidRequestError: the options would let anybody call, or the token is too short to be a secret.
        UnavailableError: the address cannot be listened on.
    """
    check_options(options)
    with _listening(options) as listening:
        address = listening.getsockname()
        shown = f"[{address[0]}]" if ":" in address[0] else address[0]
        note(f"everfind serves MCP at http://{shown}:{address[1]}{PATH}")
        config = uvicorn.Config(
            application(server, options),
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=STOP_SECONDS,
        )
        uvicorn.Server(config).run(sockets=[listening])


def check_options(options: HttpOptions) -> None:
    """Raise InvalidRequestError for options that are not safe to serve with."""
    if options.token and (len(options.token) < MIN_TOKEN or not options.token.isascii()):
        raise InvalidRequestError.of("token", f"it needs at least {MIN_TOKEN} ASCII characters")
    if not options.token and not is_loopback(options.host):
        raise InvalidRequestError.of(
            "host",
            f"{options.host!r} can be reached by others, and no token is set",
            hint="Set EVERFIND_MCP_TOKEN or --token-file, or listen on 127.0.0.1.",
        )


def application(server: Server[None], options: HttpOptions) -> ASGIApp:
    """The ASGI application. A page that a browser has loaded from elsewhere cannot call it, whatever its name."""
    named = f"[{options.host}]" if ":" in options.host else options.host
    hosts = dict.fromkeys((*_LOOPBACK, named, *options.hosts))
    origins = [*(f"http://{host}:*" for host in _LOOPBACK), *options.origins]
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        max_sessions=MAX_SESSIONS,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=[form for host in hosts for form in (host, f"{host}:*")],
            allowed_origins=origins,
        ),
    )
    return _TokenCheck(app, options.token) if options.token else app


class _TokenCheck:
    """Lets only requests with the token through."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401 without the token; anything else goes on."""
        if scope["type"] == "http":
            given = Headers(scope=scope).get("authorization", "").encode()
            if not hmac.compare_digest(given, self._expected):
                refusal = PlainTextResponse(
                    "a bearer token is needed", status_code=401, headers={"WWW-Authenticate": "Bearer"}
                )
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _listening(options: HttpOptions) -> socket.socket:
    try:
        found = socket.getaddrinfo(options.host, options.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = found[0]
        return socket.create_server((str(address[0]), int(address[1])), family=family, backlog=128)
    except OSError as error:
        raise UnavailableError(
            f"cannot listen on {options.host}:{options.port}: {error.strerror or error}",
            hint="Choose another --port or --host.",
        ) from error
