from __future__ import annotations

import pytest

from everfind_core import errors
from everfind_core.errors import EXIT_CODES, ErrorKind, EverfindError, InvalidRequestError, error_classes


def test_every_class_has_a_reason_of_its_own_and_stands_in_the_drawn_tree() -> None:
    classes = error_classes()
    defined = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, EverfindError)]
    assert len(classes) == len(defined) - 1  # all but the root
    assert errors.__doc__ is not None
    for reason, cls in classes.items():
        assert reason == cls.reason
        assert f"{cls.__name__}" in errors.__doc__
        assert reason in errors.__doc__


def test_every_kind_has_an_exit_code_that_is_not_success() -> None:
    assert set(EXIT_CODES) == set(ErrorKind)
    assert 0 not in EXIT_CODES.values()
    assert InvalidRequestError("x").exit_code == 2


def test_a_wrong_field_is_named() -> None:
    error = InvalidRequestError.of("limit", "0 is not between 1 and 100", hint="Ask for fewer.")
    assert str(error) == "limit: 0 is not between 1 and 100"
    assert [(v.field, v.description) for v in error.violations] == [("limit", "0 is not between 1 and 100")]


@pytest.mark.parametrize("cls", error_classes().values(), ids=lambda c: c.__name__)
def test_every_error_carries_message_hint_and_details(cls: type[EverfindError]) -> None:
    error = cls("what", hint="way out", details={"path": "p"})
    assert (error.message, error.hint, error.details) == ("what", "way out", {"path": "p"})
    assert error.kind in EXIT_CODES
