"""The writing side of the store: a LanceDB table in the index directory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from everfind_core.errors import ModelUnusableError

if TYPE_CHECKING:
    from everfind_core.ports import ChunkWriter

DIMENSIONS_STEP: Final = 8
"""The vector index packs so many numbers together."""

os.environ.setdefault("LANCE_LOG", "error")  # read when lance is imported; its warnings are for its developers


def open_writer(directory: Path, dimensions: int) -> ChunkWriter:
    """The store in ``directory``, created there if absent, for vectors of ``dimensions`` numbers.

    The caller holds the index lock.

    Raises:
        ModelUnusableError: no index can be made of so many numbers.
        IndexIncompatibleError: the table there has other columns or dimensions.
        IndexDamagedError: it cannot be read.
        StorageError: the directory cannot be written.
    """
    if dimensions % DIMENSIONS_STEP:
        raise ModelUnusableError(
            f"the model's vectors have {dimensions} numbers, which is no multiple of {DIMENSIONS_STEP}",
            hint="Use another model, or ask its provider for another size.",
        )
    from everfind_indexer.store.writer import LanceChunkWriter

    return LanceChunkWriter(directory, dimensions)
