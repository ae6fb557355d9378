"""Other ways to ask a question, from a language model that a user has configured. Off unless there is one.

Wang, Yang and Wei, "Query2doc", arXiv:2303.07678, and Jagerman et al., arXiv:2305.03653, on why this helps. Nothing but
the question's text is sent. Whatever comes back is data: it only adds words and a direction to the search.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from everfind_core.cancellation import Cancellation
from everfind_core.errors import ConfigError, DeadlineExceededError, ModelUnusableError, UnavailableError
from everfind_core.files.parsed_json import OTHER_SHAPE
from everfind_core.ranking import read_query
from everfind_rpc.json_api import ApiEndpoint, JsonApi
from everfind_searcher.remembered import Remembered

WAYS: Final = 3
"""So many are asked for, and at most so many taken."""
CHARACTERS: Final = 200
"""Of one; a longer line is no question."""
BUDGET_SECONDS: Final = 3.0
REMEMBERED: Final = 256

_TASK: Final = (
    f"Rewrite the user's search query in {WAYS} other ways, with other words that the answer may be written in. "
    "Reply with one on each line and nothing else."
)


def open_expander(url: str, model: str, key: str) -> Expander | None:
    """The expander of an endpoint; None where no endpoint is configured.

    Raises:
        ConfigError: the endpoint is no address, would get the key in the clear, or there is no model to ask it for.
    """
    if not url:
        return None
    if not model:
        raise ConfigError("expansion_model: it is empty", hint="Name the model that the endpoint should use.")
    return Expander(JsonApi(ApiEndpoint(url, key).checked("expansion_endpoint")), model)


class Expander:
    """Asks an OpenAI-compatible endpoint. Remembers what it was told last. Thread-safe."""

    def __init__(self, api: JsonApi, model: str) -> None:
        self._api = api
        self._model = model
        self._known: Remembered[str, tuple[str, ...]] = Remembered(REMEMBERED)

    def expand(self, query: str, cancel: Cancellation) -> tuple[str, ...]:
        """Other ways to ask ``query``; none for a query that names something exactly, or without a usable answer."""
        if read_query(query).names:
            return ()
        known = self._known.get(query)
        if known is not None:
            return known
        try:
            answer = self._api.post("/chat/completions", self._body(query), budget=BUDGET_SECONDS, cancel=cancel)
        except (ModelUnusableError, UnavailableError, DeadlineExceededError):
            cancel.check()
            return ()
        ways = ways_in(answer, query)
        self._known.put(query, ways)
        return ways

    def close(self) -> None:
        """End its connections."""
        self._api.close()

    def _body(self, query: str) -> Mapping[str, Any]:
        messages = [{"role": "system", "content": _TASK}, {"role": "user", "content": query}]
        return {"model": self._model, "messages": messages, "temperature": 0, "max_tokens": 200}


def ways_in(answer: Mapping[str, Any], query: str) -> tuple[str, ...]:
    """The lines of a chat completion; none if it is malformed.

    https://platform.openai.com/docs/api-reference/chat/object
    """
    try:
        content = answer["choices"][0]["message"]["content"]
    except OTHER_SHAPE:
        return ()
    if not isinstance(content, str):
        return ()
    lines = [line.strip().lstrip("-*•0123456789.) \t").strip("\"'` ") for line in content.splitlines()]
    usable = [line for line in lines if line and len(line) <= CHARACTERS and line.isprintable() and line != query]
    return tuple(dict.fromkeys(usable))[:WAYS]
