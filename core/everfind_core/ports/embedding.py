"""Models: tokens, vectors, and scores of a reranker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from everfind_core.cancellation import Cancellation
from everfind_core.model import InputKind, ModelInfo, RerankRequest, TokenSpans, Vectors

if TYPE_CHECKING:  # the command line must not wait for numpy
    import numpy as np
    import numpy.typing as npt

TokenIds: TypeAlias = "npt.NDArray[np.int64]"


class Tokenizer(Protocol):
    """The embedding model's tokenizer, local to whoever counts tokens."""

    @property
    def sliceable(self) -> bool:
        """Whether the tokens of lines are the same alone as inside a longer text."""
        ...

    def encode(self, text: str) -> TokenSpans:
        """Tokens of ``text``, without special tokens, prefix, truncation or padding."""
        ...


class Embedder(Protocol):
    """Turns texts into unit vectors. The same text gives the same vector whatever else is in the call."""

    def model(self) -> ModelInfo:
        """The model's identity.

        Raises:
            ModelUnusableError: it cannot be loaded.
            UnavailableError: a remote embedder does not answer.
        """
        ...

    def tokenizer(self) -> Tokenizer:
        """The model's tokenizer."""
        ...

    def embed(self, texts: Sequence[str], kind: InputKind, *, cancel: Cancellation | None = None) -> Vectors:
        """Vectors of ``texts``, in their order; the model's prefix for ``kind`` is put before each.

        A text beyond the window is cut at it.
        """
        ...

    def embed_tokens(self, sequences: Sequence[TokenIds], *, cancel: Cancellation | None = None) -> Vectors:
        """Vectors of documents given as token ids without special tokens or prefix, each within the budget.

        Raises:
            InvalidRequestError: a sequence is longer than ``model().text_budget``.
        """
        ...

    def close(self) -> None:
        """Release what is held; the embedder cannot be used any more."""
        ...


class Reranker(Protocol):
    """Scores texts for a query, better and slower than an arm does."""

    @property
    def identity(self) -> str:
        """The model's id and revision."""
        ...

    @property
    def endpoint(self) -> str:
        """The address that queries and texts are sent to; empty when nothing leaves the machine."""
        ...

    def rerank(self, request: RerankRequest, *, cancel: Cancellation | None = None) -> Sequence[float]:
        """One score a text, in their order; higher is better.

        Raises:
            ModelUnusableError: the model cannot be loaded, or its provider refuses the request.
            UnavailableError: it does not answer in time.
        """
        ...

    def close(self) -> None:
        """Release what is held; the reranker cannot be used any more."""
        ...
