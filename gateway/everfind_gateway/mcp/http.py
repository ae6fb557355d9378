"""The server on streamable HTTP: many clients share one warm workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse

from everfind_gateway.server.http_server import HttpOptions, has_token, security, serve

if TYPE_CHECKING:
    from socket import socket

    from mcp.server.lowlevel import Server
    from starlette.types import ASGIApp, Receive, Scope, Send

PATH = "/mcp"
MAX_SESSIONS = 200


def serve_http(server: Server[None], options: HttpOptions, listening: socket, where: str) -> None:
    """Serve until SIGTERM or SIGINT; ``where`` says after the address where the token is, if that is not known."""
    serve(
        application(server, options), listening, lambda url: f"everfind serves MCP at {url}{PATH}{where}", options.tls
    )


def application(server: Server[None], options: HttpOptions) -> ASGIApp:
    """The ASGI application; ``options.token`` must be set.

    A page that a browser has loaded from elsewhere cannot call it, whatever its name.
    """
    app = server.streamable_http_app(
        streamable_http_path=PATH, max_sessions=MAX_SESSIONS, transport_security=security(options)
    )
    return _TokenCheck(app, options.token)


class _TokenCheck:
    """Lets only requests with the token through."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401 without the token; anything else goes on."""
        if scope["type"] == "http" and not has_token(Headers(scope=scope), self._token):
            refusal = PlainTextResponse(
                "a bearer token is needed", status_code=401, headers={"WWW-Authenticate": "Bearer"}
            )
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)
