"""What the searcher needs to be told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from everfind_core.model import HIDDEN_STATUSES
from everfind_core.ranking.fusion import RRF_K

if TYPE_CHECKING:
    from everfind_searcher.published import PublishedIndex


class Fusion(StrEnum):
    """How hybrid mode makes one order of both arms' lists."""

    WEIGHTED = "weighted"
    RRF = "rrf"


@dataclass(frozen=True, slots=True)
class SearcherSettings:
    """One workspace's index, how the arms are fused, and what a search leaves out unless asked.

    ``default_exclude`` are path globs, ``hidden_statuses`` are statuses of documents, ``path_boosts`` factors by path
    glob. A glob after ``FOLDER//`` counts in that folder alone. ``min_score`` and ``relative_cutoff`` are limits of
    hybrid answers (:class:`everfind_core.ranking.Limits`); without ``min_score`` the calibrated floor stands. ``rrf_k``
    is the constant of reciprocal rank fusion, and matters to it alone. ``index_directory`` is that of ``published``,
    where the index is read on an object store.
    """

    index_directory: Path
    workspace: str = ""
    fusion: Fusion = Fusion.WEIGHTED
    rrf_k: float = RRF_K
    default_exclude: tuple[str, ...] = ()
    hidden_statuses: tuple[str, ...] = HIDDEN_STATUSES
    path_boosts: Mapping[str, float] = field(default_factory=dict)
    redact_secrets: bool = True
    min_score: float | None = None
    relative_cutoff: float = 0.0
    published: PublishedIndex | None = None

    @property
    def place(self) -> str:
        """Where the index is, for people."""
        return str(self.published.place if self.published else self.index_directory)
