from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfind_core.model import FileRef, Vector
from everfind_core.ports import StoredChunk
from everfind_core.ranking import WEIGHTS, Candidate, Weights, order, read_query
from everfind_core.ranking.admission import TAIL
from everfind_core.ranking.evidence import (
    crowding,
    lexical_shares,
    scattered_functions,
    semantic_shares,
    semantic_weight,
)

ONLY_ARMS = Weights(
    definition_asked_for=0, definition_in_sentence=0, stem=0, path=0, wording=0, quoted=0, coherence=0, repeat=0,
    test=0, example=0, legacy=0, generated=0, record=0, internal=0, index=0,
)  # fmt: skip


def candidate(
    path: str, cosine: float | None = 0.5, bm25: float | None = 5.0, *, text: str = "", symbol: str = "", n: int = 0
) -> Candidate:
    kind = "function" if symbol else ""
    chunk = StoredChunk(
        f"{path}-{n}", FileRef("f", path), n, 1, 2, text, "", "k", "h", 10, symbol=symbol, kind=kind
    )  # fmt: skip
    return Candidate(chunk, cosine, bm25)


def ordered(query: str, *candidates: Candidate, weights: Weights = WEIGHTS) -> list[str]:
    return [one.candidate.chunk.chunk_id for one in order(query, candidates, weights)]


def parts(query: str, candidates: list[Candidate], of: str) -> dict[str, float]:
    found = next(one for one in order(query, candidates) if one.candidate.chunk.ref.path == of)
    return {c.rule: c.value for c in found.contributions}


@given(st.lists(st.tuples(st.floats(0.1, 1), st.floats(0.1, 20)), min_size=6, max_size=60))
def test_no_file_fills_an_answer(found: list[tuple[float, float]]) -> None:
    """A further chunk of a file counts a half, a third, a quarter; what lies below a quarter of the best is a tail."""
    candidates = [candidate("same", *scores, n=n) for n, scores in enumerate(found)]
    placed = order("a question of several words", [*candidates, candidate("other", 0.3, 3.0)])
    least = TAIL * placed[0].score
    assert sum(one.candidate.chunk.ref.path == "same" for one in placed if one.score > least + 1e-9) <= 3


def test_what_has_a_quoted_phrase_comes_first() -> None:
    near, exact = (
        candidate("near", 0.9, 9.0, text="the lines of a file"),
        candidate("exact", 0.3, 1.0, text="File lines"),
    )
    assert ordered("how are file lines read", near, exact) == ["near-0", "exact-0"]
    assert ordered('how are "file lines" read', near, exact) == ["exact-0", "near-0"]
    assert parts('how are "file lines" read', [near, exact], "exact")["quoted"] == 1
    assert "quoted" not in parts('how are "file lines" read', [near, exact], "near")


def test_arms_are_mixed_by_shares_of_the_best() -> None:
    weights = replace(ONLY_ARMS, semantic_slope=0.0, semantic=0.25)
    found = order(
        "a question of several words", [candidate("a", 0.8, None), candidate("b", 0.6, 4.0), candidate("c", 0.4, 8.0)],
        weights,
    )  # fmt: skip
    assert [(one.candidate.chunk.ref.path, round(one.score, 9)) for one in found] == [
        ("c", 0.75), ("b", 0.25 * 0.5 + 0.75 * 0.5), ("a", 0.25),
    ]  # fmt: skip


def test_shares() -> None:
    nothing = np.nan
    assert semantic_shares(np.array([0.9, nothing, 0.5, 0.7])) == pytest.approx([1, 0, 0, 0.5])
    assert semantic_shares(np.array([0.5, 0.5])).tolist() == [1, 1]
    assert lexical_shares(np.array([2.0, nothing, 8.0])).tolist() == [0.25, 0, 1]
    assert lexical_shares(np.array([nothing])) == semantic_shares(np.array([nothing])) == [0]


def test_an_identifier_and_chinese_lean_lexical_and_a_clear_cosine_leans_semantic() -> None:
    def weight(query: str, cosine: float = 0.6, scatter: float = 0.0) -> float:
        return semantic_weight(read_query(query), cosine, scatter, WEIGHTS)

    assert weight("getUserName") == WEIGHTS.semantic_for_identifier
    assert weight("茉莉花茶") == pytest.approx(WEIGHTS.semantic_for_cjk)
    assert weight("登录鉴权") == pytest.approx((WEIGHTS.semantic_for_cjk + WEIGHTS.semantic) / 2)
    assert weight("who reads the file") == pytest.approx(WEIGHTS.semantic)
    assert weight("who reads the file", 0.7) > weight("who reads the file") > weight("who reads the file", 0.5)
    assert weight("who reads the file", 2.0) == WEIGHTS.semantic_most
    assert weight("who reads the file", -2.0) == WEIGHTS.semantic_least
    assert weight("who reads the file", 2.0, 1.0) == WEIGHTS.semantic_limit


def test_functions_all_over_the_place_are_scattered() -> None:
    shares = 1 - np.arange(60) / 100
    assert scattered_functions(shares, shares, list(range(60)), ["function"] * 60) == 1
    assert scattered_functions(shares, shares, list(range(60)), [""] * 60) == 0
    assert scattered_functions(shares, shares, [n // 5 for n in range(60)], ["method"] * 60) == 0
    assert scattered_functions(shares[:0], shares[:0], [], []) == 0


def direction(degrees: float) -> Vector:
    angle = np.radians(degrees)
    return np.array([np.cos(angle), np.sin(angle)], np.float32)


def test_a_crowd_is_nearer_to_its_like_than_one_that_stands_apart() -> None:
    vectors = [direction(0), direction(0), direction(90), None]
    assert crowding(vectors) == pytest.approx([1 / 6, 1 / 6, -1 / 3, 0])  # mean cosines .5, .5 and 0
    assert crowding([2 * direction(0), direction(60)]) == pytest.approx([0, 0])  # lengths do not count
    assert crowding([direction(0), None]).tolist() == [0, 0]
    assert not crowding([]).size


def test_crowding_is_that_of_all_pairs() -> None:
    random = np.random.default_rng(5)
    vectors = random.standard_normal((83, 24)).astype(np.float32)
    unit = vectors.astype(np.float64) / np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    near = unit @ unit.T - 2 * np.eye(83)
    means = np.sort(near, axis=1)[:, -10:].mean(axis=1)
    assert crowding(list(vectors)) == pytest.approx(means - means.mean(), abs=1e-6)


def test_only_a_candidate_s_ten_nearest_are_its_neighbours() -> None:
    crowd, few = [direction(0)] * 90, [direction(90)] * 6
    found = crowding([*crowd, *few])
    assert found[0] - found[90] == pytest.approx(1 - 5 / 10)  # ten of its like, and five beside five of the crowd
    assert crowding([*crowd, *[direction(90)] * 11]) == pytest.approx([0] * 101)


def test_where_functions_are_scattered_one_that_stands_apart_comes_before_a_crowd() -> None:
    read: list[int] = []

    def function(n: int, file: str) -> Candidate:
        def vector() -> Vector:
            read.append(n)
            return direction(60 + n / 20 if n != 1 else -60)

        return replace(candidate(file, 0.5 - n / 1000, None, symbol=f"f{n}", n=n), vector=vector)

    scattered = [function(n, f"{n}.py") for n in range(60)]
    assert ordered("sort a list", *scattered)[0] == "1.py-1"
    assert ordered("sort a list", *scattered, weights=replace(WEIGHTS, crowding=0))[0] == "0.py-0"
    assert parts("sort a list", scattered, "0.py")["crowding"] < 0
    assert sorted(read) == sorted(3 * [*range(60)])
    read.clear()
    gathered = [function(n, "one.py") for n in range(60)]
    assert not any(part.rule == "crowding" for one in order("sort a list", gathered) for part in one.contributions)
    assert not read  # nobody asks how near they are to each other


def test_the_definition_of_a_name_comes_before_its_uses() -> None:
    use = candidate("use.py", 0.6, 9.0, text="parse_header(a)\nparse_header(b)")
    definition = candidate("other.py", 0.5, 8.0, text="def parse_header(line):", symbol="parse_header")
    assert ordered("parse_header", use, definition) == ["other.py-0", "use.py-0"]
    assert parts("parse_header", [use, definition], "other.py")["definition"] == WEIGHTS.definition_asked_for
    in_sentence = parts("why does parse_header fail on tabs", [use, definition], "other.py")
    assert in_sentence["definition"] == WEIGHTS.definition_in_sentence


def test_a_file_named_in_the_question_gains() -> None:
    found = parts("how the response writer works", [candidate("a.go"), candidate("response_writer.go")], "a.go")
    assert "file stem" not in found
    named = [candidate("a.go", n=1), candidate("response_writer.go")]
    assert parts("how the response writer works", named, "response_writer.go")["file stem"] == WEIGHTS.stem


@pytest.mark.parametrize(
    ("path", "rule", "asking"),
    [
        ("tests/a.py", "test", "tests of the token refresh"),
        ("examples/a.py", "example", "example of the token refresh"),
        ("v1/a.py", "legacy", "deprecated token refresh way"),
        ("vendor/a.py", "generated", "vendored token refresh code"),
        ("CHANGELOG", "record", "changelog of the token refresh"),
        ("_internal/a.py", "internal", "internals of the token refresh"),
    ],
)
def test_a_file_beside_the_point_is_lowered_unless_asked_for(path: str, rule: str, asking: str) -> None:
    both = [candidate(path, text="x"), candidate("src/b.py", text="y")]
    lowered = parts("when is the token refreshed", both, path)
    assert lowered[rule] == pytest.approx(-getattr(WEIGHTS, rule) * sum(v for v in lowered.values() if v > 0))
    assert rule not in parts(asking, both, path)
    assert rule not in parts("when is the token refreshed", both, "src/b.py")


def test_a_definition_asked_for_by_name_is_not_lowered() -> None:
    found = parts("term_len", [candidate("_compat.py", text="def term_len(x):"), candidate("b.py")], "_compat.py")
    assert "legacy" not in found


def test_a_file_of_which_several_chunks_agree_gains_and_its_repeats_are_lowered() -> None:
    alone = candidate("alone.py", 0.70, 7.0)
    agreeing = [candidate("many.py", 0.69 - n / 100, 6.9 - n / 10, n=n) for n in range(4)]
    others = [candidate(f"{n}.py", 0.3, 3.0) for n in range(3)]
    ids = ordered("which file is about this matter", alone, *agreeing, *others)
    assert ids[:2] == ["many.py-0", "alone.py-0"]
    found = order("which file is about this matter", [alone, *agreeing, *others])
    second = next(one for one in found if one.candidate.chunk.chunk_id == "many.py-1")
    repeat = {c.rule: c.value for c in second.contributions}["repeat"]
    assert second.score == pytest.approx(-repeat)  # half of what it was


def test_of_nearly_equal_documents_the_newer_one_comes_first() -> None:
    def dated(path: str, bm25: float, date: str) -> Candidate:
        found = candidate(path, 0.5, bm25)
        return replace(found, chunk=replace(found.chunk, date=date))

    query = "a question of several words"
    old, new = dated("old.md", 8.05, "2019-05-01"), dated("new.md", 8.0, "2026-03")
    middle, undated = dated("middle.md", 8.02, "2020"), candidate("undated.md", 0.5, 8.03)
    assert ordered(query, old, middle, undated, new) == ["new.md-0", "undated.md-0", "middle.md-0", "old.md-0"]
    clearly = dated("old.md", 9.0, "2019-05-01")
    assert ordered(query, clearly, new)[0] == "old.md-0"
    assert "newer" not in parts(query, [old, undated], "old.md")


def test_nothing_found_is_nothing_ordered() -> None:
    assert order("anything", []) == []


SCORE = st.one_of(st.none(), st.floats(0.0, 50.0))
PATH = st.sampled_from(["a.py", "b/test_a.py", "b/c.md", "vendor/x.js", "__init__.py"])


@given(
    st.sampled_from(["getUserName", "how does it work", "登录", "a b", "!!", "the tests of x_y"]),
    st.lists(st.tuples(PATH, st.one_of(st.none(), st.floats(-1.0, 1.0)), SCORE), max_size=40),
)
def test_an_order_is_a_permutation_with_scores_that_add_up(
    query: str, given_: list[tuple[str, float | None, float | None]]
) -> None:
    candidates = [candidate(path, cosine, bm25, n=n) for n, (path, cosine, bm25) in enumerate(given_)]
    found = order(query, candidates)
    assert sorted(one.candidate.chunk.chunk_id for one in found) == sorted(c.chunk.chunk_id for c in candidates)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    for one in found:
        assert one.score == pytest.approx(sum(c.value for c in one.contributions), abs=1e-9)
        assert one.score >= -1e-12
    assert [(a.candidate, a.score) for a in order(query, candidates)] == [(a.candidate, a.score) for a in found]
