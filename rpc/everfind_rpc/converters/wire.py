"""What the converters are made of: enums, times, and the check that a request can be sent."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Generic, TypeVar

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from everfind_core.errors import InvalidRequestError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

CoreT = TypeVar("CoreT", bound=StrEnum)
WireT = TypeVar("WireT", bound=int)
FromT = TypeVar("FromT")
ToT = TypeVar("ToT")

_NANOSECONDS = 10**9
_MAX_DURATION = 315_576_000_000  # seconds: google.protobuf.Duration's own limit
_MAX_INT32 = 2**31 - 1


class EnumTable(Generic[CoreT, WireT]):
    """One core enum beside its proto enum."""

    def __init__(self, wire: Mapping[CoreT, WireT]) -> None:
        self.wire = dict(wire)
        self._core = {number: member for member, number in wire.items()}

    def to_proto(self, member: CoreT) -> WireT:
        """The number of ``member``."""
        return self.wire[member]

    def of_answer(self, number: WireT, fallback: CoreT) -> CoreT:
        """The member for ``number``; ``fallback`` for one that only a newer server knows."""
        return self._core.get(number, fallback)

    def of_request(self, number: WireT, field: str, default: CoreT | None = None) -> CoreT:
        """The member for ``number``; ``default`` for an unspecified one.

        Raises:
            InvalidRequestError: the number is unknown, or unspecified where there is no default.
        """
        if number == 0 and default is not None:
            return default
        if number not in self._core:
            allowed = ", ".join(member.value for member in self.wire)
            problem = "it is unspecified" if number == 0 else f"{int(number)} is no value that this version knows"
            raise InvalidRequestError.of(field, problem, hint=f"Use one of: {allowed}.")
        return self._core[number]


def maybe(convert: Callable[[FromT], ToT], value: FromT | None) -> ToT | None:
    """``value`` converted, if there is one."""
    return None if value is None else convert(value)


def timestamp(seconds: float) -> Timestamp | None:
    """A moment in seconds since the epoch; None for 0, which stands for "never"."""
    if seconds == 0:
        return None
    whole, nanos = divmod(round(Fraction(seconds) * _NANOSECONDS), _NANOSECONDS)
    return Timestamp(seconds=whole, nanos=nanos)


def seconds_of_timestamp(moment: Timestamp) -> float:
    """Seconds since the epoch; 0 for an absent moment."""
    return _seconds(moment.seconds, moment.nanos)


def duration(seconds: float, field: str = "seconds") -> Duration:
    """A span in seconds, to the nanosecond.

    Raises:
        InvalidRequestError: it is not finite, or longer than 10,000 years.
    """
    if not math.isfinite(seconds) or abs(seconds) > _MAX_DURATION:
        raise InvalidRequestError.of(field, f"{seconds} is no number of seconds that can be sent")
    span = Duration()
    span.FromNanoseconds(round(Fraction(seconds) * _NANOSECONDS))
    return span


def seconds_of_duration(span: Duration) -> float:
    """Seconds; 0 for an absent span."""
    return _seconds(span.seconds, span.nanos)


def check_sendable(request: DataclassInstance, *, prefix: str = "") -> None:
    """Refuse a request with a text or number that a message cannot hold.

    Raises:
        InvalidRequestError: a text holds a lone surrogate, or an integer has more than 32 bits.
    """
    for spec in dataclasses.fields(request):
        value = getattr(request, spec.name)
        field = f"{prefix}{spec.name}"
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            check_sendable(value, prefix=f"{field}.")
        elif isinstance(value, int) and not -_MAX_INT32 - 1 <= value <= _MAX_INT32:
            raise InvalidRequestError.of(field, f"{value} is out of range")
        elif isinstance(value, str):
            check_texts((value,), field)
        elif isinstance(value, tuple):
            check_texts(value, field)


def check_texts(texts: Sequence[str], field: str) -> None:
    """Refuse texts that are not Unicode.

    Raises:
        InvalidRequestError: one holds a lone surrogate.
    """
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InvalidRequestError.of(
                field, "it is not valid Unicode", hint="Give UTF-8; write other bytes of a path as %XX."
            ) from None


def _seconds(whole: int, nanos: int) -> float:
    return (whole * _NANOSECONDS + nanos) / _NANOSECONDS
