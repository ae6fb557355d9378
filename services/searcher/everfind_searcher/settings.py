"""What the searcher needs to be told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from everfind_core.fusion import RRF_K


@dataclass(frozen=True, slots=True)
class SearcherSettings:
    """One workspace's index, the constant of reciprocal rank fusion, and what a search leaves out unless asked."""

    index_directory: Path
    workspace: str = ""
    rrf_k: float = RRF_K
    default_exclude: tuple[str, ...] = ()
