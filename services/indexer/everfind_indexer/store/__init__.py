"""The writing side of the store: a LanceDB table in the index directory, or a SQLite file where LanceDB cannot be."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from everfind_core.errors import ModelUnusableError
from everfind_core.index.directory import backend_of, vector_type_of
from everfind_core.index.store_backends import StoreBackend, cannot_load, load_problem
from everfind_core.index.vector_types import VectorType

if TYPE_CHECKING:
    from everfind_core.ports import ChunkWriter

DIMENSIONS_STEP: Final = 8
"""The vector index packs so many numbers together."""

os.environ.setdefault("LANCE_LOG", "error")  # read when lance is imported; its warnings are for its developers


def open_writer(
    directory: Path,
    dimensions: int,
    backend: StoreBackend | None = None,
    vector_type: VectorType | None = None,
) -> ChunkWriter:
    """The store in ``directory``, created there if absent, for vectors of ``dimensions`` numbers.

    It is of the kind that the index's manifest names, and so are its vectors, unless ``backend`` and ``vector_type``
    say others. The caller holds the index lock.

    Raises:
        ModelUnusableError: no index can be made of so many numbers.
        IndexIncompatibleError: the table there has other columns or vectors, or its library cannot be loaded here.
        IndexDamagedError: it cannot be read.
        StorageError: the directory cannot be written.
    """
    if dimensions % DIMENSIONS_STEP:
        raise ModelUnusableError(
            f"the model's vectors have {dimensions} numbers, which is no multiple of {DIMENSIONS_STEP}",
            hint="Use another model, or ask its provider for another size.",
        )
    # Late, so that whoever asks for the library alone does not wait for numpy.
    from everfind_core.index.vector_codec import VectorCodec

    codec = VectorCodec(vector_type or vector_type_of(directory), dimensions)
    if (backend or backend_of(directory)) is StoreBackend.SQLITE:
        from everfind_indexer.store.sqlite.writer import SqliteChunkWriter

        return SqliteChunkWriter(directory, codec)
    if problem := lance_problem():
        raise cannot_load(directory, problem)
    from everfind_indexer.store.writer import LanceChunkWriter

    return LanceChunkWriter(directory, codec)


def lance_problem() -> str:
    """Why LanceDB cannot be loaded on this machine; empty if it can."""
    return load_problem(_load)


def _load() -> None:
    import lance  # noqa: F401 - whether it can be is all that is asked
