"""Embedding models and what goes through them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:  # the command line must not wait for numpy
    import numpy as np
    import numpy.typing as npt

Vector: TypeAlias = "npt.NDArray[np.float32]"
"""Float32 array of shape (dimensions,); a model gives it unit length."""

Vectors: TypeAlias = "npt.NDArray[np.float32]"
"""Row-major float32 array of shape (rows, dimensions), each row as a :data:`Vector`."""


class InputKind(StrEnum):
    """Which side of retrieval a text stands on; some models want a prefix for it."""

    DOCUMENT = "document"
    QUERY = "query"


class ModelSource(StrEnum):
    """Where a model's weights come from."""

    PACKAGE = "package"
    DIRECTORY = "directory"
    HUB = "hub"
    REMOTE = "remote"


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model's identity: it travels with the index, and vectors of two identities are never compared.

    ``revision`` covers weights, tokenizer and graph variant. ``max_tokens`` is the window with special tokens,
    ``special_tokens`` how many of it a text never gets; ``document_prefix_tokens`` likewise for the prefix.
    ``noise_floor`` is a cosine below which a match is noise; None if nobody measured one. ``endpoint`` is the address
    that texts are sent to; empty when nothing leaves the machine.
    """

    id: str
    revision: str
    dimensions: int
    max_tokens: int
    pooling: str
    document_prefix: str = ""
    query_prefix: str = ""
    special_tokens: int = 2
    document_prefix_tokens: int = 0
    source: ModelSource = ModelSource.PACKAGE
    variant: str = ""
    noise_floor: float | None = None
    endpoint: str = ""

    @property
    def text_budget(self) -> int:
        """Tokens left for a document's own text."""
        return self.max_tokens - self.special_tokens - self.document_prefix_tokens

    @property
    def identity(self) -> str:
        """What must be equal for two vectors to be comparable."""
        return f"{self.id}@{self.revision}"


@dataclass(frozen=True, slots=True)
class Floor:
    """The score in use below which there is no answer, on the scale of cosines, and where it comes from.

    ``origin``: ``settings`` (each hit's own cosine must reach it), ``model`` (measured on labelled questions) or
    ``calibration`` (follows from the noise on this corpus); in both an answer's evidence must reach it.
    """

    min_score: float
    origin: str


@dataclass(frozen=True, slots=True)
class Calibration:
    """A model's noise on the user's own corpus, and the threshold that follows. All scores are on the scale of cosines.

    ``noise_floor`` is the evidence that off-topic probe questions stay below, ``pair_noise`` the cosine that pairs of
    unrelated chunks do; ``samples`` were measured over an index of ``chunks``. ``min_score`` and ``origin`` are those
    of the :class:`Floor` in use. ``measured`` in seconds since the epoch.
    """

    noise_floor: float
    samples: int
    suggested_min_score: float
    min_score: float
    origin: str
    measured: float = 0.0
    pair_noise: float = 0.0
    chunks: int = 0


@dataclass(frozen=True, slots=True)
class RerankRequest:
    """Score each of ``texts`` for ``query`` with a cross-encoder; the answer keeps their order."""

    query: str
    texts: tuple[str, ...]
    workspace: str = ""
