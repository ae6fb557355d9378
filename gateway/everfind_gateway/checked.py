"""Arguments of the Python API: what has another type than the signature says is refused by its name."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar, get_args

from pydantic import ConfigDict, ValidationError, validate_call

from everfind_core.errors import FieldViolation
from everfind_gateway.violations import refusal, violation

P = ParamSpec("P")
T = TypeVar("T")


def checked(function: Callable[P, T]) -> Callable[P, T]:
    """``function``, whose arguments are checked against its annotations before it runs.

    Raises:
        InvalidRequestError: an argument is missing, unknown or of another type; the message names each.
    """
    inner = validate_call(config=ConfigDict(strict=True))(function)
    positional, known = _names(function)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return inner(*args, **kwargs)
        except ValidationError as error:
            told = [_violation(one, positional, known) for one in error.errors(include_url=False)]
            raise refusal(list({one.field: one for one in reversed(told)}.values())[::-1]) from None

    return call


def _names(function: Callable[..., object]) -> tuple[list[str], list[str]]:
    """The names of the positional arguments, and of all that a caller can give."""
    parameters = inspect.signature(function, eval_str=True).parameters.values()
    known = []
    for one in parameters:
        unpacked = get_args(one.annotation) if one.kind is one.VAR_KEYWORD else ()
        known += [*unpacked[0].__annotations__] if unpacked else [one.name]
    positional = [one.name for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.VAR_POSITIONAL)]
    return positional, [name for name in known if name != "self"]


def _violation(error: Mapping[str, Any], positional: list[str], known: list[str]) -> FieldViolation:
    """The same by the argument's name, also where it was given by its position."""
    first, kind = error["loc"][0], error["type"].removesuffix("_argument")
    if kind == "unexpected_positional":
        by_place = [name for name in positional if name != "self"]
        others = ", ".join(name for name in known if name not in by_place) or "none"
        return FieldViolation("arguments", f"{len(by_place)} at most without a name; there are by name: {others}")
    name = positional[min(first, len(positional) - 1)] if isinstance(first, int) else first
    kind = "extra_forbidden" if kind == "unexpected_keyword" else kind
    return violation({**error, "loc": (name,), "type": kind}, known)
