"""The indexer as a process: ``python -m everfind_indexer``."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_settings import NoDecode

from everfind_core.files.paths import encode_os_path
from everfind_core.index.directory import check_writable
from everfind_core.index.object_place import ObjectPlace, checked_directory
from everfind_core.index.store_backends import StoreChoice
from everfind_core.index.vector_types import VectorType
from everfind_core.model import Folder
from everfind_rpc.serving.service import Service
from everfind_rpc.serving.service_main import ServiceSettings, comma_separated, run_service


def _folders(given: Any) -> tuple[Folder, ...]:
    """Folders of ``NAME=PATH``, ``PATH``, or ``PATH/*`` (each directory in PATH), separated by commas."""
    folders: dict[str, Folder] = {}
    for entry in chain.from_iterable(map(_directories, comma_separated(given))):
        name, equals, path = entry.partition("=")
        if not equals:
            name, path = Path(entry).name, entry
        if not name or "/" in name or not path.startswith("/"):
            raise ValueError(f"{entry!r} is no NAME=PATH with an absolute path")
        if name in folders:
            raise ValueError(f"two folders are called {name!r}")
        folders[name] = Folder(name, encode_os_path(os.path.realpath(path)))
    return tuple(folders.values())


def _roots(given: Any) -> tuple[Path, ...]:
    """Absolute directories, separated by commas."""
    for root in (roots := comma_separated(given)):
        if not root.startswith("/"):
            raise ValueError(f"{root!r} is no absolute path")
    return tuple(map(Path, roots))


def _directories(entry: str) -> list[str]:
    """The directories in PATH of an entry ``PATH/*``, but for hidden ones; any other entry as it is."""
    if not entry.endswith("/*"):
        return [entry]
    try:
        return sorted(str(d) for d in Path(entry[:-2]).iterdir() if d.is_dir() and not d.name.startswith("."))
    except OSError as error:
        raise ValueError(f"{entry[:-2]!r} cannot be listed: {error.strerror}") from error


class IndexerServerSettings(ServiceSettings):
    """What the indexer's process is told. Sizes of chunks are in the model's own tokens."""

    index_dir: Annotated[Path, BeforeValidator(checked_directory)] = Field(description="Directory of the index.")
    folders: Annotated[tuple[Folder, ...], NoDecode, BeforeValidator(_folders)] = Field(
        default=(),
        description="Folders to index, as NAME=PATH, PATH, or PATH/* for each directory in PATH, separated by commas.",
    )
    folder_roots: Annotated[tuple[Path, ...], NoDecode, BeforeValidator(_roots)] = Field(
        default=(),
        description="Directories below which clients with the scope admin may add folders, separated by commas.",
    )
    store_backend: StoreChoice = Field(
        default=StoreChoice.AUTO,
        description="What a new index is kept in: lancedb, sqlite, or auto: SQLite where LanceDB cannot be loaded.",
    )
    vector_type: VectorType = Field(
        default=VectorType.HALF,
        description="What the index's vectors are stored in: half (precision), or int8, in half of the space.",
    )
    embedder: str = Field(description="HOST:PORT of the embedder.")
    user_ignore: Path | None = Field(default=None, description="An .indexignore that holds for every folder.")
    max_file_bytes: int = Field(default=500_000, ge=1, le=1 << 30, description="Larger text files are left out.")
    max_document_bytes: int = Field(
        default=50_000_000, ge=1, le=1 << 30, description="Larger documents (PDF, Office, mail …) are left out."
    )
    redact_secrets: bool = Field(default=True, description="Mask private keys and provider tokens.")
    chunk_tokens: int = Field(default=200, ge=16, le=8192, description="Tokens that a chunk of prose aims at.")
    code_chunk_tokens: int = Field(default=128, ge=16, le=8192, description="Tokens that a chunk of code aims at.")
    chunk_overlap: int = Field(
        default=35, ge=0, le=4096, description="Tokens repeated where a section had to be split."
    )
    vector_cache_dir: Path | None = Field(
        default=None, description="Directory where vectors are kept for reuse; none is the index's own."
    )
    vector_cache_days: float = Field(
        default=14, ge=0, le=3650, description="Days that a vector is kept after its text left the index; 0 keeps none."
    )
    vector_cache_bytes: int = Field(
        default=1 << 30, ge=1 << 20, le=1 << 50, description="What the kept vectors may take on the disk."
    )
    watch: bool = Field(default=True, description="Follow the folders and index what changes.")
    watch_quiet_seconds: float = Field(
        default=2.0, ge=0.1, le=600, description="How long changes must have stopped before they are indexed."
    )
    min_score: float | None = Field(
        default=None, ge=-1, le=1, description="The searchers' min_score, for `status` to tell; unset, they have none."
    )
    concurrency: int = Field(
        default=0, ge=0, le=256, description="Embedding calls under way at once; 0 is the default."
    )
    publish_to: Annotated[str, AfterValidator(ObjectPlace.checked)] = Field(
        default="", description="s3://BUCKET/PREFIX where each change is published for searchers; none publishes none."
    )
    lifecycle_words: Annotated[tuple[str, ...], NoDecode, BeforeValidator(comma_separated)] = Field(
        default=(), description="Further words of document headers, as WORD=MEANING, separated by commas."
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until told to stop; gives the exit code."""
    return run_service("indexer", IndexerServerSettings, _open, arguments)


def _open(settings: IndexerServerSettings, stack: contextlib.ExitStack) -> Sequence[Service]:
    from everfind_indexer.engine import IndexEngine
    from everfind_indexer.servicer import indexer_service
    from everfind_indexer.settings import indexer_settings
    from everfind_indexer.store import open_writer
    from everfind_indexer.syntax import SyntaxChunker
    from everfind_indexer.watching import Following, Pace
    from everfind_rpc.channel import Connection
    from everfind_rpc.clients import embedder
    from everfind_rpc.clients.patience import PatientEmbedder

    to_embedder = stack.enter_context(Connection(settings.endpoint(settings.embedder), [embedder.SERVICE]))
    patient = PatientEmbedder(embedder.RemoteEmbedder(to_embedder))
    check_writable(settings.index_dir)
    told = indexer_settings(
        settings,
        user_ignore=settings.user_ignore,
        vectors=settings.vector_cache_dir or settings.index_dir,
        store=settings.store_backend,
        vector_type=settings.vector_type,
    )
    engine = IndexEngine(told, patient, SyntaxChunker(), open_writer)
    if settings.watch:
        following = Following(engine, told, pace=Pace(quiet=settings.watch_quiet_seconds))
        stack.callback(following.close)
        following.start()
    return [indexer_service(engine, patient.wait_until_ready)]


if __name__ == "__main__":
    sys.exit(main())
