from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfind_core.ranking import parts_of


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "how are tokens refreshed and where is the retry budget configured?",
            ("how are tokens refreshed", "where is the retry budget configured"),
        ),
        ("where is the parser? how are errors reported", ("where is the parser", "how are errors reported")),
        ("how does login work, and also what is cached", ("how does login work", "what is cached")),
        ("令牌如何刷新，以及重试次数在哪里配置", ("令牌如何刷新", "重试次数在哪里配置")),
        ("日志在哪里配置？怎样连接数据库？", ("日志在哪里配置", "怎样连接数据库")),
        ("how does request parsing and validation work", ()),
        ("what is the difference between a thread and a task", ()),
        ("will controls be effective and how do they compare with others", ()),
        ("令牌如何刷新，以及它在哪里配置", ()),
        ("where is a? where is b? where is c? where is d?", ()),
        ("Refactor pager stream handling; drop the text branch", ()),
        ('where is "ask and how to answer" written in the guide', ()),
        (
            'where is "the guide" written and how is "the index" made',
            ('where is "the guide" written', 'how is "the index" made'),
        ),
        ("", ()),
    ],
)
def test_parts_of_a_question(text: str, parts: tuple[str, ...]) -> None:
    assert parts_of(text) == parts


@given(st.text(max_size=120))
def test_parts_stand_in_the_question(text: str) -> None:
    parts = parts_of(text)
    assert len(parts) in (0, 2, 3)
    place = 0
    for part in parts:
        place = text.index(part, place) + len(part)
