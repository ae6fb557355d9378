"""The web page's server in this process, asked without a socket."""

from __future__ import annotations

import anyio
import httpx2
from starlette.types import ASGIApp

from everfind_gateway.mcp.corpora import Corpora
from everfind_gateway.server.http_server import HttpOptions
from everfind_gateway.web.app import application
from tests.support.agents import Served

TOKEN = "a-token-for-this-test-only"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
OPTIONS = HttpOptions(token=TOKEN, hosts=("search.example",))


def page_of(served: Served, others: Corpora | None = None) -> ASGIApp:
    """The application over a test's engines."""
    return application(served.corpus(), OPTIONS, others)


def ask(
    app: ASGIApp, method: str, path: str, *, headers: dict[str, str] | None = None, content: bytes = b""
) -> httpx2.Response:
    """One request and its response."""

    async def main() -> httpx2.Response:
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8766") as client:
            return await client.request(method, path, headers=headers, content=content)

    return anyio.run(main)
