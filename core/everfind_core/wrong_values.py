"""What is wrong with a value, in everfind's words and not in those of the library that checks it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_WORDS: Final[Mapping[str, str]] = {
    "less_than_equal": "it must be at most {le}",
    "less_than": "it must be less than {lt}",
    "greater_than_equal": "it must be at least {ge}",
    "greater_than": "it must be more than {gt}",
    "finite_number": "it needs a finite number",
    "string_too_short": "it needs at least {min_length} characters",
    "string_too_long": "it may have at most {max_length} characters",
    "too_short": "it needs at least {min_length} entries",
    "too_long": "it may have at most {max_length} entries",
    "literal_error": "it must be {expected}",
    "enum": "it must be {expected}",
    "missing": "it is missing",
    **dict.fromkeys(("int_type", "int_parsing", "int_parsing_size", "int_from_float"), "it needs a whole number"),
    **dict.fromkeys(("float_type", "float_parsing"), "it needs a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "it must be true or false"),
    **dict.fromkeys(("string_type", "string_unicode", "string_sub_type"), "it needs text"),
    **dict.fromkeys(("list_type", "tuple_type", "set_type"), "it needs a list"),
    **dict.fromkeys(("dict_type", "mapping_type"), "it needs names with values"),
    **dict.fromkeys(("model_type", "dataclass_type", "model_attributes_type"), "it needs an object"),
    "path_type": "it needs a path",
}
"""By the kinds of errors that pydantic documents."""

_BOUNDS: Final = frozenset({"less_than_equal", "less_than", "greater_than_equal", "greater_than"})
_OWN: Final = "Value error, "


def what_is_wrong(error: Mapping[str, object]) -> str:
    """What one of pydantic's errors, as ``ValidationError.errors()`` gives them, says of a value; no full stop.

    What our own checks say stays as it is, and so does what has no words here.
    """
    if error["type"] in _BOUNDS and str(error.get("input")).strip().lower() == "nan":  # it is within no bound
        return "it is no number"
    words = _WORDS.get(str(error["type"]))
    if words is None:
        said = str(error["msg"]).removeprefix(_OWN).rstrip(".")
        return said if said[:2].isupper() else said[:1].lower() + said[1:]
    limits = error.get("ctx", {})
    assert isinstance(limits, Mapping)
    if limits.get("min_length") == 1:
        return "it must not be empty"
    return words.format_map({key: _shown(value) for key, value in limits.items()})


def _shown(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"{value:,}" if isinstance(value, int) else str(value)
