"""How good a place to cut a line of code is by itself, without a grammar."""

from __future__ import annotations

import pytest

from everfind_core.chunking.code import columns_of, line_strengths

CODE = """first = 0

after_blank = 1
same_depth = 2
    deeper = 3
    deeper_same = 4
) + 5
# why
after_comment = 6"""


def strengths(text: str) -> dict[str, int]:
    lines = text.split("\n")
    return dict(zip(lines, line_strengths(lines, columns_of(lines)), strict=True))


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("after_blank = 1", "same_depth = 2"),
        ("same_depth = 2", "    deeper = 3"),
        ("    deeper_same = 4", "    deeper = 3"),
        ("same_depth = 2", "    deeper_same = 4"),
        ("    deeper_same = 4", ") + 5"),
        ("same_depth = 2", "after_comment = 6"),
    ],
)
def test_blocks_are_better_than_statements_and_those_than_what_continues(better: str, worse: str) -> None:
    found = strengths(CODE)
    assert found[better] > found[worse]


def test_a_blank_line_is_no_place_to_cut() -> None:
    found = strengths("a = 1\n\nb = 2")
    assert found[""] < min(found["a = 1"], found["b = 2"])
