"""The one table between everfind's errors and gRPC statuses, read in both directions.

An error travels as a ``google.rpc.Status`` with an ``ErrorInfo`` (the reason, the domain ``everfind``, and as metadata
the details and the hint), a ``BadRequest`` for fields that are wrong, and a ``RetryInfo`` where trying again helps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import grpc
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

from everfind_core import errors
from everfind_core.errors import EverfindError, FieldViolation, error_classes
from everfind_core.model import IndexRun

DOMAIN = "everfind"

STATUS_CODES: dict[type[EverfindError], grpc.StatusCode] = {
    errors.InvalidRequestError: grpc.StatusCode.INVALID_ARGUMENT,
    errors.ConfigError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.UntrustedSettingError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.WorkspaceNotFoundError: grpc.StatusCode.NOT_FOUND,
    errors.FolderNotFoundError: grpc.StatusCode.NOT_FOUND,
    errors.FolderExistsError: grpc.StatusCode.ALREADY_EXISTS,
    errors.FolderUnusableError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.FileNotIndexableError: grpc.StatusCode.NOT_FOUND,
    errors.IndexMissingError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.IndexIncompatibleError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.IndexDamagedError: grpc.StatusCode.DATA_LOSS,
    errors.ArchiveUnusableError: grpc.StatusCode.DATA_LOSS,
    errors.IndexLockedError: grpc.StatusCode.ABORTED,
    errors.StorageError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.StorageFullError: grpc.StatusCode.RESOURCE_EXHAUSTED,
    errors.ModelUnusableError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.RunNotFoundError: grpc.StatusCode.NOT_FOUND,
    errors.NotOfferedError: grpc.StatusCode.UNIMPLEMENTED,
    errors.UnauthenticatedError: grpc.StatusCode.UNAUTHENTICATED,
    errors.PermissionDeniedError: grpc.StatusCode.PERMISSION_DENIED,
    errors.OverloadedError: grpc.StatusCode.RESOURCE_EXHAUSTED,
    errors.UnavailableError: grpc.StatusCode.UNAVAILABLE,
    errors.CancelledError: grpc.StatusCode.CANCELLED,
    errors.DeadlineExceededError: grpc.StatusCode.DEADLINE_EXCEEDED,
    errors.InternalError: grpc.StatusCode.INTERNAL,
}
"""Each class's status code."""

CLASSES_BY_CODE: dict[grpc.StatusCode, type[EverfindError]] = {
    grpc.StatusCode.INVALID_ARGUMENT: errors.InvalidRequestError,
    grpc.StatusCode.OUT_OF_RANGE: errors.InvalidRequestError,
    grpc.StatusCode.NOT_FOUND: errors.FileNotIndexableError,
    grpc.StatusCode.ALREADY_EXISTS: errors.FolderExistsError,
    grpc.StatusCode.FAILED_PRECONDITION: errors.IndexIncompatibleError,
    grpc.StatusCode.ABORTED: errors.IndexLockedError,
    grpc.StatusCode.DATA_LOSS: errors.IndexDamagedError,
    grpc.StatusCode.UNAUTHENTICATED: errors.UnauthenticatedError,
    grpc.StatusCode.PERMISSION_DENIED: errors.PermissionDeniedError,
    grpc.StatusCode.RESOURCE_EXHAUSTED: errors.OverloadedError,
    grpc.StatusCode.UNAVAILABLE: errors.UnavailableError,
    grpc.StatusCode.UNIMPLEMENTED: errors.UnavailableError,
    grpc.StatusCode.CANCELLED: errors.CancelledError,
    grpc.StatusCode.DEADLINE_EXCEEDED: errors.DeadlineExceededError,
}
"""The class for a status whose reason this version does not know, or that gRPC or a proxy made; others are internal."""

RETRY_DELAYS: dict[type[EverfindError], float] = {errors.OverloadedError: 1.0, errors.UnavailableError: 1.0}
"""Seconds after which trying again makes sense, for the classes where it does."""

REQUEST_FIELDS: dict[str, str] = {"wait_seconds": "wait", "seconds": "timeout"}
"""Fields of core requests that have another name in the contracts."""

HINT = "hint"
"""Key of the hint in ``ErrorInfo.metadata``; no detail may have it."""

# A status travels in HTTP/2 trailers, of which peers accept 8 KiB, the message twice and once percent-encoded, the rest
# in base64. What is longer is cut, or the whole error would be lost.
_MESSAGE_BYTES = 800
_HINT_BYTES = 400
_KEY_BYTES = 64
_DETAIL_BYTES = 160
_DETAILS = 6
_FIELD_BYTES = 64
_VIOLATIONS = 4

_CODES_BY_NUMBER: dict[int, grpc.StatusCode] = {code.value[0]: code for code in grpc.StatusCode}
_CORE_FIELDS = {wire: core for core, wire in REQUEST_FIELDS.items()}

DetailT = TypeVar("DetailT", bound=Message)


def error_to_status(error: EverfindError) -> Status:
    """The status that carries ``error``; its texts are cut to what a trailer can hold."""
    code = STATUS_CODES.get(type(error), grpc.StatusCode.INTERNAL)
    status = Status(code=code.value[0], message=_clip(error.message, _MESSAGE_BYTES))
    metadata = {_clip(k, _KEY_BYTES): _clip(v, _DETAIL_BYTES) for k, v in list(error.details.items())[:_DETAILS]}
    if error.hint:
        metadata[HINT] = _clip(error.hint, _HINT_BYTES)
    status.details.add().Pack(ErrorInfo(reason=error.reason, domain=DOMAIN, metadata=metadata))
    if error.violations:
        status.details.add().Pack(_bad_request(error.violations))
    if type(error) in RETRY_DELAYS:
        delay = Duration()
        delay.FromNanoseconds(round(RETRY_DELAYS[type(error)] * 10**9))
        status.details.add().Pack(RetryInfo(retry_delay=delay))
    return status


def status_to_error(status: Status) -> EverfindError:
    """The error that ``status`` carries: of the same class if its reason is known, else of the one for its code."""
    info = next(_unpacked(status, ErrorInfo), ErrorInfo())
    details = dict(info.metadata)
    hint = details.pop(HINT, "")
    known = error_classes().get(info.reason) if info.domain == DOMAIN else None
    if known is None:
        return _foreign_error(status, info, hint)
    violations = [
        FieldViolation(_renamed(violation.field, _CORE_FIELDS), violation.description)
        for bad_request in _unpacked(status, BadRequest)
        for violation in bad_request.field_violations
    ]
    return known(status.message, hint=hint, details=details, violations=tuple(violations))


def run_error(run: IndexRun) -> EverfindError:
    """The error that a failed run ended with, as the caller of a local run would have seen it."""
    cls = error_classes().get(run.error_reason, errors.InternalError)
    return cls(run.error_message, hint=run.error_hint)


def _foreign_error(status: Status, info: ErrorInfo, hint: str) -> EverfindError:
    code = _CODES_BY_NUMBER.get(status.code, grpc.StatusCode.UNKNOWN)
    cls = CLASSES_BY_CODE.get(code, errors.InternalError)
    if code is grpc.StatusCode.UNIMPLEMENTED:
        hint = hint or "Update the server: it is older than this client."
    details = dict(info.metadata) | {"status": code.name}
    if info.reason:
        details["reason"] = info.reason
    details.pop(HINT, None)
    return cls(status.message or f"the server answered {code.name}", hint=hint, details=details)


def _bad_request(violations: tuple[FieldViolation, ...]) -> BadRequest:
    return BadRequest(
        field_violations=[
            BadRequest.FieldViolation(
                field=_clip(_renamed(violation.field, REQUEST_FIELDS), _FIELD_BYTES),
                description=_clip(violation.description, _DETAIL_BYTES),
            )
            for violation in violations[:_VIOLATIONS]
        ]
    )


def _unpacked(status: Status, kind: Callable[[], DetailT]) -> Iterator[DetailT]:
    for detail in status.details:
        message = kind()
        if detail.Unpack(message):
            yield message


def _renamed(field: str, names: dict[str, str]) -> str:
    return ".".join(names.get(segment, segment) for segment in field.split("."))


def _clip(text: str, limit: int) -> str:
    """``text`` as valid UTF-8 of at most ``limit`` bytes, with ``…`` where it was cut."""
    encoded = text.encode("utf-8", "backslashreplace")
    if len(encoded) > limit:
        encoded = encoded[: limit - 3].decode("utf-8", "ignore").encode() + "…".encode()
    return encoded.decode()
