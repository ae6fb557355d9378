"""Settings of a search: what is asked, ranked and shown."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from everfind_gateway.setting_groups.field import STRICT, setting


class SearchSettings(BaseModel):
    """How questions are answered."""

    model_config = STRICT

    limit: int = setting(10, "Hits of a search.", group="Search", project=True, ge=1, le=100)
    mode: Literal["hybrid", "semantic", "lexical"] = setting(
        "hybrid", "Which arms answer: both, vectors only, or words only.", group="Search", project=True
    )
    rerank: bool = setting(False, "Rerank every search, as `--rerank` does for one; needs `reranker`.", group="Search")
    wait_seconds: float = setting(
        0,
        "How long a search waits at most for known changes to be indexed, where the folders are followed.",
        group="Search",
        ge=0,
        le=600,
    )
    fusion: Literal["weighted", "rrf"] = setting(
        "weighted",
        "How the two arms' rankings become one: `weighted` mixes their scores and adds ranking rules, `rrf` is "
        "reciprocal rank fusion alone.",
        group="Search",
        project=True,
        shapes_answers=True,
    )
    rrf_k: int = setting(
        60,
        'Smoothing constant of `fusion = "rrf"`: each arm adds 1 / (k + rank).',
        group="Search",
        project=True,
        shapes_answers=True,
        ge=1,
        le=10_000,
    )
    min_score: float | None = setting(
        None,
        "Cosine that each hit of a hybrid search must reach, unless it is an exact match; -1 lets every hit pass.",
        group="Search",
        project=True,
        shapes_answers=True,
        shown_default="unset: an answer as a whole must reach the model's floor (`everfind calibrate`)",
        ge=-1,
        le=1,
    )
    relative_cutoff: float = setting(
        0.0,
        "Share of the best hit's cosine that each hit of a hybrid search must reach, unless it is an exact match.",
        group="Search",
        project=True,
        shapes_answers=True,
        ge=0,
        le=1,
    )
    resident_bytes: int = setting(
        384 << 20,
        "What a process that goes on searching may keep of the index in memory: about 2,300 bytes a chunk. What does "
        "not fit is read from the disk at each search, and vectors are then compared by the store.",
        group="Search",
        ge=0,
        le=1 << 50,
    )
    default_exclude: tuple[str, ...] = setting(
        (),
        "Path globs that every search leaves out unless `--all` is given; a plain word matches a whole path segment, "
        "`notes//drafts` counts in the folder `notes` alone. In the environment: separated by commas.",
        group="Search",
        project=True,
        shapes_answers=True,
    )
    path_boosts: dict[str, Annotated[float, Field(ge=0.1, le=10)]] = setting(
        dict,
        "Path globs with factors that move the hits of their files up (1.15) or down (0.9) in the order; scores stay "
        'as they are. A table: `[path_boosts]`, then `"reference/" = 1.15`. In the environment: '
        "`reference/=1.15,old/=0.9`.",
        group="Search",
        project=True,
        shapes_answers=True,
        shown_default="none",
    )
