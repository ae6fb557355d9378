"""Query expansion: which queries are sent, what is sent of them, and that no answer can do harm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfind_core.cancellation import Cancellation
from everfind_core.errors import CancelledError, ConfigError
from everfind_core.model import InputKind, SearchMode, SearchRequest
from everfind_core.text.lexical import query_terms
from everfind_rpc.json_api import ApiEndpoint, JsonApi
from everfind_searcher.asking.expansion import CHARACTERS, WAYS, Expander, open_expander, ways_in
from everfind_searcher.asking.reader import QuestionReader, ReadQuestion
from tests.support.fakes import FakeEmbedder
from tests.support.providers import serve


def completion(content: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"content": content}}]}


def expand(query: str, answer: Any, status: int = 200, times: int = 1) -> tuple[tuple[str, ...], list[Any]]:
    with serve(lambda _path, _body: (status, answer, {})) as provider:
        expander = Expander(JsonApi(ApiEndpoint(provider.url)), "m")
        ways = [expander.expand(query, Cancellation()) for _ in range(times)]
        expander.close()
        assert provider.paths == ["/chat/completions"] * len(provider.bodies)
        return ways[-1], provider.bodies


def test_only_the_question_leaves_and_its_other_ways_come_back() -> None:
    ways, (body,) = expand("how long does a login last", completion('1. session lifetime\n- "time to sign out"\n'))
    assert ways == ("session lifetime", "time to sign out")
    assert body["model"] == "m"
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert body["messages"][1]["content"] == "how long does a login last"


@pytest.mark.parametrize("query", ["getUserName", "where is refresh_token called", "what is `xs`", "login"])
def test_a_query_that_names_something_is_not_sent(query: str) -> None:
    assert expand(query, completion("other")) == ((), [])


def test_the_same_question_is_sent_once() -> None:
    ways, bodies = expand("how long does a login last", completion("session lifetime"), times=3)
    assert ways == ("session lifetime",)
    assert len(bodies) == 1


@pytest.mark.parametrize("answer", [{}, {"choices": []}, completion(None), completion(["x"]), {"choices": 3}])
def test_a_malformed_answer_is_ignored(answer: Any) -> None:
    assert expand("how long does a login last", answer)[0] == ()


@pytest.mark.parametrize("status", [400, 401])
def test_a_refusal_is_ignored(status: int) -> None:
    assert expand("how long does a login last", "no", status)[0] == ()


def test_a_caller_that_gave_up_is_told() -> None:
    cancel = Cancellation()
    cancel.cancel()
    expander = Expander(JsonApi(ApiEndpoint("http://127.0.0.1:9")), "m")
    with pytest.raises(CancelledError):
        expander.expand("how long does a login last", cancel)
    expander.close()


@given(st.text() | st.lists(st.text(), max_size=9).map("\n".join))
def test_whatever_is_answered_few_short_lines_are_taken(content: str) -> None:
    ways = ways_in(completion(content), "q")
    assert len(ways) <= WAYS
    assert len(set(ways)) == len(ways)
    assert all(0 < len(way) <= CHARACTERS and way.isprintable() and way != "q" for way in ways)


def test_other_ways_add_words_and_a_direction() -> None:
    embedder = FakeEmbedder()
    query = "how long does a login last"
    with serve(lambda _path, _body: (200, completion("session lifetime\nlogin expiry"), {})) as provider:
        reader = QuestionReader(embedder, open_expander(provider.url, "m", ""))
        asked = reader.read(SearchRequest(query), Cancellation())
        vector = reader.vector(asked, Cancellation())
        lexical = reader.read(SearchRequest(query, mode=SearchMode.LEXICAL), Cancellation())
        reader.close()
    plain = QuestionReader(embedder, None).read(SearchRequest(query), Cancellation())
    assert lexical == ReadQuestion((), asked.terms)
    assert reader.vector(lexical, Cancellation()) is None
    assert list(asked.terms) == [*plain.terms, *query_terms("session lifetime expiry")]
    own, one, two = embedder.embed([query, "session lifetime", "login expiry"], InputKind.QUERY)
    together = 2 * own + one + two
    assert vector is not None
    np.testing.assert_allclose(vector, together / np.linalg.norm(together), rtol=1e-5)


def test_an_endpoint_needs_a_model() -> None:
    assert open_expander("", "", "") is None
    with pytest.raises(ConfigError, match="expansion_model"):
        open_expander("https://far.example", "", "")
    with pytest.raises(ConfigError, match="expansion_endpoint"):
        open_expander("http://far.example", "m", "key")
