"""What `search --explain` adds to a hit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from everfind_core.model import Contribution, Coverage, SearchAnswer
from everfind_gateway.render.hits import explanation, show_answer
from tests.support.gateway import make_hit

EXPLAINED = replace(
    make_hit(),
    explain=(Contribution("lexical", 0.25), Contribution("semantic", 0.5), Contribution("test", -0.3)),
)


def test_an_explanation_lists_what_counts_most_first() -> None:
    assert explanation(EXPLAINED) == "semantic +0.500, test -0.300, lexical +0.250"
    assert explanation(make_hit()) == ""


def test_a_pipe_gets_one_more_field(capsys: pytest.CaptureFixture[str]) -> None:
    show_answer(SearchAnswer("token", 1, (make_hit(), EXPLAINED), Coverage(1, 1)))
    plain, explained = (line.split("\t") for line in capsys.readouterr().out.splitlines())
    assert explained[:-1] == plain
    assert explained[-1] == explanation(EXPLAINED)
