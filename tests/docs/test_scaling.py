"""The tables of docs/scaling.md are what the script reckons, and the script's sums are right."""

from __future__ import annotations

import pytest

from scripts.capacity_table import HALF, INT8, Cost, Limit, Space, tables
from tests.support.repository import ROOT

PAGE = ROOT / "docs" / "scaling.md"


def test_the_page_has_the_tables_that_the_script_prints() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for table in tables().split("\n\n"):
        assert table.strip() in page, "paste what `python scripts/capacity_table.py` prints"


def test_one_shard_costs_what_was_measured() -> None:
    cost = Cost(100_000)
    assert cost.shards == 1
    assert cost.latency == pytest.approx(0.0099, abs=0.0001)  # half of all searches at 100,132 chunks
    assert Cost(50_000).cpu == pytest.approx(0.0099, abs=0.0001)


@pytest.mark.parametrize(("space", "held"), [(HALF, 2_310), (INT8, 1_542)])  # docs/benchmarks.md, Space
def test_a_shard_has_as_many_chunks_as_the_default_of_resident_bytes_holds(space: Space, held: int) -> None:
    assert space.shard == pytest.approx((384 << 20) / held, rel=0.01)


def test_costs_add_up_over_shards_and_the_slowest_is_waited_for() -> None:
    one, many = Cost(HALF.shard), Cost(1000 * HALF.shard)
    assert (one.shards, many.shards) == (1, 1000)
    for sum_ in ("memory", "cpu", "disk", "indexing"):
        assert getattr(many, sum_) == pytest.approx(1000 * getattr(one, sum_))
    # half of all questions find no shard slower than what 1 of 1,443 searches of one shard exceeds
    assert many.latency / one.latency == pytest.approx(1.92, abs=0.01)


def test_a_limit_is_met_where_its_need_reaches_it() -> None:
    assert Limit("a day on one core", 86_400, "indexing").met_at() == pytest.approx(86_400 * 12_000 / 112, rel=0.002)
