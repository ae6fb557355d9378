from __future__ import annotations

from everfind_core.model import Abstention, FileRef, Hidden, Provenance, ProvenanceLabel
from everfind_core.ports import StoredChunk
from everfind_searcher.ordering.ranking import Ranked
from everfind_searcher.ordering.sharing import all_hidden, share, strongest


def hit(name: str, score: float) -> Ranked:
    chunk = StoredChunk(name, FileRef("f", name), 0, 1, 2, name, "", "k", "h", 9)
    return Ranked(chunk, score, Provenance(ProvenanceLabel.BOTH), [("semantic", score)])


def test_each_part_has_every_second_place() -> None:
    shared = share([[hit("a", 1.0), hit("b", 0.9), hit("c", 0.8)], [hit("a", 0.7), hit("x", 0.95), hit("y", 0.1)]])
    assert [one.chunk.chunk_id for one in shared] == ["a", "x", "b", "y", "c"]
    assert [one.score for one in shared] == [1.0, 0.95, 0.9, 0.1, 0.1]
    for one in shared:
        assert abs(sum(value for _, value in one.parts) - one.score) < 1e-9


def test_a_part_without_an_answer_leaves_its_places() -> None:
    assert [one.chunk.chunk_id for one in share([[], [hit("x", 0.5), hit("y", 0.4)]])] == ["x", "y"]
    assert share([[], []]) == []
    assert strongest([None, Abstention(0.2, 0.35), Abstention(0.3, 0.35)]) == Abstention(0.3, 0.35)
    assert strongest([None, None]) is None


def test_what_is_hidden_from_both_parts_counts_once() -> None:
    one, other = Hidden(2, {"superseded": 2}, "a.md", "f"), Hidden(2, {"superseded": 1, "archived": 1}, "b.md", "f")
    assert all_hidden([Hidden(), one, other]) == Hidden(3, {"superseded": 2, "archived": 1}, "a.md", "f")
