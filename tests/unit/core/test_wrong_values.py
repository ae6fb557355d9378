"""What is wrong with a value is said in our words: whatever pydantic says of it, and what our own checks say."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, Field, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from everfind_core.wrong_values import what_is_wrong


def own(_value: object) -> object:
    raise ValueError("It ends in nothing.")


def custom(_value: object) -> object:
    raise PydanticCustomError("number", "it needs a whole number")


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        (Annotated[int, Field(le=100)], 1000, "it must be at most 100"),
        (Annotated[float, Field(le=86_400)], 1e6, "it must be at most 86,400"),
        (Annotated[float, Field(ge=0.5)], 0.1, "it must be at least 0.5"),
        (Annotated[float, Field(gt=0)], 0, "it must be more than 0"),
        (Annotated[float, Field(le=1)], float("nan"), "it is no number"),
        (Annotated[float, Field(ge=-1)], "nan", "it is no number"),
        (Annotated[int, Field(lt=3)], 3, "it must be less than 3"),
        (int, "x", "it needs a whole number"),
        (int, 1.5, "it needs a whole number"),
        (int, None, "it needs a whole number"),
        (float, "x", "it needs a number"),
        (Annotated[float, Field(allow_inf_nan=False)], float("nan"), "it needs a finite number"),
        (bool, "maybe", "it must be true or false"),
        (str, 1, "it needs text"),
        (Annotated[str, Field(min_length=2)], "x", "it needs at least 2 characters"),
        (Annotated[str, Field(min_length=1)], "", "it must not be empty"),
        (Annotated[str, Field(max_length=3)], "xxxx", "it may have at most 3 characters"),
        (Annotated[list[int], Field(max_length=2)], [1, 2, 3], "it may have at most 2 entries"),
        (list[int], 1, "it needs a list"),
        (dict[str, int], 1, "it needs names with values"),
        (Literal["a", "b", "c"], "x", "it must be 'a', 'b' or 'c'"),
        (Annotated[int, AfterValidator(own)], 1, "it ends in nothing"),
        (Annotated[int, AfterValidator(custom)], 1, "it needs a whole number"),
    ],
)
def test_it_is_said_in_our_words(kind: Any, value: object, words: str) -> None:
    with pytest.raises(ValidationError) as wrong:
        TypeAdapter(kind).validate_python(value)
    assert what_is_wrong(wrong.value.errors(include_url=False)[0]) == words


def test_what_has_no_words_here_stays_as_the_library_says_it() -> None:
    assert what_is_wrong({"type": "new", "msg": "URL is wrong."}) == "URL is wrong"
    assert what_is_wrong({"type": "new", "msg": "Something is wrong"}) == "something is wrong"
