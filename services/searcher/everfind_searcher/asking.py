"""A question as the arms take it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from everfind_core.cancellation import Cancellation
from everfind_core.lexical import query_terms
from everfind_core.model import SearchMode, SearchRequest
from everfind_core.ports import Embedder
from everfind_searcher.expansion import Expander
from everfind_searcher.query_vectors import QueryVectors

OWN_WEIGHT = 2.0
"""What the question's own vector weighs beside one of another way to ask it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Without terms, or without a vector of shape (dimensions,), where that arm is not asked."""

    terms: Sequence[str]
    vector: npt.NDArray[np.float32] | None


class QuestionReader:
    """Reads questions. Thread-safe."""

    def __init__(self, embedder: Embedder, expander: Expander | None) -> None:
        self._vectors = QueryVectors(embedder)
        self._expander = expander

    def read(self, request: SearchRequest, cancel: Cancellation) -> Asked:
        """The question's terms and vector, with those of other ways to ask it where there are some."""
        semantic, lexical = request.mode is not SearchMode.LEXICAL, request.mode is not SearchMode.SEMANTIC
        ways = self._expander.expand(request.query, cancel) if self._expander else ()
        return Asked(
            _terms((request.query, *ways)) if lexical else [],
            self._vector(request.query, ways, cancel) if semantic else None,
        )

    def close(self) -> None:
        """End what the reading of questions holds."""
        if self._expander is not None:
            self._expander.close()

    def _vector(self, query: str, ways: Sequence[str], cancel: Cancellation) -> npt.NDArray[np.float32]:
        own = self._vectors.of(query, cancel)
        if not ways:
            return own
        together = OWN_WEIGHT * own + np.sum([self._vectors.of(way, cancel) for way in ways], axis=0)
        length = float(np.linalg.norm(together))
        unit: npt.NDArray[np.float32] = (together / length).astype(np.float32) if length else own
        return unit


def _terms(texts: Sequence[str]) -> list[str]:
    """The terms of all texts, each once but for those that a text itself repeats."""
    terms = query_terms(texts[0])
    for text in texts[1:]:
        terms = terms + [term for term in query_terms(text) if term not in terms]
    return terms
