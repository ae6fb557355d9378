"""What a published index says of itself: read as it was written, or refused."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfind_core.errors import IndexDamagedError, IndexIncompatibleError
from everfind_core.index.published import Published, decoded

TOLD = Published(
    "ab12", "000003", 7, {"manifest.json": {"format": 1}, "coverage.json": {"folders": []}}, 5.0, {"x": 1.0}
)


@given(
    st.builds(
        Published,
        publisher=st.text("0123456789abcdef", min_size=1),
        index=st.text("0123456789", min_size=1),
        version=st.integers(1, 1 << 60),
        sidecars=st.fixed_dictionaries({"manifest.json": st.dictionaries(st.text(), st.text())}),
        at=st.floats(0, 1e12),
        unused=st.dictionaries(st.text(), st.floats(0, 1e12)),
    )
)
def test_what_was_written_is_read(told: Published) -> None:
    assert decoded(told.encoded(), "s3://b/p") == told
    assert replace(told, at=1.0, unused={}).shows(told)
    assert not replace(told, version=told.version + 1).shows(told)


@given(st.binary() | st.sampled_from(range(len(TOLD.encoded()))).map(lambda n: TOLD.encoded()[:n]))
def test_anything_else_is_damage(content: bytes) -> None:
    with pytest.raises(IndexDamagedError, match="s3://b/p"):
        decoded(content, "s3://b/p")


@pytest.mark.parametrize(
    "wrong", [{"publisher": "../x"}, {"index": "../x"}, {"sidecars": {}}, {"unused": {"x": "y"}}, {"format": "one"}]
)
def test_a_field_that_cannot_be_is_damage(wrong: dict[str, object]) -> None:
    with pytest.raises(IndexDamagedError):
        decoded(json.dumps(asdict(TOLD) | wrong).encode(), "s3://b/p")


def test_a_newer_format_is_refused_whatever_else_it_says() -> None:
    with pytest.raises(IndexIncompatibleError, match="published by a newer everfind"):
        decoded(b'{"format":2,"else":1}', "s3://b/p")
