"""`web`: a page to search with, for people."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from everfind_core.errors import EXIT_CODES, ErrorKind
from everfind_gateway.cli import runtime
from everfind_gateway.cli.mcp import close_corpus, corpus_of, given_token, others_of, shared_of
from everfind_gateway.cli.options import TlsCertificate, TlsKey, given_path

TOKEN_VARIABLE = "EVERFIND_WEB_TOKEN"  # noqa: S105 - the variable's name

TokenFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help=f"The token that the page asks for, in a file. {TOKEN_VARIABLE} is the same. One is made for each start "
        "where neither is given.",
        parser=given_path,
    ),
]
AllowHost: TypeAlias = Annotated[list[str] | None, typer.Option(metavar="NAME", help="Another name of this server.")]


def web(
    context: typer.Context,
    *,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Listen here.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65_535, help="On this port.")] = 8766,
    token_file: TokenFile = None,
    tls_certificate: TlsCertificate = None,
    tls_key: TlsKey = None,
    allow_host: AllowHost = None,
) -> None:
    """Serve a web page to search with, until it is told to stop, and keep the index up with its folders.

    Prints the page's address, with the token in it if it was made for this start. docs/web.md describes the page.
    """
    from everfind_gateway.server.http_server import HttpOptions, check_options, given_tls, listen, serve
    from everfind_gateway.server.process import live_long

    live_long()
    given = given_token(token_file, TOKEN_VARIABLE)
    tls = given_tls(tls_certificate, tls_key)
    options = HttpOptions(host, port, given or secrets.token_urlsafe(24), tuple(allow_host or ()), tls=tls)
    check_options(options)
    started = runtime.runtime_of(context)
    settings = started.settings()  # what is wrong with them is said now, and not by the page
    shared = shared_of(settings)
    corpus = corpus_of(started, {}, shared)
    others = others_of(settings, shared)

    from everfind_gateway.web.app import application

    fragment = "" if given else f"#token={options.token}"
    with listen(options) as listening:
        corpus.warm_up()
        try:
            page = application(corpus, options, others)
            serve(page, listening, lambda url: f"everfind serves its page at {url}/{fragment}", tls)
        finally:
            close_corpus(corpus, EXIT_CODES[ErrorKind.CANCELLED], others)
