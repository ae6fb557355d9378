"""What a call that failed ended with, as an error of our own."""

from __future__ import annotations

import grpc
from google.rpc.status_pb2 import Status
from grpc_status import rpc_status

from everfind_core.errors import EverfindError, InternalError, UnavailableError
from everfind_rpc.channel import MAX_MESSAGE_BYTES
from everfind_rpc.errors import status_to_error


def call_error(call: grpc.Call | grpc.aio.AioRpcError, address: str) -> EverfindError:
    """What a call to ``address`` ended with."""
    code, details = call.code(), call.details() or ""
    status = _status(call)
    if status is not None:
        return status_to_error(status)
    if code is grpc.StatusCode.UNAVAILABLE:
        return UnavailableError(
            f"no everfind answers at {address}: {details}",
            hint="Check the address and TLS settings, and that the server is up (`everfind serve`).",
            details={"address": address},
        )
    if code is grpc.StatusCode.CANCELLED:  # nobody here gave up: the server ended, and did not wait for the call
        return UnavailableError(
            f"the server at {address} stopped in the middle of the call",
            hint="Ask again: it is being restarted, or see why it ended.",
            details={"address": address},
        )
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED and "message" in details:
        return InternalError(
            f"a message is larger than {MAX_MESSAGE_BYTES >> 20} MiB: {details}", hint="Ask for less at a time."
        )
    return status_to_error(Status(code=code.value[0], message=details))


def _status(call: grpc.Call | grpc.aio.AioRpcError) -> Status | None:
    """The status that our server sent; None if gRPC itself or a proxy ended the call."""
    try:
        status: Status | None = rpc_status.from_call(call)  # type: ignore[arg-type]  # both have the three methods that it asks for
    except ValueError:
        return None
    return status
