"""The page, and the calls that it makes: three tools of agents with the same arguments and answers, as JSON over HTTP.

The page itself holds nothing secret and is given to anybody who may reach it; every call needs the token.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mcp.server.transport_security import TransportSecurityMiddleware
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from everfind_core.errors import ErrorKind, EverfindError, InternalError, InvalidRequestError
from everfind_core.files.parsed_json import parse_json
from everfind_gateway.mcp.arguments import GatherArguments, parse, split_workspace
from everfind_gateway.mcp.calls import Call, Result, Threads, in_workspace
from everfind_gateway.mcp.tools import READING_TOOLS
from everfind_gateway.server.http_server import has_token, security
from everfind_gateway.web.marks import pieces

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from everfind_core.answers.json_form import Json
    from everfind_gateway.live_workspace import LiveWorkspace
    from everfind_gateway.mcp.corpora import Corpora
    from everfind_gateway.mcp.tools import Tool
    from everfind_gateway.server.http_server import HttpOptions

MAX_BODY: Final = 65_536
TOOLS: Final[Mapping[str, Tool]] = {
    tool.name: tool for tool in READING_TOOLS if tool.name in ("gather", "cat_file", "status")
}
HTTP_STATUS: Final[Mapping[ErrorKind, int]] = {
    ErrorKind.USAGE: 400,
    ErrorKind.DENIED: 403,
    ErrorKind.NOT_FOUND: 404,
    ErrorKind.CONFLICT: 409,
    ErrorKind.PRECONDITION: 409,
    ErrorKind.CANCELLED: 499,
    ErrorKind.CONFIG: 500,
    ErrorKind.DATA: 500,
    ErrorKind.STORAGE: 500,
    ErrorKind.MODEL: 500,
    ErrorKind.INTERNAL: 500,
    ErrorKind.BUSY: 503,
    ErrorKind.UNAVAILABLE: 503,
}
"""401 is none of them: it is for the page's own token, and makes the page ask for it."""
HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}
_TYPES: Final = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_log = logging.getLogger("everfind.web")


def application(corpus: LiveWorkspace, options: HttpOptions, others: Corpora | None = None) -> ASGIApp:
    """The ASGI application; ``options.token`` must be set. A call may name one of the ``others``."""
    calls = _Calls(corpus, options.token, others)
    files = [Route(_address(file), _file(file)) for file in sorted((Path(__file__).parent / "static").iterdir())]
    return _Guard(Starlette(routes=[*files, Route("/api/{name}", calls.answer, methods=["POST"])]), options)


class _Guard:
    """Refuses requests under another name or from another page, and puts the headers on every response."""

    def __init__(self, app: ASGIApp, options: HttpOptions) -> None:
        self._app = app
        self._check = TransportSecurityMiddleware(security(options, own_pages=True))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check, then go on."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = await self._check.validate_request(Request(scope))
        await (refusal or self._app)(scope, receive, with_headers)


class _Calls:
    """Answers ``POST /api/TOOL``."""

    def __init__(self, corpus: LiveWorkspace, token: str, others: Corpora | None) -> None:
        self._corpus = corpus
        self._others = others
        self._token = token
        self._threads = Threads()

    async def answer(self, request: Request) -> Response:
        """The tool's answer as ``{"result": …}``, or ``{"error": {"reason", "message", "hint"}}``."""
        if not has_token(request.headers, self._token):
            hint = "Open the address that `everfind web` printed, or enter its token."
            return _refusal("UNAUTHENTICATED", "This page needs the server's token.", hint, 401)
        try:
            return JSONResponse(await self._run(request.path_params["name"], await _body(request)))
        except EverfindError as error:
            return _failure(error)
        except Exception as error:  # whatever it is, the page gets an answer and the log the trace
            _log.exception("%s failed", request.url.path)
            message = f"a fault of everfind ({type(error).__name__}); the server's log has the details"
            return _failure(InternalError(message))

    async def _run(self, name: str, given: Mapping[str, Any]) -> Json:
        tool = TOOLS.get(name)
        if tool is None:
            raise InvalidRequestError.of("name", f"there is no call {name[:100]!r}; there are {', '.join(TOOLS)}")
        asked = ""
        if self._others is not None:
            asked, given = split_workspace(given)
        arguments = parse(tool.arguments, given)

        def run(call: Call) -> Result:
            return in_workspace(asked, call, lambda call: tool.run(call, arguments))

        result = (await self._threads.run(run, Call(self._corpus, self._others))).structured
        if isinstance(arguments, GatherArguments):
            texts = [passage["text"] for passage in result["passages"]]
            return {"result": result, "pieces": [pieces(text, arguments.query) for text in texts]}
        if name == "status" and self._others is not None:
            return {"result": result, "workspaces": list(self._others.listed())}
        return {"result": result}


async def _body(request: Request) -> Mapping[str, Any]:
    """The object that a request carries.

    Raises:
        InvalidRequestError: it is too large, or no JSON object.
    """
    raw = bytearray()
    async for part in request.stream():
        raw += part
        if len(raw) > MAX_BODY:
            raise InvalidRequestError.of("body", f"it is larger than {MAX_BODY:,} bytes")
    try:
        given = parse_json(raw)
    except ValueError:
        given = None
    if not isinstance(given, dict):
        raise InvalidRequestError.of("body", "it is no JSON object")
    return given


def _failure(error: EverfindError) -> Response:
    return _refusal(error.reason, error.message.replace("filters.", ""), error.hint, HTTP_STATUS[error.kind])


def _refusal(reason: str, message: str, hint: str, status: int) -> Response:
    return JSONResponse({"error": {"reason": reason, "message": message, "hint": hint}}, status_code=status)


def _address(file: Path) -> str:
    return "/" if file.name == "index.html" else f"/{file.name}"


def _file(file: Path) -> Any:
    body = file.read_bytes()

    async def answer(_request: Request) -> Response:
        return Response(body, media_type=_TYPES[file.suffix])

    return answer
