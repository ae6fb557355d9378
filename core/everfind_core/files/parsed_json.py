"""JSON that was read from a file or came from a client: whatever is wrong with it is one kind of error."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from types import UnionType
from typing import Any, Final, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")

OTHER_SHAPE: Final = (ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError)
"""What taking parsed JSON apart raises where it does not have the shape that was written."""


def parse_json(text: str | bytes | bytearray) -> Any:
    """What ``text`` says. The library's own parser meets deep nesting with a RecursionError, which nobody expects.

    Raises:
        ValueError: it is no JSON, not UTF-8, or nested too deeply.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def convert(value: Any, kind: type[T]) -> T:
    """Parsed JSON as a value of ``kind``: a dataclass, an enumeration, or text, numbers, tuples and mappings of these.

    Keys for which a dataclass has no field are left out, and fields without a key have their default: so a file of
    another version that only knows more, or less, is read.

    Raises:
        TypeError, ValueError: it has another shape.
    """
    return _converted(value, kind)  # type: ignore[no-any-return]  # what is returned follows from what is passed


def _converted(value: Any, kind: Any) -> Any:
    inner = get_args(kind)
    if isinstance(kind, UnionType):  # X | None is all that is written
        return None if value is None else _converted(value, inner[0])
    if inner:
        return _collection(value, get_origin(kind), inner)
    return _record(value, kind) if is_dataclass(kind) else _scalar(value, kind)


def _collection(value: Any, origin: Any, inner: tuple[Any, ...]) -> Any:
    if origin is Mapping:
        return {key: _converted(one, inner[1]) for key, one in _checked(value, dict).items()}
    return origin(_converted(one, inner[0]) for one in _checked(value, list))


def _record(value: Any, kind: Any) -> Any:
    kinds, given = _kinds(kind), _checked(value, dict)
    return kind(**{name: _converted(given[name], one) for name, one in kinds.items() if name in given})


def _scalar(value: Any, kind: Any) -> Any:
    if kind is Any:
        return value
    if issubclass(kind, Enum):
        return kind(value)
    if kind is int and isinstance(value, int):  # older versions wrote true for 1
        return int(value)
    if kind is float and isinstance(value, int | float) and abs(value) <= sys.float_info.max:
        return float(value)
    if kind is float:
        raise TypeError(f"{value!r} is no finite number")
    return _checked(value, kind)


def _checked(value: Any, kind: type[T]) -> T:
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value


@functools.cache
def _kinds(record: Any) -> Mapping[str, Any]:
    """The fields of a dataclass with what they hold."""
    hints = get_type_hints(record)
    return {one.name: hints[one.name] for one in fields(record)}
