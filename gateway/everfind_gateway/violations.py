"""Arguments that are wrong, of tools and of the Python API: a sentence for each, and one error for all."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from everfind_core.errors import FieldViolation, InvalidRequestError
from everfind_core.wrong_values import what_is_wrong
from everfind_gateway.config.suggestions import did_you_mean

_TOLD = 3


def refusal(violations: Sequence[FieldViolation]) -> InvalidRequestError:
    """The error of a call with these; its message names the first few."""
    told = "; ".join(f"{one.field}: {one.description}" for one in violations[:_TOLD])
    return InvalidRequestError(told, violations=tuple(violations))


def violation(error: Mapping[str, Any], known: Sequence[str]) -> FieldViolation:
    """What one of pydantic's errors says of an argument; ``known`` are the arguments that there are."""
    field = ".".join(str(part) for part in error["loc"])
    kind, limits = error["type"], error.get("ctx", {})
    if kind == "missing":
        return FieldViolation(field, "it is missing")
    if kind == "extra_forbidden":
        meant, taken = did_you_mean(field, known), ", ".join(known) or "none"
        return FieldViolation(field[:100], f"there is no such argument{meant} (arguments: {taken})")
    shown = json.dumps(error["input"], ensure_ascii=True, default=str)
    given = shown if len(shown) <= 80 else f"{shown[:80]}…"
    if kind == "literal_error":
        return FieldViolation(field, f"{given} is not one of {limits['expected']}")
    return FieldViolation(field, f"{given} cannot be used: {what_is_wrong(error)}")
