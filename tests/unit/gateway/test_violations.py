"""Arguments that are wrong: all of them are in one error, the first few in its sentence."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError

from everfind_core.errors import FieldViolation
from everfind_gateway.violations import refusal, violation


class Given(BaseModel):
    """Arguments of a call."""

    model_config = ConfigDict(extra="forbid")

    query: str
    limit: int = 1


def test_a_refusal_has_all_violations_and_tells_the_first_three() -> None:
    wrong = [FieldViolation(name, "it is missing") for name in ("a", "b", "c", "d")]
    error = refusal(wrong)
    assert error.message == "a: it is missing; b: it is missing; c: it is missing"
    assert error.violations == tuple(wrong)


def test_each_kind_of_violation_names_its_argument() -> None:
    with pytest.raises(ValidationError) as caught:
        Given.model_validate({"limt": 2, "limit": "x"})
    told = {one.field: one.description for one in (violation(e, ["query", "limit"]) for e in caught.value.errors())}
    assert told == {
        "query": "it is missing",
        "limit": '"x" cannot be used: it needs a whole number',
        "limt": "there is no such argument; did you mean 'limit'? (arguments: query, limit)",
    }
