"""The embedder as the other rooms see it: loads its model once, when first used, and shares its threads fairly."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from everfind_core.cancellation import Cancellation
from everfind_core.errors import InvalidRequestError
from everfind_core.model import InputKind, ModelInfo, Vectors
from everfind_embedder.encoder import TokenIds, plan_runs
from everfind_embedder.loaded import LoadedModel
from everfind_embedder.pool import JobPool
from everfind_embedder.tokenizer import HubTokenizer


class OnnxEmbedder:
    """Implements :class:`everfind_core.ports.Embedder` in this process.

    The same text gives the same vector whatever else is in the call: sequences are never padded, and only equal
    lengths share a run.
    """

    def __init__(self, load: Callable[[], LoadedModel], threads: int) -> None:
        """Wrap ``load``, which is called at first use, and again if it failed; ``threads`` embed at once."""
        self._load = load
        self._pool = JobPool(threads)
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

        A text beyond the window is cut at it. Queries go before documents that are under way.
        """
        model = self._loaded()
        ids_of = self._query_ids if kind is InputKind.QUERY else self._document_ids
        sequences = []
        for text in texts:
            if cancel is not None:
                cancel.check()
            sequences.append(ids_of(model, text))
        return self._run(model, sequences, urgent=kind is InputKind.QUERY, cancel=cancel)

    def embed_tokens(self, sequences: Sequence[TokenIds], *, cancel: Cancellation | None = None) -> Vectors:
        """Vectors of documents given as token ids without special tokens or prefix, each within the budget.

        Raises:
            InvalidRequestError: a sequence is longer than ``model().text_budget``.
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
        return self._run(model, [np.concatenate([prefix, ids]) for ids in sequences], urgent=False, cancel=cancel)

    def close(self) -> None:
        """End the worker threads; the embedder cannot be used any more."""
        self._pool.close()

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
        self, model: LoadedModel, sequences: Sequence[TokenIds], *, urgent: bool, cancel: Cancellation | None
    ) -> Vectors:
        wrapped = [model.tokenizer.wrap(ids) for ids in sequences]
        vectors = np.empty((len(wrapped), model.info.dimensions), np.float32)
        runs = plan_runs([len(ids) for ids in wrapped], model.run_tokens)
        self._pool.run([partial(_encode, model, wrapped, run, vectors) for run in runs], urgent=urgent, cancel=cancel)
        return vectors


def _encode(model: LoadedModel, wrapped: Sequence[TokenIds], run: npt.NDArray[np.intp], vectors: Vectors) -> None:
    """One run: fill the rows of ``vectors`` that ``run`` names."""
    vectors[run] = model.encoder.run(np.stack([wrapped[index] for index in run]))
