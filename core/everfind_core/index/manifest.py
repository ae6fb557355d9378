"""What made an index, and which indexes go together: its manifest, and the recipe that must be the same."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Self

from everfind_core import __version__
from everfind_core.errors import IndexIncompatibleError
from everfind_core.index.store_backends import StoreBackend
from everfind_core.index.vector_types import VectorType
from everfind_core.model import ModelInfo

_KNOWN_SINCE: Final[Mapping[StrEnum, int]] = {
    StoreBackend.LANCEDB: 1,
    StoreBackend.SQLITE: 1,
    VectorType.HALF: 1,
    VectorType.INT8: 2,
}
"""The format from which on an everfind knows what an index may consist of.

A new kind gets the next number, as does a store whose layout or columns become others.
"""

FORMAT: Final = max(_KNOWN_SINCE.values())
"""The newest that this everfind knows. An index of a newer one is refused, one that says less than it needs rebuilt."""

REBUILD_HINT = "Run `everfind index --rebuild`: it builds a new index beside this one and then swaps."


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that decides what an index holds for given files. Indexes of two recipes are never mixed.

    ``model`` is an identity, the others are revisions of the code (with its sizes, for ``chunker``); ``secrets`` is
    ``off`` where secrets are not masked. ``vector_type`` is what vectors are stored in.
    """

    model: str
    chunker: str
    lexical: str
    extraction: str
    secrets: str
    vector_type: VectorType = VectorType.HALF


@dataclass(frozen=True, slots=True)
class Manifest:
    """What made an index; ``created`` is in seconds since the epoch, ``store`` is what its chunks are kept in.

    ``generation_base`` is the last generation of the index that it took the place of, from which it counts on; None
    where that was not known.
    """

    recipe: Recipe
    model: ModelInfo
    created: float
    everfind_version: str
    format: int = 1
    store: StoreBackend = StoreBackend.LANCEDB
    generation_base: int | None = None

    @classmethod
    def new(cls, recipe: Recipe, model: ModelInfo, store: StoreBackend) -> Self:
        """Of an index that this everfind makes now."""
        return cls(recipe, model, time.time(), __version__, needed_format(recipe, store), store)


def needed_format(recipe: Recipe, store: StoreBackend) -> int:
    """The least format that has all of such an index: an older everfind that knows it may read it, others refuse it."""
    return max(_KNOWN_SINCE[recipe.vector_type], _KNOWN_SINCE[store])


def check_recipe(
    found: Recipe, wanted: Recipe, place: Path | str, *, only: tuple[str, ...] = (), hint: str = REBUILD_HINT
) -> None:
    """Refuse to mix; with ``only``, look at those fields alone. ``hint`` is the way out.

    Raises:
        IndexIncompatibleError: naming what differs.
    """
    for name in only or tuple(f.name for f in fields(Recipe)):
        was, wants = str(getattr(found, name)), str(getattr(wanted, name))
        if was != wants:
            raise IndexIncompatibleError(
                f"the index in {place} was made with {name} {was!r}, this everfind and its settings use {wants!r}",
                hint=hint,
                details={"field": name, "found": was, "expected": wants},
            )


def is_upgrade(manifest: Manifest, wanted: Recipe, place: Path) -> bool:
    """Whether an older everfind made the index with the same model and settings, so that it may be made anew unasked.

    Raises:
        IndexIncompatibleError: a newer everfind made it, and this one would do it otherwise.
    """
    found = manifest.recipe
    if found == wanted and manifest.format >= needed_format(found, manifest.store):
        return False
    if _chosen(found) != _chosen(wanted):
        return False
    if _numbers(manifest.everfind_version) > _numbers(__version__):
        raise IndexIncompatibleError(
            f"the index in {place} was made by everfind {manifest.everfind_version}, this is {__version__}",
            hint="Use that version or a newer one, or set `index_dir` to another directory.",
            details={"field": "everfind_version", "found": manifest.everfind_version, "expected": __version__},
        )
    return True


def _chosen(recipe: Recipe) -> tuple[object, ...]:
    """What a user's settings decide of a recipe; sizes of chunks and words of documents' headers among it."""
    return (
        recipe.model,
        recipe.secrets,
        recipe.vector_type,
        recipe.chunker.split(" ")[1:],
        recipe.extraction.split(" ")[2:],
    )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("+")[0])[:3])


def check_format(directory: Path, found: Mapping[str, Any]) -> None:
    """Refuse a manifest, as JSON, of a newer format than this everfind knows.

    Raises:
        IndexIncompatibleError: it is.
    """
    version = found.get("format")
    if isinstance(version, int) and version > FORMAT:
        raise IndexIncompatibleError(
            f"the index in {directory} was made by everfind {found.get('everfind_version', '?')} in format {version}; "
            f"this is {__version__}, which reads up to format {FORMAT}",
            hint="Use the everfind that made it or a newer one, or set `index_dir` to another directory.",
        )
