"""Ranking gives what it gave when it worked chunk by chunk: how it works is no part of what it says."""

from __future__ import annotations

import json

import pytest

from tests.unit.core.ranking.pinned_corpus import PINNED, QUERIES, outcome


@pytest.mark.parametrize("query", QUERIES)
def test_order_scores_reasons_and_evidence_are_what_they_were(query: str) -> None:
    pinned, found = json.loads(PINNED.read_text(encoding="utf-8"))[query], outcome(query)
    assert [chunk for chunk, _ in found["first"]] == [chunk for chunk, _ in pinned["first"]]
    scores = [score for _, score in pinned["first"]]
    assert [score for _, score in found["first"]] == pytest.approx(scores, abs=1e-12)
    assert found["best"] == pytest.approx(pinned["best"], abs=1e-12)
    assert found["reasons"] == pinned["reasons"]
    assert found["kept"] == pinned["kept"]
