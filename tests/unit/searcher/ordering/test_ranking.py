from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from everfind_core.index.directory import create_index
from everfind_core.index.manifest import Manifest, Recipe
from everfind_core.model import (
    Abstention,
    FileRef,
    LexicalRank,
    ModelInfo,
    ProvenanceLabel,
    SearchMode,
    SearchRequest,
    SemanticRank,
)
from everfind_core.ports import ScoredChunk, StoredChunk
from everfind_core.ranking import Limits
from everfind_searcher.answering.packing import Room, pack, page_of
from everfind_searcher.ordering.limits import limits_of
from everfind_searcher.ordering.ranking import Ranked, Ranking, admit, rank
from everfind_searcher.settings import Fusion, SearcherSettings


def found(name: str, score: float, tokens: int = 10) -> ScoredChunk:
    chunk = StoredChunk(name, FileRef("f", name), 0, 1, 2, f"text of {name}", "", "k", "h", tokens)
    return ScoredChunk(chunk, score)


SEMANTIC = [found("a", 0.9), found("b", 0.5), found("c", 0.1)]
LEXICAL = [found("c", 7.0), found("d", 6.0), found("a", 1.0)]


def fused(semantic: list[ScoredChunk], lexical: list[ScoredChunk], mode: SearchMode = SearchMode.HYBRID) -> Ranking:
    return rank("text of", semantic, lexical, mode=mode, fusion=Fusion.RRF, rrf_k=60)


def hits(ranking: Ranking) -> list[Ranked]:
    return [ranking.hit(place) for place in range(len(ranking.placed))]


def test_rrf_is_reciprocal_rank_fusion_to_the_letter() -> None:
    ranked = hits(fused(SEMANTIC, LEXICAL))
    assert {r.chunk.chunk_id: r.score for r in ranked} == {
        "a": pytest.approx(1 / 61 + 1 / 63),
        "b": pytest.approx(1 / 62),
        "c": pytest.approx(1 / 63 + 1 / 61),
        "d": pytest.approx(1 / 62),
    }
    assert [r.chunk.chunk_id for r in ranked] == ["a", "c", "b", "d"]
    assert [(c.rule, c.value) for c in ranked[0].contributions] == [("semantic", 1 / 61), ("lexical", 1 / 63)]


def test_weighted_orders_by_scores_and_says_what_they_are_made_of() -> None:
    ranked = hits(rank("text of", SEMANTIC, LEXICAL, mode=SearchMode.HYBRID, fusion=Fusion.WEIGHTED, rrf_k=60))
    assert {r.chunk.chunk_id for r in ranked} == {"a", "b", "c", "d"}
    assert [r.score for r in ranked] == sorted((r.score for r in ranked), reverse=True)
    for one in ranked:
        assert one.score == pytest.approx(sum(c.value for c in one.contributions))
    assert {r.chunk.chunk_id: r.provenance for r in ranked} == {
        r.chunk.chunk_id: r.provenance for r in hits(fused(SEMANTIC, LEXICAL))
    }


def test_each_hit_says_what_each_arm_said() -> None:
    said = {r.chunk.chunk_id: r.provenance for r in hits(fused(SEMANTIC, LEXICAL))}
    assert (said["a"].label, said["a"].semantic, said["a"].lexical) == (
        ProvenanceLabel.BOTH,
        SemanticRank(1, 0.9),
        LexicalRank(3, 1.0),
    )
    assert (said["b"].label, said["b"].lexical) == (ProvenanceLabel.SEMANTIC, None)
    assert (said["d"].label, said["d"].semantic) == (ProvenanceLabel.LEXICAL, None)
    assert said["a"].description == "both 0.900"
    assert said["d"].description == "lexical 6.00"


@pytest.mark.parametrize(
    ("mode", "semantic", "lexical", "expected"),
    [
        (SearchMode.SEMANTIC, SEMANTIC, [], [("a", 0.9), ("b", 0.5), ("c", 0.1)]),
        (SearchMode.LEXICAL, [], LEXICAL, [("c", 7.0), ("d", 6.0), ("a", 1.0)]),
        (SearchMode.HYBRID, [], [], []),
    ],
)
def test_a_plain_mode_keeps_its_arms_scores(
    mode: SearchMode, semantic: list[ScoredChunk], lexical: list[ScoredChunk], expected: list[tuple[str, float]]
) -> None:
    for fusion in Fusion:
        ranked = hits(rank("text of", semantic, lexical, mode=mode, fusion=fusion, rrf_k=60))
        assert [(r.chunk.chunk_id, r.score) for r in ranked] == expected


def names(ranked: Ranking, limits: Limits, query: str = "nothing of it") -> list[str]:
    return [one.chunk.chunk_id for one in admit(query, ranked, limits, chunks=100).hits]


def test_limits_on_a_hit_are_of_its_cosine() -> None:
    ranked = fused(SEMANTIC, LEXICAL[1:2])
    assert names(ranked, Limits()) == ["a", "d", "b", "c"]
    assert names(ranked, Limits(min_score=0.4)) == ["a", "b"]
    assert names(ranked, Limits(relative_cutoff=0.8)) == ["a"]
    assert names(ranked, Limits(floor=2.0, min_score=-1.0)) == ["a", "d", "b", "c"]


def test_an_answer_below_the_floor_says_how_far() -> None:
    admitted = admit("nothing of it", fused(SEMANTIC, []), Limits(min_score=0.95), chunks=100)
    assert (list(admitted.hits), admitted.abstained) == ([], Abstention(0.9, 0.95))
    admitted = admit("nothing of it", fused(SEMANTIC, []), Limits(floor=0.8), chunks=100)
    # 0.6 of the best cosine, 0.4 of the mean of the first five (a twentieth of the chunks), and 0.05 for there are few
    assert admitted.abstained is not None
    assert admitted.abstained.best_score == pytest.approx(0.6 * 0.9 + 0.4 * 0.5 + 0.05)
    assert admitted.abstained.threshold == 0.8
    assert admit("nothing of it", fused(SEMANTIC, []), Limits(floor=0.75), chunks=100).abstained is None


def test_an_exact_match_is_marked_and_stays() -> None:
    ranked = fused(SEMANTIC, LEXICAL[1:2])
    admitted = admit("text of d", ranked, Limits(floor=2.0), chunks=100)
    assert [(one.chunk.chunk_id, one.provenance.label, one.provenance.exact) for one in admitted.hits] == [
        ("d", ProvenanceLabel.EXACT, 1)
    ]
    assert admitted.hits[0].provenance.description == "exact match"
    answered = admit("text of d", ranked, Limits(floor=0.0), chunks=100).hits
    assert [(one.chunk.chunk_id, one.provenance.label.value, one.provenance.exact) for one in answered][:2] == [
        ("a", "semantic", 0),
        ("d", "lexical", 1),
    ]


def test_a_file_has_few_hits_and_its_exact_matches_before_others() -> None:
    of_one = [replace(one, chunk=replace(one.chunk, ref=FileRef("f", "x"))) for one in [*SEMANTIC, *LEXICAL[1:2]]]
    other = found("e", 0.05)
    ranked = rank("text of", [*of_one[:3], other], of_one[3:], mode=SearchMode.SEMANTIC, fusion=Fusion.RRF, rrf_k=60)
    everything = names(ranked, Limits(), "text of d")
    assert sorted(everything) == ["a", "b", "c", "d", "e"]
    few = names(ranked, Limits(of_a_file=2), "text of d")
    assert few == [name for name in everything if name in ("a", "d", "e")]
    assert names(ranked, Limits(of_a_file=1), "text of d") == [name for name in everything if name in ("d", "e")]


@pytest.mark.parametrize(
    ("budget", "skipped", "expected"),
    [
        (100, 0, ["big"]),
        (99, 1, ["mid"]),
        (141, 0, ["big"]),
        (160, 0, ["big", "mid"]),
        (9, 3, []),
    ],
)
def test_packing_fills_a_budget_without_a_gap(budget: int, skipped: int, expected: list[str]) -> None:
    ranked = fused([found("big", 0.9, 100), found("mid", 0.8, 60), found("small", 0.7, 40)], [], SearchMode.SEMANTIC)
    before, packed = pack(hits(ranked), budget, lambda one: one.chunk.tokens)
    assert (before, [r.chunk.chunk_id for r in packed]) == (skipped, expected)


@pytest.mark.parametrize(
    ("budget", "full", "further"),
    [
        (None, ["big", "mid"], ["small"]),
        (200, ["big", "mid"], ["small"]),
        (180, ["big", "mid"], ["small"]),
        (162, ["big"], ["mid", "small"]),
        (150, ["big"], ["mid", "small"]),
        (119, ["big"], []),
        (100, ["big"], []),
        (20, [], ["big"]),
        (0, [], []),
    ],
)
def test_a_quarter_of_a_budget_names_further_files(budget: int | None, full: list[str], further: list[str]) -> None:
    ranked = hits(
        fused([found("big", 0.9, 100), found("mid", 0.8, 60), found("small", 0.7, 40)], [], SearchMode.SEMANTIC)
    )
    room = None if budget is None else Room(budget, lambda one: one.chunk.tokens, lambda _: 12, further_heading=8)
    page = page_of(ranked, 0, SearchRequest("q", limit=2, further=5), room)
    assert [one.chunk.chunk_id for one in page.hits] == full
    assert [one.path for one in page.further] == further
    assert page.left_out == 3 - len(full)
    assert not page_of(ranked, 0, SearchRequest("q", limit=2), room).further


def test_hits_far_below_the_best_only_fill_a_page_and_are_left_out() -> None:
    scores = [replace(one, score=score) for one, score in zip(SEMANTIC, (1.0, 0.25, 0.24), strict=True)]
    ranked = fused(scores, [], SearchMode.SEMANTIC)
    assert names(ranked, Limits(tail=0.25)) == ["a", "b"]
    assert names(ranked, Limits()) == ["a", "b", "c"]
    turned = replace(ranked, placed=ranked.placed[::-1])
    assert names(turned, Limits(tail=0.25)) == ["b", "a"], "the order is not the measure"


def test_the_tail_is_cut_where_the_answer_is_judged(tmp_path: Path) -> None:
    known = ModelInfo("sentence-transformers/all-MiniLM-L6-v2", "1", 384, 256, "mean")
    judged = create_index(tmp_path, Manifest(Recipe(known.identity, "1", "1", "1", "1"), known, 0.0, "0"))
    settings = SearcherSettings(tmp_path)
    index = (judged.manifest.model, judged.read_calibration())
    assert limits_of(SearchRequest("q"), settings, *index).tail == 0.25
    for request in (SearchRequest("q", min_score=0.1), SearchRequest("q", mode=SearchMode.SEMANTIC)):
        assert limits_of(request, settings, *index).tail == 0.0
    assert limits_of(SearchRequest("q"), replace(settings, fusion=Fusion.RRF), *index).tail == 0.0
