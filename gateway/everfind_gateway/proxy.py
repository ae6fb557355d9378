"""One address for a team's clients: ``python -m everfind_gateway.proxy`` passes calls on to the three services."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence

from pydantic import Field

from everfind_rpc.clients import embedder, indexer, searcher
from everfind_rpc.serving.proxy import proxied_service
from everfind_rpc.serving.service import Service
from everfind_rpc.serving.service_main import ServiceSettings, run_service


class ProxySettings(ServiceSettings):
    """What the proxy's process is told. Names with several addresses get calls in turn."""

    embedder: str = Field(description="HOST:PORT of the embedder.")
    indexer: str = Field(description="HOST:PORT of the indexer.")
    searcher: str = Field(description="HOST:PORT of the searchers.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until told to stop; gives the exit code."""
    return run_service("gateway.proxy", ProxySettings, _open, arguments)


def _open(settings: ProxySettings, _stack: contextlib.ExitStack) -> Sequence[Service]:
    return [
        proxied_service(embedder.SERVICE, settings.endpoint(settings.embedder)),
        proxied_service(indexer.SERVICE, settings.endpoint(settings.indexer)),
        proxied_service(searcher.SERVICE, settings.endpoint(settings.searcher)),
    ]


if __name__ == "__main__":
    sys.exit(main())
