"""Reranking at a provider: Voyage and Cohere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from everfind_core.cancellation import Cancellation
from everfind_core.errors import UnavailableError
from everfind_core.files.parsed_json import OTHER_SHAPE
from everfind_core.model import RerankRequest
from everfind_rpc.json_api import JsonApi

TEXT_CHARACTERS: Final = 8_000
"""Of one text; a chunk is far shorter."""


@dataclass(frozen=True, slots=True)
class Wire:
    """A provider's form of a reranking call; ``key`` names the list of scores in its answer."""

    url: str
    path: str
    key: str
    body: Callable[[str, RerankRequest], Mapping[str, Any]]


def _body(model: str, request: RerankRequest) -> Mapping[str, Any]:
    texts = [text[:TEXT_CHARACTERS] or " " for text in request.texts]
    return {"model": model, "query": request.query, "documents": texts}


WIRES: Final[Mapping[str, Wire]] = {
    # https://docs.voyageai.com/reference/reranker-api
    "voyage": Wire("https://api.voyageai.com/v1", "/rerank", "data", _body),
    # https://docs.cohere.com/v2/reference/rerank
    "cohere": Wire("https://api.cohere.com/v2", "/rerank", "results", _body),
}


class ProviderReranker:
    """Implements :class:`everfind_core.ports.Reranker` over a provider's API, within a budget of seconds a call."""

    def __init__(self, provider: str, model: str, api: JsonApi, *, budget: float) -> None:
        self._wire = WIRES[provider]
        self._name = model
        self._api = api
        self._budget = budget
        self.identity = f"{provider}:{model}"
        self.endpoint = api.endpoint.url

    def rerank(self, request: RerankRequest, *, cancel: Cancellation | None = None) -> Sequence[float]:
        """See :meth:`everfind_core.ports.Reranker.rerank`.

        Raises:
            ModelUnusableError: the provider refuses the key or the request.
            UnavailableError: it does not answer within the budget, or not as it should.
        """
        if not request.texts:
            return ()
        body = self._wire.body(self._name, request)
        answer = self._api.post(self._wire.path, body, budget=self._budget, cancel=cancel)
        try:
            scores = {int(row["index"]): float(row["relevance_score"]) for row in answer[self._wire.key]}
            return [scores[position] for position in range(len(request.texts))]
        except OTHER_SHAPE as error:
            raise UnavailableError(
                f"{self.endpoint} does not give a score for each text", hint="Check that it speaks the provider's API."
            ) from error

    def close(self) -> None:
        """End its connections."""
        self._api.close()
