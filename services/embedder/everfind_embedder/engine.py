"""The embedder as the other rooms see it: loads its model once, when first used, and shares its threads fairly."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from everfind_core.cancellation import Cancellation
from everfind_core.errors import InvalidRequestError
from everfind_core.model import InputKind, ModelInfo, Vectors
from everfind_core.ports import TokenIds
from everfind_embedder.loading.loaded import LoadedModel
from everfind_embedder.pool import BatchPool
from everfind_embedder.tokenizer import HubTokenizer
from everfind_rpc.serving.metrics import Metrics


@dataclass(frozen=True, slots=True, eq=False)
class _Sequence:
    """Wrapped token ids, and the row that gets their vector."""

    model: LoadedModel
    ids: TokenIds
    vector: Vectors


class OnnxEmbedder:
    """Implements :class:`everfind_core.ports.Embedder` in this process.

    The same text gives the same vector whatever else is in its call or in others: sequences are never padded, and only
    equal lengths share a run. Queries and documents have ``threads`` each: a query begins at once and shares the
    processor with the documents under way, as one run of theirs lasts longer than ten queries.
    """

    def __init__(
        self,
        load: Callable[[], LoadedModel],
        threads: int,
        *,
        waiting_tokens: int | None = None,
        documents_nice: int = 0,
    ) -> None:
        """Wrap ``load``, which is called at first use, and again if it failed.

        Calls are refused while more than ``waiting_tokens`` of their kind wait; None never refuses. The threads for
        documents run ``documents_nice`` steps below the others' priority.
        """
        self._load = load
        self.pools = {
            InputKind.QUERY: _pool(threads, waiting_tokens, 0),
            InputKind.DOCUMENT: _pool(threads, waiting_tokens, documents_nice),
        }
        self._guard = threading.Lock()
        self._model: LoadedModel | None = None
        self.threads = threads

    def model(self) -> ModelInfo:
        """The model's identity.

        Raises:
            ModelUnusableError: it cannot be loaded.
        """
        return self._loaded().info

    def tokenizer(self) -> HubTokenizer:
        """The model's tokenizer."""
        return self._loaded().tokenizer

    def embed(self, texts: Sequence[str], kind: InputKind, *, cancel: Cancellation | None = None) -> Vectors:
        """Vectors of ``texts``, in their order; the model's prefix for ``kind`` is put before each.

        A text beyond the window is cut at it.

        Raises:
            OverloadedError: too much waits already.
        """
        model = self._loaded()
        ids_of = self._query_ids if kind is InputKind.QUERY else self._document_ids
        sequences = []
        for text in texts:
            if cancel is not None:
                cancel.check()
            sequences.append(ids_of(model, text))
        return self._run(model, sequences, kind, cancel)

    def embed_tokens(self, sequences: Sequence[TokenIds], *, cancel: Cancellation | None = None) -> Vectors:
        """Vectors of documents given as token ids without special tokens or prefix, each within the budget.

        Raises:
            InvalidRequestError: a sequence is longer than ``model().text_budget``.
            OverloadedError: too much waits already.
        """
        model = self._loaded()
        budget = model.info.text_budget
        for index, sequence in enumerate(sequences):
            if len(sequence) > budget:
                raise InvalidRequestError.of(
                    f"sequences[{index}]",
                    f"{len(sequence)} tokens, but the model takes {budget}",
                    hint="Cut the document into chunks within the model's text budget.",
                )
        prefix = self._document_prefix(model)
        return self._run(model, [np.concatenate([prefix, ids]) for ids in sequences], InputKind.DOCUMENT, cancel)

    def measure(self, metrics: Metrics) -> None:
        """Count runs and what waits for ``metrics`` from now on."""
        for kind, pool in self.pools.items():
            pool.on_run = partial(metrics.run, kind.value)
            metrics.watch_waiting(kind.value, partial(_tokens_waiting, pool))

    def close(self) -> None:
        """End the worker threads; the embedder cannot be used any more."""
        for pool in self.pools.values():
            pool.close()

    def _loaded(self) -> LoadedModel:
        with self._guard:
            if self._model is None:
                self._model = self._load()
            return self._model

    def _query_ids(self, model: LoadedModel, text: str) -> TokenIds:
        ids = model.tokenizer.encode_ids(model.info.query_prefix + text)
        return ids[: model.info.max_tokens - model.info.special_tokens]

    def _document_ids(self, model: LoadedModel, text: str) -> TokenIds:
        """The prefix's tokens and the text's own, as :meth:`embed_tokens` gets them: both calls give one vector."""
        ids = model.tokenizer.encode_ids(text)[: model.info.text_budget]
        return np.concatenate([self._document_prefix(model), ids])

    @staticmethod
    def _document_prefix(model: LoadedModel) -> TokenIds:
        return model.tokenizer.prefix_ids(model.info.document_prefix)

    def _run(
        self, model: LoadedModel, sequences: Sequence[TokenIds], kind: InputKind, cancel: Cancellation | None
    ) -> Vectors:
        vectors = np.empty((len(sequences), model.info.dimensions), np.float32)
        items = [_Sequence(model, model.tokenizer.wrap(ids), row) for ids, row in zip(sequences, vectors, strict=True)]
        # Long ones first, so that threads end at about the same time.
        self.pools[kind].run(sorted(items, key=lambda item: -len(item.ids)), cancel=cancel)
        return vectors


def _pool(threads: int, limit: int | None, nice: int) -> BatchPool[_Sequence]:
    return BatchPool(threads, _encode, size=lambda item: len(item.ids), together=_run_length, limit=limit, nice=nice)


def _tokens_waiting(pool: BatchPool[_Sequence]) -> int:
    return pool.waiting


def _run_length(sequence: _Sequence) -> int:
    """How many sequences of this length one run takes."""
    return sequence.model.run_tokens // len(sequence.ids)


def _encode(sequences: Sequence[_Sequence]) -> None:
    """One run over sequences of one length."""
    vectors = sequences[0].model.encoder.run(np.stack([sequence.ids for sequence in sequences]))
    for sequence, vector in zip(sequences, vectors, strict=True):
        sequence.vector[:] = vector
