from __future__ import annotations

import pytest

from everfind_core.model import FileRef, LexicalRank, ProvenanceLabel, SearchMode, SemanticRank
from everfind_core.ports import ScoredChunk, StoredChunk
from everfind_searcher.ranking import Ranked, admit, best_cosine, pack, rank
from everfind_searcher.settings import Fusion


def found(name: str, score: float, tokens: int = 10) -> ScoredChunk:
    chunk = StoredChunk(name, FileRef("f", name), 0, 1, 2, f"text of {name}", "", "k", "h", tokens)
    return ScoredChunk(chunk, score)


SEMANTIC = [found("a", 0.9), found("b", 0.5), found("c", 0.1)]
LEXICAL = [found("c", 7.0), found("d", 6.0), found("a", 1.0)]


def fused(
    semantic: list[ScoredChunk], lexical: list[ScoredChunk], mode: SearchMode = SearchMode.HYBRID
) -> list[Ranked]:
    return rank("text of", semantic, lexical, mode=mode, fusion=Fusion.RRF, rrf_k=60)


def test_rrf_is_reciprocal_rank_fusion_to_the_letter() -> None:
    ranked = fused(SEMANTIC, LEXICAL)
    assert {r.chunk.chunk_id: r.score for r in ranked} == {
        "a": pytest.approx(1 / 61 + 1 / 63),
        "b": pytest.approx(1 / 62),
        "c": pytest.approx(1 / 63 + 1 / 61),
        "d": pytest.approx(1 / 62),
    }
    assert [r.chunk.chunk_id for r in ranked] == ["a", "c", "b", "d"]
    assert [(c.rule, c.value) for c in ranked[0].contributions] == [("semantic", 1 / 61), ("lexical", 1 / 63)]


def test_weighted_orders_by_scores_and_says_what_they_are_made_of() -> None:
    ranked = rank("text of", SEMANTIC, LEXICAL, mode=SearchMode.HYBRID, fusion=Fusion.WEIGHTED, rrf_k=60)
    assert {r.chunk.chunk_id for r in ranked} == {"a", "b", "c", "d"}
    assert [r.score for r in ranked] == sorted((r.score for r in ranked), reverse=True)
    for one in ranked:
        assert one.score == pytest.approx(sum(c.value for c in one.contributions))
    assert {r.chunk.chunk_id: r.provenance for r in ranked} == {
        r.chunk.chunk_id: r.provenance for r in fused(SEMANTIC, LEXICAL)
    }


def test_each_hit_says_what_each_arm_said() -> None:
    said = {r.chunk.chunk_id: r.provenance for r in fused(SEMANTIC, LEXICAL)}
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
        ranked = rank("text of", semantic, lexical, mode=mode, fusion=fusion, rrf_k=60)
        assert [(r.chunk.chunk_id, r.score) for r in ranked] == expected


def test_a_floor_keeps_good_cosines_and_lexical_matches() -> None:
    ranked = fused(SEMANTIC, LEXICAL[1:2])
    assert [r.chunk.chunk_id for r in admit(ranked, min_score=0.4, relative_cutoff=None)] == ["a", "d", "b"]
    assert [r.chunk.chunk_id for r in admit(ranked, min_score=None, relative_cutoff=0.8)] == ["a", "d"]
    assert admit(fused(SEMANTIC, []), min_score=0.95, relative_cutoff=None) == []
    assert best_cosine(ranked) == 0.9
    assert best_cosine([]) == 0.0


@pytest.mark.parametrize(
    ("budget", "skipped", "names"),
    [
        (0, 0, ["big", "mid", "small"]),
        (100, 0, ["big"]),
        (99, 1, ["mid"]),
        (141, 0, ["big"]),
        (160, 0, ["big", "mid"]),
        (9, 3, []),
    ],
)
def test_packing_fills_a_budget_without_a_gap(budget: int, skipped: int, names: list[str]) -> None:
    ranked = fused([found("big", 0.9, 100), found("mid", 0.8, 60), found("small", 0.7, 40)], [], SearchMode.SEMANTIC)
    before, packed = pack(ranked, budget)
    assert (before, [r.chunk.chunk_id for r in packed]) == (skipped, names)
