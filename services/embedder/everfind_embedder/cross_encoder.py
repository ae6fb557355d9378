"""A cross-encoder on this machine: reads a query and a text together and scores how well the one answers the other.

Nogueira and Cho, "Passage Re-ranking with BERT", arXiv:1901.04085. Any sentence-transformers style model for sequence
classification with an ONNX export and a ``tokenizer.json``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from everfind_core.cancellation import Cancellation
from everfind_core.errors import ModelUnusableError
from everfind_core.model import RerankRequest
from everfind_core.ports import TokenIds
from everfind_embedder.encoder import MODEL_INPUTS, model_input
from everfind_embedder.loading.checksum import revision_of, sha256_of
from everfind_embedder.loading.layout import read_layout
from everfind_embedder.pool import JobPool
from everfind_embedder.runtime import Session, first_line

if TYPE_CHECKING:
    import tokenizers

QUERY_SHARE: Final = 0.5
"""Of the window, at most, for the query; the text has the rest."""
LOGITS: Final = "logits"


@dataclass(frozen=True, slots=True)
class Pair:
    """A query and a text as the model reads them: ids, and which of the two each token is of; int64 of shape (1, n)."""

    ids: TokenIds
    types: TokenIds


class CrossEncoder:
    """A loaded model."""

    def __init__(self, session: Session, tokenizer: tokenizers.Tokenizer, window: int, identity: str) -> None:
        """Take over ``tokenizer``; ``window`` tokens are all that a pair may have."""
        self._session = session
        self._whole = tokenizer
        self._tokenizer = tokenizer.from_str(tokenizer.to_str())
        for one in (self._whole, self._tokenizer):
            one.encode_special_tokens = True  # the name of a special token in a text is data
        self._tokenizer.enable_truncation(window, strategy="only_second")
        self._query_tokens = max(1, int(window * QUERY_SHARE) - 2)
        self.identity = identity

    def pair(self, query: str, text: str) -> Pair:
        """Both as one sequence; the query is cut at its share of the window, the text at what is left."""
        encoded = self._tokenizer.encode(self._cut(query), text)
        return Pair(np.array([encoded.ids], np.int64), np.array([encoded.type_ids], np.int64))

    def score(self, pair: Pair) -> float:
        """How well the text answers the query, on the model's own scale; with two classes their log-odds."""
        inputs = {
            name: pair.types if name == "token_type_ids" else model_input(name, pair.ids)
            for name in self._session.inputs
        }
        logits: npt.NDArray[np.float32] = self._session.run(LOGITS, inputs).astype(np.float32, copy=False)
        classes = logits.shape[1] if logits.ndim == 2 and len(logits) == 1 else 0
        if classes not in (1, 2):
            raise ValueError(f"its output has the shape {logits.shape}")
        return float(logits[0, -1] - (logits[0, 0] if classes == 2 else 0))

    def _cut(self, query: str) -> str:
        offsets = self._whole.encode(query, add_special_tokens=False).offsets
        return query if len(offsets) <= self._query_tokens else query[: offsets[self._query_tokens - 1][1]]


class LocalReranker:
    """Implements :class:`everfind_core.ports.Reranker` in this process; the model loads at first use."""

    endpoint = ""

    def __init__(self, load: Callable[[], CrossEncoder], threads: int) -> None:
        self._load = load
        self._pool = JobPool(threads)

    @property
    def identity(self) -> str:
        """The model's id and revision.

        Raises:
            ModelUnusableError: it cannot be loaded.
        """
        return self._model.identity

    @cached_property
    def _model(self) -> CrossEncoder:
        return self._load()

    def rerank(self, request: RerankRequest, *, cancel: Cancellation | None = None) -> Sequence[float]:
        """See :meth:`everfind_core.ports.Reranker.rerank`."""
        model = self._model
        pairs = [model.pair(request.query, text) for text in request.texts]
        scores = [0.0] * len(pairs)

        def fill(position: int) -> None:
            scores[position] = model.score(pairs[position])

        longest_first = sorted(range(len(pairs)), key=lambda position: -pairs[position].ids.size)
        self._pool.run([partial(fill, position) for position in longest_first], cancel=cancel)
        return scores

    def close(self) -> None:
        """End the worker threads."""
        self._pool.close()


def load_cross_encoder(directory: Path, *, hub_id: str = "") -> CrossEncoder:
    """The cross-encoder in ``directory``; ``hub_id`` is its name if it came from the hub.

    Raises:
        ModelUnusableError: something is missing, unreadable, or no cross-encoder that everfind can run.
    """
    layout = read_layout(directory)
    tokenizer = _read_tokenizer(layout.tokenizer)
    session = Session(layout.graph)
    unknown = sorted(set(session.inputs) - MODEL_INPUTS)
    if unknown or "input_ids" not in session.inputs or LOGITS not in session.outputs:
        raise ModelUnusableError(
            f"{layout.graph} is no cross-encoder: it has the inputs {', '.join(session.inputs)} and the outputs "
            f"{', '.join(session.outputs)}",
            hint="Export the model for sequence classification.",
        )
    revision = revision_of([sha256_of(layout.graph), sha256_of(layout.tokenizer), str(layout.max_tokens)])
    model = CrossEncoder(session, tokenizer, layout.max_tokens, f"{hub_id or directory.resolve().name}@{revision}")
    try:
        finite = np.isfinite(model.score(model.pair("test", "test")))
    except Exception as error:  # onnxruntime's own classes have no common base
        raise ModelUnusableError(
            f"{layout.graph} cannot score a text: {first_line(error)}",
            hint="Use a cross-encoder with one score, or two classes.",
        ) from error
    if not finite:
        raise ModelUnusableError(f"{layout.graph} gives a score that is not finite", hint="Use another model.")
    return model


def _read_tokenizer(path: Path) -> tokenizers.Tokenizer:
    from tokenizers import Tokenizer

    try:
        tokenizer: tokenizers.Tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises plain Exception
        raise ModelUnusableError(
            f"{path} is not a tokenizer that everfind can read: {first_line(error)}",
            hint="The model's directory needs the tokenizer.json of a fast tokenizer.",
        ) from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer
