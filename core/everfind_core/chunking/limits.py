"""Chunk sizes, in the embedding model's own tokens."""

from __future__ import annotations

from collections.abc import Mapping

from everfind_core.model import LineKind
from everfind_core.ports import ChunkLimits

PROSE_TARGET = 200
CODE_TARGET = 128
OVERLAP = 35

_HEADROOM = 1.3


def limits_by_kind(
    text_budget: int, *, prose: int = PROSE_TARGET, code: int = CODE_TARGET, overlap: int = OVERLAP
) -> Mapping[LineKind, ChunkLimits]:
    """The limits for each kind of document, with a model that has ``text_budget`` tokens for a document's own text."""

    def within(target: int) -> ChunkLimits:
        return ChunkLimits(min(target, text_budget), text_budget, min(overlap, text_budget // 4))

    headed, lines = within(prose), within(code)
    return {LineKind.PROSE: headed, LineKind.MARKDOWN: headed, LineKind.CODE: lines, LineKind.CONFIG: lines}


def body_cap(limits: ChunkLimits) -> int:
    """The most that a chunk's own lines may count: some above the target, and room left for context or overlap.

    Pieces average about two thirds of it, so the headroom brings them near the target.
    """
    return max(1, min(limits.hard - limits.overlap, round(_HEADROOM * limits.target)))
