"""The tables of docs/scaling.md are what the script reckons, and the script's sums are right."""

from __future__ import annotations

import pytest

from scripts.capacity_table import SHARD, Cost, Limit, tables
from tests.support.repository import ROOT

PAGE = ROOT / "docs" / "scaling.md"


def test_the_page_has_the_tables_that_the_script_prints() -> None:
    assert tables() in PAGE.read_text(encoding="utf-8"), "paste what `python scripts/capacity_table.py` prints"


def test_one_shard_costs_what_was_measured() -> None:
    cost = Cost(100_000)
    assert cost.shards == 1
    assert cost.latency == pytest.approx(0.0099, abs=0.0001)  # half of all searches at 100,132 chunks
    assert Cost(50_000).cpu == pytest.approx(0.0099, abs=0.0001)


def test_costs_add_up_over_shards_and_the_slowest_is_waited_for() -> None:
    one, many = Cost(SHARD), Cost(1000 * SHARD)
    assert (one.shards, many.shards) == (1, 1000)
    for sum_ in ("memory", "cpu", "disk", "indexing"):
        assert getattr(many, sum_) == pytest.approx(1000 * getattr(one, sum_))
    # half of all questions find no shard slower than what 1 of 1,443 searches of one shard exceeds
    assert many.latency / one.latency == pytest.approx(1.92, abs=0.01)


def test_a_limit_is_met_where_its_need_reaches_it() -> None:
    assert Limit("a day on one core", 86_400, "indexing").met_at() == pytest.approx(86_400 * 12_000 / 112, rel=0.002)
