from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfind_core.model import FileRef
from everfind_core.noise.model_registry import MODELS, facts_of
from everfind_core.ports import StoredChunk
from everfind_core.ranking import Candidate, Limits, admit
from everfind_core.ranking.admission import chance, evidence, foreign_share, word_share
from everfind_core.ranking.exact import exact_matches, file_names, telling_words
from everfind_core.ranking.reading import Reading

ENGLISH = Limits(floor=0.35, english_only=True)


def candidate(text: str, cosine: float | None = None, bm25: float | None = None, path: str = "a.txt") -> Candidate:
    return Candidate(StoredChunk(text, FileRef("f", path), 0, 1, 2, text, "", "k", "h", 9), cosine, bm25)


def test_agreement_of_the_first_ten_counts() -> None:
    near = [candidate(f"near {n}", 0.5, 5.0) for n in range(10)]
    alone = [near[0], *(candidate(f"far {n}", None, 1.0) for n in range(9))]
    assert evidence("unheard", Reading.of(near), 1_000, english_only=True).score == pytest.approx(0.5, abs=0.3)
    together = evidence("unheard", Reading.of(near), 1_000, english_only=True).score
    apart = evidence("unheard", Reading.of(alone), 1_000, english_only=True).score
    assert together - apart == pytest.approx(0.4 * 0.5 * 0.9)


def test_a_small_corpus_needs_fewer_that_agree() -> None:
    ranked = [candidate("one", 0.5), *(candidate(f"other {n}", 0.0) for n in range(9))]
    assert evidence("unheard", Reading.of(ranked), 40, english_only=True).score == pytest.approx(
        0.6 * 0.5 + 0.4 * 0.25 + 0.05
    )
    assert evidence("unheard", Reading.of(ranked), 10, english_only=True).score == pytest.approx(0.5 + 0.05)


def test_words_tell_more_in_code_than_in_prose() -> None:
    prose = [candidate(f"retry budget {n}", 0.5, 8.0) for n in range(10)]
    code = [Candidate(replace(one.chunk, kind="function"), one.cosine, one.bm25) for one in prose]

    def score(query: str, functions: int) -> float:
        mixed = Reading.of([*code[:functions], *prose[functions:]])
        return evidence(query, mixed, 1_000, english_only=True).score

    share = word_share("retry budget", Reading.of(prose), 1_000)
    assert share > 0.2
    assert score("retry budget", 0) == pytest.approx(0.5 + 0.25 * share)
    assert score("retry budget", 10) == score("retry budget", 3) == pytest.approx(0.5 + share - 0.08)
    assert score("retry budget", 0) < score("retry budget", 1) < score("retry budget", 2) < score("retry budget", 3)
    nothing = [replace(one, bm25=None) for one in code]
    assert evidence("retry budget", Reading.of(nothing), 1_000, english_only=True).score == pytest.approx(0.5 - 0.08)


def test_what_many_chunks_have_near_by_chance_is_taken_off() -> None:
    assert chance(1_000) == 0
    assert chance(10_000) == pytest.approx(0.05)
    assert chance(0) == chance(100) == pytest.approx(-0.05)
    assert chance(10**7) == chance(20_000) == pytest.approx(0.05 * 1.301, abs=1e-4)
    ranked = [candidate("one", 0.5)]
    few, many = (evidence("unheard", Reading.of(ranked), n, english_only=True).score for n in (1_000, 10_000))
    assert few - many == pytest.approx(0.05)


def test_words_that_stand_nowhere_lower_the_share() -> None:
    ranked = [candidate("the retry budget of a client", bm25=9.0), candidate("a client", bm25=2.0)]
    known = word_share("retry budget client", Reading.of(ranked), 1_000)
    assert 0 < word_share("retry budget client frobnicator", Reading.of(ranked), 1_000) < known <= 1
    assert word_share("the", Reading.of([]), 1_000) == 0.0


def test_what_waits_for_its_vector_is_judged_by_its_words_alone() -> None:
    text = "how is the retry budget of a client configured"
    good = candidate("clients are configured by a budget of retry attempts", bm25=14.0, path="new.md")
    poor = candidate("a client", bm25=0.5, path="new.md")
    new = frozenset({FileRef("f", "new.md")})
    for limits in (ENGLISH, Limits(min_score=0.5), Limits(relative_cutoff=0.8)):
        ranked = [candidate("something else", 0.3, path="old.md"), good, poor]
        assert 1 not in admit(text, ranked, limits, 1_000).kept
        admitted = admit(text, ranked, limits, 1_000, new)
        assert 1 in admitted.kept
        assert admitted.waiting == {1, 2}
    assert list(admit(text, [poor], ENGLISH, 1_000, new).kept) == []
    assert list(admit(text, [good], ENGLISH, 1_000, frozenset({FileRef("f", "old.md")})).kept) == []
    embedded = candidate(good.chunk.text, 0.1, 14.0, path="new.md")
    assert admit(text, [embedded], ENGLISH, 1_000, new) == admit(text, [embedded], ENGLISH, 1_000)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("ERR_TOKEN_EXPIRED", [("ERR_TOKEN_EXPIRED",)]),
        ("the parser", [("parser",)]),
        ("chmod dirs", [("chmod", "dirs")]),
        ("getUserName dirs", [("getUserName",), ("getUserName", "dirs")]),
        ("how do I call `getUserName` with a token", [("getUserName",)]),
        ("what happens if http.ErrAbortHandler is raised in it", [("http.ErrAbortHandler",)]),
        ("of the", []),
        ("remove the encoder APIs of the old module again", []),
        ("where are the tokens of a user checked", []),
    ],
)
def test_telling_words(query: str, words: list[tuple[str, ...]]) -> None:
    assert telling_words(query) == words


def test_two_words_match_where_both_stand_and_one_is_rare() -> None:
    ranked = [
        candidate("Lightning is a payment network; its style sheets are plain", bm25=2.0),
        candidate("CSS is minified by Lightning", bm25=1.5),
        candidate("CSS files", bm25=1.0),
    ]
    assert exact_matches("Lightning CSS", Reading.of(ranked), 1_000) == [1]
    assert exact_matches("lightning", Reading.of(ranked), 1_000) == [0, 1]
    assert exact_matches("LIGHTNING_BOLT css", Reading.of([candidate("LIGHTNING_BOLT", bm25=1.0)]), 1_000) == [0]
    common = [candidate(f"{n} css", bm25=1.0) for n in range(30)]
    assert exact_matches("Lightning CSS", Reading.of([*common, *ranked]), 1_000) == [31]
    assert exact_matches("Lightning CSS", Reading.of([*common, *ranked[1:2] * 6]), 1_000) == []


def test_exact_matches_are_whole_rare_words() -> None:
    ranked = [
        candidate("raise ERR_TOKEN_EXPIRED", bm25=1.0),
        candidate("ERR_TOKEN_EXPIRED_SOON", bm25=1.0),
        candidate("err_token_expired", bm25=1.0),
        candidate("ERR_TOKEN_EXPIRED", cosine=0.9),
    ]
    assert exact_matches("why ERR_TOKEN_EXPIRED on a second login", Reading.of(ranked), 100) == [0, 2]
    many = [candidate(f"{n} ERR_TOKEN_EXPIRED", bm25=1.0) for n in range(6)]
    assert exact_matches("why ERR_TOKEN_EXPIRED on a second login", Reading.of(many), 100) == []
    assert exact_matches("why ERR_TOKEN_EXPIRED on a second login", Reading.of(many), 6_000) == list(range(6))
    assert exact_matches("why ERR_TOKEN_EXPIRED on a second login", Reading.of(many[:2]), 3) == []
    assert exact_matches("why ERR_TOKEN_EXPIRED on a second login", Reading.of(many[:1]), 1) == [0]


def test_a_quoted_message_is_an_exact_match() -> None:
    ranked = [
        candidate('raise Error(f"{name} is not installed. Try passing a value")', bm25=1.0),
        candidate("it is not installed, so try to pass one", bm25=1.0),
    ]
    assert exact_matches("foo is not installed. Try passing", Reading.of(ranked), 1_000) == [0]
    assert (
        exact_matches(
            "why is it that so few of them are there", Reading.of([candidate("why is it that so", bm25=1.0)]), 9
        )
        == []
    )


def test_a_file_named_in_the_query_is_an_exact_match_while_few_have_its_name() -> None:
    query = "update the note of `web-components.md` again"
    ranked = [
        candidate("of web parts", bm25=1.0, path="docs/web-components.md"),
        candidate("see web-components.md for it", bm25=1.0, path="docs/other.md"),
        candidate("more web parts", bm25=1.0, path="docs/Web-Components.md"),
        candidate("found by meaning alone", 0.2, path="docs/web-components.md"),
    ]
    assert exact_matches(query, Reading.of(ranked), 1_000) == [0, 2]
    many = [candidate("web parts", bm25=1.0, path=f"{n}/web-components.md") for n in range(6)]
    assert exact_matches(query, Reading.of(many), 1_000) == []
    assert exact_matches(query, Reading.of([many[0]] * 20), 1_000) == list(range(20))


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("fix src/app/Main.java and go.mod", {"main.java", "go.mod"}),
        ("version 1.2.3, or foo.bar.baz() of e.g.x", set()),
        ("it ends here. Then (README.md) follows", {"readme.md"}),
    ],
)
def test_names_of_files(query: str, names: set[str]) -> None:
    assert file_names(query) == names


def test_a_query_that_stands_word_for_word_is_an_exact_match() -> None:
    ranked = [candidate("error: Cannot open the socket, try again", bm25=1.0), candidate("open a socket", bm25=1.0)]
    assert exact_matches("cannot open the socket try again", Reading.of(ranked), 1_000) == [0]


def test_a_phrase_in_quotation_marks_is_an_exact_match() -> None:
    ranked = [candidate("Cannot open the socket", bm25=1.0), candidate("the socket cannot be open", bm25=1.0)]
    asked = "when does the server say {} to its clients"
    assert exact_matches(asked.format('"open the socket"'), Reading.of(ranked), 1_000) == [0]
    assert exact_matches(asked.format("open the socket"), Reading.of(ranked), 1_000) == []
    assert exact_matches(asked.format('"socket"'), Reading.of(ranked), 1_000) == []
    ranked = [candidate("用户登录鉴权流程", bm25=1.0), candidate("登录的鉴权", bm25=1.0)]
    assert exact_matches("服务器在哪里处理「登录鉴权」的请求", Reading.of(ranked), 1_000) == [0]


def test_exact_matches_never_take_over() -> None:
    ranked = [candidate(f"n{n} useFrobnicator", 0.1, 1.0) for n in range(5)]
    ranked[2:2] = [candidate(f"good {n}", 0.9) for n in range(4)]
    kept = admit("how does useFrobnicator work in a server", ranked, Limits(min_score=0.5), 10_000)
    assert list(kept.kept) == [0, 1, 2, 3, 4, 5, 6]
    assert kept.alone == {0, 1, 6}
    alone = admit("how does useFrobnicator work in a server", ranked, Limits(min_score=0.95), 10_000)
    assert list(alone.kept) == [0, 1, 6, 7, 8]


@pytest.mark.parametrize(
    ("text", "share"), [("token", 0), ("naïve Ünïcode", 0), ("令牌", 1), ("JWT 令牌", 0.4), ("", 0)]
)
def test_foreign_share(text: str, share: float) -> None:
    assert foreign_share(text) == share


def test_a_script_that_the_model_does_not_know_is_judged_by_words() -> None:
    near = [candidate("令牌刷新的步骤", 0.0, 12.0), candidate("登录", 0.0, 0.4)]
    assert list(admit("令牌刷新", near, ENGLISH, 100).kept) == [0, 1]
    guesses = [candidate("登录页面", 0.7, 0.1), *(candidate(f"{n}", 0.7) for n in range(20))]
    assert admit("刷新令牌之后如何重新登录系统", guesses, ENGLISH, 100).kept == []
    assert list(admit("刷新令牌之后如何重新登录系统", guesses, Limits(floor=0.35), 100).kept) == list(range(21))


def test_a_script_that_is_nowhere_in_the_index_cannot_be_judged() -> None:
    ranked = [candidate("refresh a token", 0.2), candidate("log in", 0.1)]
    assert list(admit("茉莉花茶", ranked, ENGLISH, 100).kept) == [0, 1]


def test_a_question_that_has_english_words_is_judged_by_them_where_its_own_are_nowhere() -> None:
    near = [candidate("refresh a token", 0.5, 9.0), candidate("log in", 0.4)]
    far = [candidate("bake a cake", 0.2), candidate("eat it", 0.1)]
    assert list(admit("刷新令牌", near, ENGLISH, 100).kept) == [0, 1]
    assert list(admit("刷新令牌", far, ENGLISH, 100).kept) == []
    assert admit("刷新令牌", far, ENGLISH, 100).judged


def test_english_words_count_half_in_a_chinese_index_that_has_them() -> None:
    chinese = [candidate("刷新令牌", None, 9.0)]
    plain = Reading.of(chinese)
    both = Reading.of([*chinese, candidate("refresh", None, 1.0)])
    assert word_share("刷新令牌", both, 100) < word_share("刷新令牌", plain, 100)
    assert word_share("刷新令牌", plain, 100) == pytest.approx(
        word_share("refresh token", Reading.of([candidate("refresh token", None, 9.0)]), 100) * 2 / 3
    )


@given(
    st.text(max_size=60),
    st.lists(st.tuples(st.text(max_size=40), st.none() | st.floats(-1, 1), st.none() | st.floats(0, 50)), max_size=20),
    st.integers(0, 10**6),
    st.none() | st.floats(-1, 1),
    st.none() | st.floats(-1, 1),
    st.floats(0, 1),
)
def test_any_query_gives_places_in_order(
    text: str,
    found: list[tuple[str, float | None, float | None]],
    chunks: int,
    floor: float | None,
    min_score: float | None,
    cutoff: float,
) -> None:
    ranked = [candidate(*one) for one in found]
    outcome = admit(text, ranked, Limits(floor, min_score, cutoff, english_only=True), chunks)
    assert list(outcome.kept) == sorted(set(outcome.kept))
    assert set(outcome.kept) <= set(range(len(ranked)))
    assert outcome.alone <= set(outcome.exact)
    for place in set(outcome.kept) - outcome.alone:
        cosine = ranked[place].cosine
        assert min_score is None or min_score <= -1 or (cosine is not None and cosine >= min_score)


def test_what_nothing_can_judge_is_kept_and_said_to_be_so() -> None:
    ranked = [candidate("an English chunk", 0.2), candidate("another", 0.1)]
    unjudged = admit("茉莉花茶怎样泡", ranked, ENGLISH, 1_000)
    assert (list(unjudged.kept), unjudged.judged) == ([0, 1], False)
    by_words = admit("茉莉花茶怎样泡", [*ranked, candidate("茉莉花茶", None, 0.5)], ENGLISH, 1_000)
    assert by_words.judged
    assert admit("where are logs configured", ranked, ENGLISH, 1_000).judged
    assert admit("茉莉花茶怎样泡", ranked, Limits(min_score=0.5, english_only=True), 1_000).judged


def test_models_are_known_by_name_whoever_publishes_them() -> None:
    default = facts_of("sentence-transformers/all-MiniLM-L6-v2")
    assert default is not None
    assert (default.floor, default.multilingual, default.window) == (0.35, False, 256)
    assert facts_of("somebody/All-MiniLM-L6-v2") == default
    assert facts_of("nobody-knows") is None
    e5 = facts_of("intfloat/multilingual-e5-small")
    assert e5 is not None
    assert (e5.query_prefix, e5.document_prefix, e5.multilingual) == ("query: ", "passage: ", True)
    assert len({facts.id.rpartition("/")[2].lower() for facts in MODELS}) == len(MODELS)


@pytest.mark.parametrize(
    ("model", "pooling"),
    [  # as vLLM's tests have it, which compare with sentence-transformers
        ("thenlper/gte-large", "mean"),
        ("Alibaba-NLP/gte-multilingual-base", "cls"),
        ("Snowflake/snowflake-arctic-embed-xs", "cls"),
        ("Snowflake/snowflake-arctic-embed-m-v1.5", "cls"),
        ("Snowflake/snowflake-arctic-embed-m-v2.0", "cls"),
        ("nomic-ai/nomic-embed-text-v1", "mean"),
        ("nomic-ai/nomic-embed-text-v2-moe", "mean"),
        ("Qwen/Qwen3-Embedding-0.6B", "last"),
    ],
)
def test_poolings_are_those_of_another_program(model: str, pooling: str) -> None:
    facts = facts_of(model)
    assert facts is not None
    assert facts.pooling == pooling
