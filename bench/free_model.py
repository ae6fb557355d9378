"""A model that costs nothing: what is measured with it is all but embedding."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from everfind_core.cancellation import Cancellation
from everfind_core.model import InputKind, ModelInfo, Vectors
from everfind_core.ports import Embedder, TokenIds, Tokenizer


class FreeModel:
    """Has the name and the tokenizer of a real model, and vectors by chance."""

    def __init__(self, real: Embedder) -> None:
        self._real = real

    def model(self) -> ModelInfo:
        """The real one's."""
        return self._real.model()

    def tokenizer(self) -> Tokenizer:
        """The real one's."""
        return self._real.tokenizer()

    def embed(
        self,
        texts: Sequence[str],
        kind: InputKind,  # noqa: ARG002 - the port's
        *,
        cancel: Cancellation | None = None,  # noqa: ARG002 - the port's
    ) -> Vectors:
        """Unit vectors of the right number and size."""
        return self._some(len(texts))

    def embed_tokens(
        self,
        sequences: Sequence[TokenIds],
        *,
        cancel: Cancellation | None = None,  # noqa: ARG002 - the port's
    ) -> Vectors:
        """Unit vectors of the right number and size."""
        return self._some(len(sequences))

    def close(self) -> None:
        """Holds nothing."""

    def _some(self, count: int) -> Vectors:
        rows = np.random.default_rng(count).standard_normal((count, self.model().dimensions), np.float32)
        vectors: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return vectors
