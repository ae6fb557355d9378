"""One call to a server: with deadline, token and request id; cancelled with its caller; errors of our own classes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeVar

import grpc
from google.protobuf.message import Message

from everfind_core.cancellation import Cancellation
from everfind_core.errors import EverfindError
from everfind_rpc.channel import Connection
from everfind_rpc.logs import REQUEST_ID, REQUEST_ID_KEY
from everfind_rpc.tracing import Ended, client_span

if TYPE_CHECKING:
    from grpc import UnaryStreamMultiCallable, UnaryUnaryMultiCallable

RequestT = TypeVar("RequestT", bound=Message)
ResponseT = TypeVar("ResponseT", bound=Message)


class Calls:
    """Makes calls over a connection, of ``workspace`` where a request names no other. Thread-safe."""

    def __init__(self, connection: Connection, workspace: str = "") -> None:
        self._endpoint = connection.endpoint
        self._workspace = workspace

    def unary(
        self,
        method: UnaryUnaryMultiCallable[RequestT, ResponseT],
        request: RequestT,
        *,
        seconds: float,
        cancel: Cancellation | None = None,
    ) -> ResponseT:
        """The answer of a call that may take ``seconds``, or less if its caller's deadline comes before.

        Raises:
            EverfindError: what the server answered, in the class that it had there.
        """
        timeout = _timeout(seconds, cancel)
        self._place(request)
        with self._headers(method) as (headers, ended):
            call = method.future(request, timeout=timeout, metadata=tuple(headers.items()))
            forget = cancel.on_cancel(call.cancel) if cancel else None
            try:
                return call.result()
            except (grpc.RpcError, grpc.FutureCancelledError):
                ended(call.code())
                raise self._error(call, cancel) from None
            finally:
                if forget:
                    forget()

    def stream(
        self,
        method: UnaryStreamMultiCallable[RequestT, ResponseT],
        request: RequestT,
        *,
        seconds: float,
        cancel: Cancellation | None = None,
    ) -> Iterator[ResponseT]:
        """The answers of a stream, as :meth:`unary`. A reader that leaves cancels the call."""
        timeout = _timeout(seconds, cancel)
        self._place(request)
        with self._headers(method) as (headers, ended):
            call = method(request, timeout=timeout, metadata=tuple(headers.items()))
            forget = cancel.on_cancel(call.cancel) if cancel else None
            try:
                yield from call
            except grpc.RpcError:
                ended(call.code())
                raise self._error(call, cancel) from None
            finally:
                if forget:
                    forget()
                call.cancel()

    def _place(self, request: Message) -> None:
        """Every request has a workspace."""
        if self._workspace and not getattr(request, "workspace", ""):
            setattr(request, "workspace", self._workspace)  # noqa: B010 - messages have no common type with the field

    @contextlib.contextmanager
    def _headers(self, method: object) -> Iterator[tuple[dict[str, str], Ended]]:
        """The metadata of a call, and who hears of its status."""
        token, request_id = self._endpoint.secret(), REQUEST_ID.get()
        headers: dict[str, str] = {"authorization": f"Bearer {token}"} if token else {}
        if request_id:
            headers[REQUEST_ID_KEY] = request_id
        with client_span(_name(method), headers, request_id) as ended:
            yield headers, ended

    def _error(self, call: grpc.Call, cancel: Cancellation | None) -> EverfindError:
        """What a call ended with; its caller's own giving up first."""
        if cancel:
            cancel.check()
        from everfind_rpc.clients.call_errors import call_error  # a call that succeeds does not wait for it

        return call_error(call, self._endpoint.address)


def _name(method: object) -> str:
    """``service/method`` of a stub's call, which grpc keeps to itself; empty if it keeps it elsewhere one day."""
    name = getattr(method, "_method", b"")
    return name.decode() if isinstance(name, bytes) else str(name)


def _timeout(seconds: float, cancel: Cancellation | None) -> float:
    if cancel is None:
        return seconds
    cancel.check()
    remaining = cancel.remaining()
    return seconds if remaining is None else min(seconds, remaining)
