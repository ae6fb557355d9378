"""A question as the arms take it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from everfind_core.cancellation import Cancellation
from everfind_core.model import SearchMode, SearchRequest, Vector
from everfind_core.ports import Embedder
from everfind_core.ranking import read_query
from everfind_core.text.lexical import query_terms
from everfind_searcher.asking.expansion import Expander
from everfind_searcher.asking.query_vectors import QueryVectors

OWN_WEIGHT = 2.0
"""What the question's own vector weighs beside one of another way to ask it."""


@dataclass(frozen=True, slots=True)
class ReadQuestion:
    """A question's own text with other ways to ask it, for their vector, its terms, and the phrases that it quotes.

    None for an arm that is not asked.
    """

    texts: Sequence[str]
    terms: Sequence[str]
    quotations: Sequence[str] = ()


class QuestionReader:
    """Reads questions. Thread-safe."""

    def __init__(self, embedder: Embedder, expander: Expander | None) -> None:
        self._vectors = QueryVectors(embedder)
        self._expander = expander

    def read(self, request: SearchRequest, cancel: Cancellation) -> ReadQuestion:
        """The question, with other ways to ask it where there are some."""
        ways = self._expander.expand(request.query, cancel) if self._expander else ()
        texts = (request.query, *ways)
        return ReadQuestion(
            texts if request.mode is not SearchMode.LEXICAL else (),
            _terms(texts) if request.mode is not SearchMode.SEMANTIC else (),
            read_query(request.query).quotations if request.mode is not SearchMode.SEMANTIC else (),
        )

    def vector(self, asked: ReadQuestion, cancel: Cancellation) -> Vector | None:
        """The vector of the texts, of shape (dimensions,); None without any."""
        if not asked.texts:
            return None
        own = self._vectors.of(asked.texts[0], cancel)
        if len(asked.texts) == 1:
            return own
        together = OWN_WEIGHT * own + np.sum([self._vectors.of(way, cancel) for way in asked.texts[1:]], axis=0)
        length = float(np.linalg.norm(together))
        unit: Vector = (together / length).astype(np.float32) if length else own
        return unit

    def close(self) -> None:
        """End what the reading of questions holds."""
        if self._expander is not None:
            self._expander.close()


def _terms(texts: Sequence[str]) -> list[str]:
    """The terms of all texts, each once but for those that a text itself repeats."""
    terms = query_terms(texts[0])
    for text in texts[1:]:
        terms = terms + [term for term in query_terms(text) if term not in terms]
    return terms
