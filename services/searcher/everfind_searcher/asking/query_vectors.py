"""Vectors of the queries asked last: the next page, or the same question again, needs no model."""

from __future__ import annotations

from everfind_core.cancellation import Cancellation
from everfind_core.model import InputKind, Vector
from everfind_core.noise.model_registry import reads_english_only
from everfind_core.ports import Embedder
from everfind_core.text.glossary import glossed
from everfind_searcher.remembered import Remembered

REMEMBERED = 256
"""Queries whose vectors are kept, half a megabyte with the default model."""


class QueryVectors:
    """Embeds queries, each once as long as it is remembered and the model stays the same. Thread-safe."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: Remembered[tuple[str, str], Vector] = Remembered(REMEMBERED)

    def of(self, text: str, cancel: Cancellation) -> Vector:
        """The vector of ``text`` as a query, of shape (dimensions,); of its English words for an English model."""
        model = self._embedder.model()
        if reads_english_only(model.id):
            text = glossed(text).english or text
        key = (model.identity, text)
        known = self._known.get(key)
        if known is not None:
            return known
        vector: Vector = self._embedder.embed([text], InputKind.QUERY, cancel=cancel)[0]
        self._known.put(key, vector)
        return vector
