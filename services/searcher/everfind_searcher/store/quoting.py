"""Chunks that have a phrase word for word, wherever they lie: terms say which may, their texts which do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from everfind_core.ports import ScoredChunk, StoredChunk
from everfind_core.text.lexical import Need, phrase_needs
from everfind_core.text.plain_words import plain_words, says
from everfind_searcher.store.best import Rows, Scored, in_order
from everfind_searcher.store.bm25 import tokens_of

LOOKED_AT: Final = 10_000
"""Texts that are looked at for a phrase: of more that have all its words, those whose words tell most."""


def quoting(
    phrase: str,
    limit: int,
    meeting: Callable[[Sequence[Need], int], Rows],
    read: Callable[[Rows], Sequence[StoredChunk]],
    score: Callable[[Rows], Scored],
) -> Sequence[ScoredChunk]:
    """The first ``limit`` chunks whose text has ``phrase``, by score, then by folder, path and line.

    ``meeting`` gives rows whose terms meet needs, at most so many, ``read`` what stands in rows, ``score`` those of
    them that have a score.
    """
    plain, needs = plain_words(phrase), _storable(phrase_needs(phrase))
    if limit < 1 or not plain or not needs:
        return ()
    rows = meeting(needs, LOOKED_AT)
    chunks = read(rows)
    having = [place for place, chunk in enumerate(chunks) if says(chunk.text, plain)]
    scored, scores = score(rows[having])
    by_row = dict(zip(scored.tolist(), scores.tolist(), strict=True))
    return in_order([ScoredChunk(chunks[n], by_row.get(int(rows[n]), 0.0)) for n in having])[:limit]


def _storable(needs: Sequence[Need]) -> list[Need]:
    """In tokens as a store holds them; what a token less term needs, every row has."""
    ways = [tuple(tuple(tokens_of(way)) for way in need) for need in needs]
    return [need for need in ways if all(need)]
