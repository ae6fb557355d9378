"""The embedder as a process: ``python -m everfind_embedder``."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from everfind_embedder.settings import DEFAULT_ENDPOINT, DEFAULT_MODEL, EmbedderSettings, open_embedder
from everfind_rpc.service import Service
from everfind_rpc.service_main import ServiceSettings, run_service


class EmbedderServerSettings(ServiceSettings):
    """What the embedder's process is told."""

    model: str = Field(default=DEFAULT_MODEL, description="`default`, a directory, or a hub id ORG/NAME[@REVISION].")
    hub_endpoint: str = Field(default=DEFAULT_ENDPOINT, description="Where a model given by hub id is downloaded from.")
    model_cache_dir: Path | None = Field(default=None, description="Directory for downloaded models.")
    threads: int = Field(default=0, ge=0, le=256, description="Threads that embed; 0 follows the CPU quota.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until told to stop; gives the exit code."""
    return run_service("embedder", EmbedderServerSettings, _open, arguments)


def _open(settings: EmbedderServerSettings, stack: contextlib.ExitStack) -> Service:
    from everfind_embedder.servicer import embedder_service

    embedder = open_embedder(
        EmbedderSettings(settings.model, settings.hub_endpoint, settings.model_cache_dir, settings.threads)
    )
    stack.callback(embedder.close)
    embedder.model()  # a model that cannot be loaded ends the process now, and not its first caller
    return embedder_service(embedder)


if __name__ == "__main__":
    sys.exit(main())
