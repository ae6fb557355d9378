"""Embedding at a provider: Voyage, anything that speaks OpenAI's API, and Ollama."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np

from everfind_core.cancellation import Cancellation
from everfind_core.errors import InvalidRequestError, UnavailableError
from everfind_core.files.parsed_json import OTHER_SHAPE
from everfind_core.model import InputKind, ModelInfo, ModelSource, Vectors
from everfind_core.ports import TokenIds
from everfind_embedder.loading.checksum import revision_of
from everfind_embedder.pool import JobPool
from everfind_rpc.json_api import JsonApi
from everfind_rpc.tokenizer import EstimateTokenizer

BYTES_PER_TOKEN: Final = 3.0
"""What a token is estimated at; the window is divided by it, so that no text can overrun it."""
BATCH_CHARACTERS: Final = 100_000
"""Of one call; providers take about 100,000 tokens or more."""
CONCURRENCY: Final = 4


@dataclass(frozen=True, slots=True)
class Wire:
    """A provider's form of an embedding call.

    ``url`` is where it answers by default, ``window`` tokens that a text may have there, ``batch`` texts of one call,
    ``dtype`` the type of the vectors' numbers (part of the revision).
    """

    url: str
    path: str
    window: int
    batch: int
    body: Callable[[str, Sequence[str], InputKind], Mapping[str, Any]]
    rows: Callable[[Mapping[str, Any]], Sequence[Sequence[float]]]
    dtype: str = "float"


def _voyage_body(model: str, texts: Sequence[str], kind: InputKind) -> Mapping[str, Any]:
    return {"model": model, "input": list(texts), "input_type": kind.value, "output_dtype": "int8"}


def _openai_body(model: str, texts: Sequence[str], _kind: InputKind) -> Mapping[str, Any]:
    return {"model": model, "input": list(texts), "encoding_format": "float"}


def _ollama_body(model: str, texts: Sequence[str], _kind: InputKind) -> Mapping[str, Any]:
    return {"model": model, "input": list(texts), "truncate": True}


def _data_rows(answer: Mapping[str, Any]) -> Sequence[Sequence[float]]:
    rows = sorted(answer["data"], key=lambda row: row["index"])
    return [row["embedding"] for row in rows]


WIRES: Final[Mapping[str, Wire]] = {
    # https://docs.voyageai.com/reference/embeddings-api
    "voyage": Wire("https://api.voyageai.com/v1", "/embeddings", 32_000, 128, _voyage_body, _data_rows, dtype="int8"),
    # https://platform.openai.com/docs/api-reference/embeddings
    "openai": Wire("https://api.openai.com/v1", "/embeddings", 8_191, 128, _openai_body, _data_rows),
    # https://github.com/ollama/ollama/blob/main/docs/api.md#generate-embeddings
    "ollama": Wire(
        "http://localhost:11434", "/api/embed", 2_048, 32, _ollama_body, lambda answer: answer["embeddings"]
    ),
}


class ProviderEmbedder:
    """Implements :class:`everfind_core.ports.Embedder` over a provider's API.

    Tokens are estimated. Vectors come back scaled to unit length, whatever the provider's type of number is.
    """

    def __init__(self, provider: str, model: str, api: JsonApi, *, concurrency: int = 0, window: int = 0) -> None:
        """Use ``model`` of ``provider``; ``concurrency`` calls at once and ``window`` tokens (0: the defaults).

        Calls for queries are counted apart from those for documents, so that none waits behind a batch.
        """
        self._wire = WIRES[provider]
        self._provider = provider
        self._name = model
        self._api = api
        self._window = window or self._wire.window
        self._pools = {kind: JobPool(concurrency or CONCURRENCY) for kind in InputKind}
        self._guard = threading.Lock()
        self._dimensions = 0

    def model(self) -> ModelInfo:
        """The model's identity; a text is embedded at the first call, to learn how long its vectors are.

        Raises:
            ModelUnusableError: the provider refuses the key or does not know the model.
            UnavailableError: it does not answer.
        """
        with self._guard:
            if not self._dimensions:
                self._dimensions = self._call(["test"], InputKind.DOCUMENT, None).shape[1]
        return ModelInfo(
            id=f"{self._provider}:{self._name}",
            revision=revision_of([self._provider, self._name, str(self._dimensions), self._wire.dtype]),
            dimensions=self._dimensions,
            max_tokens=int(self._window / BYTES_PER_TOKEN),
            pooling="provider",
            special_tokens=0,
            source=ModelSource.REMOTE,
            variant=self._wire.dtype,
            endpoint=self._api.endpoint.url,
        )

    def tokenizer(self) -> EstimateTokenizer:
        """An estimate, for a provider's tokenizer is not at hand."""
        return EstimateTokenizer(BYTES_PER_TOKEN)

    def embed(self, texts: Sequence[str], kind: InputKind, *, cancel: Cancellation | None = None) -> Vectors:
        """See :meth:`everfind_core.ports.Embedder.embed`."""
        model = self.model()
        vectors = np.empty((len(texts), model.dimensions), np.float32)
        window = int(model.text_budget * BYTES_PER_TOKEN)
        cut = [_cut(text, window) for text in texts]

        def fill(start: int, batch: Sequence[str]) -> None:
            vectors[start : start + len(batch)] = self._call(batch, kind, cancel)

        jobs = [partial(fill, start, batch) for start, batch in _batches(cut, self._wire.batch)]
        self._pools[kind].run(jobs, cancel=cancel)
        return vectors

    def embed_tokens(self, sequences: Sequence[TokenIds], *, cancel: Cancellation | None = None) -> Vectors:
        """Refused, for its tokens are estimates.

        Raises:
            InvalidRequestError: always.
        """
        del sequences, cancel
        raise InvalidRequestError.of("tokens", f"{self._provider} takes texts, no tokens", hint="Send the texts.")

    def close(self) -> None:
        """End the calls' threads and connections."""
        for pool in self._pools.values():
            pool.close()
        self._api.close()

    def _call(self, texts: Sequence[str], kind: InputKind, cancel: Cancellation | None) -> Vectors:
        # An empty input is refused by providers; a blank one stands for nothing, too.
        answer = self._api.post(
            self._wire.path, self._wire.body(self._name, [text or " " for text in texts], kind), cancel=cancel
        )
        try:
            rows = np.asarray(self._wire.rows(answer), np.float32)
        except OTHER_SHAPE as error:
            raise self._odd(f"no vectors are in its answer ({type(error).__name__})") from error
        if rows.ndim != 2 or len(rows) != len(texts) or (self._dimensions and rows.shape[1] != self._dimensions):
            raise self._odd(f"its vectors have the shape {rows.shape} for {len(texts)} texts")
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not np.isfinite(rows).all() or not lengths.all():
            raise self._odd("a vector of it is not finite or has no length")
        unit: Vectors = rows / lengths
        return unit

    def _odd(self, what: str) -> UnavailableError:
        return UnavailableError(
            f"{self._api.endpoint.url} does not answer as {self._provider} does: {what}",
            hint="Check that the endpoint speaks this provider's API.",
        )


def _cut(text: str, window: int) -> str:
    """The start of ``text`` that has at most ``window`` bytes of UTF-8, whole characters."""
    raw = text.encode("utf-8", "replace")
    return raw[:window].decode("utf-8", "ignore")


def _batches(texts: Sequence[str], most: int) -> Iterator[tuple[int, Sequence[str]]]:
    """``texts`` in order, in pieces that one call may carry, each with the position of its first."""
    start, held = 0, 0
    for end, text in enumerate(texts):
        if end > start and (end - start >= most or held + len(text) > BATCH_CHARACTERS):
            yield start, texts[start:end]
            start, held = end, 0
        held += len(text)
    if texts[start:]:
        yield start, texts[start:]
