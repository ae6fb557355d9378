"""From a service's calls to gRPC handlers: who calls, how long, how many at once, and how errors become statuses."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import logging
import re
import threading
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeAlias

import grpc
from google.protobuf.empty_pb2 import Empty
from google.protobuf.message import DecodeError, Message
from grpc_status import rpc_status

from everfind_core.cancellation import Cancellation
from everfind_core.errors import (
    ConfigError,
    EverfindError,
    InternalError,
    InvalidRequestError,
    NotOfferedError,
    OverloadedError,
    UnavailableError,
)
from everfind_core.errors import PermissionDeniedError as ScopeError
from everfind_rpc.auth import LOCAL, Principal, Scope, TokenFile
from everfind_rpc.errors import STATUS_CODES, error_to_status
from everfind_rpc.logs import REQUEST_ID, REQUEST_ID_KEY
from everfind_rpc.serving.metrics import Metrics
from everfind_rpc.serving.service import Call, Method, Proxied, Service, Stream, Unary
from everfind_rpc.tracing import Ended, server_span

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
Metadata: TypeAlias = dict[str, str | bytes]

MAX_CALL_SECONDS = 600
"""A call without a deadline gets this one."""

_REQUEST_ID = re.compile(r"[\w.:-]{1,64}", re.ASCII)
_log = logging.getLogger("everfind.calls")


class Slots:
    """How many may be at work at once. Thread-safe."""

    def __init__(self, limit: int, what: str) -> None:
        self._limit = limit
        self._what = what
        self._taken = 0
        self._guard = threading.Lock()

    @property
    def taken(self) -> int:
        """How many are at work."""
        return self._taken

    def take(self) -> None:
        """Take one.

        Raises:
            OverloadedError: all are taken.
        """
        with self._guard:
            if self._taken >= self._limit:
                raise OverloadedError(
                    f"the server has {self._limit} {self._what} under way, its limit", hint="Try again in a second."
                )
            self._taken += 1

    def give_back(self) -> None:
        """Give one back."""
        with self._guard:
            self._taken -= 1

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Take one for the length of the block; raises as :meth:`take`."""
        self.take()
        try:
            yield
        finally:
            self.give_back()


class Handlers:
    """Makes the handlers of one server; they share its threads and limits."""

    def __init__(
        self,
        tokens: TokenFile | None,
        metrics: Metrics,
        *,
        needs_tokens: bool,
        threads: int,
        max_calls: int,
        max_streams: int,
    ) -> None:
        """Prepare. Without ``needs_tokens`` every caller may do everything until there is a token."""
        self._tokens = tokens
        self._needs_tokens = needs_tokens
        self._metrics = metrics
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="call")
        self._calls = Slots(max_calls, "calls")
        self._streams = Slots(max_streams, "streams")
        self._under_way = 0
        self._last_asked = time.monotonic()
        metrics.watch_calls(lambda: self._calls.taken)

    def generic(self, service: Service) -> grpc.GenericRpcHandler:
        """The handlers of a service's calls; those of its contract that it does not answer are refused."""
        refused = {call.name: _refusal(call.name) for call in service.descriptor.methods}
        methods = {**refused, **service.methods}
        handlers = {name: self._handler(f"{service.name}/{name}", m) for name, m in methods.items()}
        return grpc.method_handlers_generic_handler(service.name, handlers)

    def idle_for(self) -> float:
        """Seconds since the last call ended; 0 while one is under way. In the event loop only."""
        return 0.0 if self._under_way else time.monotonic() - self._last_asked

    def close(self) -> None:
        """Let the threads go; calls under way have ended before."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _handler(self, name: str, method: Method) -> grpc.RpcMethodHandler[Any, Any]:
        async def unary(request: bytes, context: Context) -> bytes | None:
            async with self._answering(name, method, context) as call:
                if isinstance(method, Proxied):
                    with self._calls.held():
                        async with contextlib.aclosing(method.answer(request, call)) as answers:  # type: ignore[type-var]  # they are async generators
                            return await anext(answers)
                assert isinstance(method, Unary)
                return await self._in_thread(method.answer, _parsed(method.request, request), call)
            return None

        async def stream(request: bytes, context: Context) -> AsyncIterator[bytes]:
            async with self._answering(name, method, context) as call:
                with self._streams.held():
                    answers = _answers(method, request, call)
                    async with contextlib.aclosing(answers):  # type: ignore[type-var]  # they are async generators
                        async for answer in answers:
                            yield answer

        if isinstance(method, Unary) or (isinstance(method, Proxied) and not method.streams):
            return grpc.unary_unary_rpc_method_handler(unary)
        return grpc.unary_stream_rpc_method_handler(stream)

    @contextlib.asynccontextmanager
    async def _answering(self, name: str, method: Method, context: Context) -> AsyncIterator[Call]:
        """Around one call: its request id and its span."""
        metadata = {str(key): value for key, value in context.invocation_metadata() or ()}
        request_id = _request_id(metadata.get(REQUEST_ID_KEY, ""))
        REQUEST_ID.set(request_id)
        context.set_trailing_metadata(((REQUEST_ID_KEY, request_id),))
        with server_span(name, metadata, request_id) as ended:
            async with self._judged(name, method, context, {**metadata, REQUEST_ID_KEY: request_id}, ended) as call:
                yield call

    @contextlib.asynccontextmanager
    async def _judged(
        self, name: str, method: Method, context: Context, metadata: Metadata, ended: Ended
    ) -> AsyncIterator[Call]:
        """Its caller and deadline before, its status, log line and metrics after."""
        started = time.perf_counter()
        self._under_way += 1
        request_id = str(metadata[REQUEST_ID_KEY])
        code = grpc.StatusCode.OK
        caller = ""
        try:
            principal = self._principal(metadata, method.scopes)
            caller = principal.name
            yield Call(principal, _cancellation(context), request_id, str(metadata.get("authorization", "")))
        except EverfindError as error:
            code = STATUS_CODES.get(type(error), grpc.StatusCode.INTERNAL)
            await context.abort_with_status(rpc_status.to_status(error_to_status(error)))
        except asyncio.CancelledError:
            code = grpc.StatusCode.CANCELLED
            raise
        except Exception:  # whatever it is, the caller gets an answer and the log the trace
            code = grpc.StatusCode.INTERNAL
            _log.exception("unexpected fault in %s", name)
            fault = InternalError(
                "the server failed at this call; its log has the details",
                hint="Give its operator the request id.",
                details={"request_id": request_id},
            )
            await context.abort_with_status(rpc_status.to_status(error_to_status(fault)))
        finally:
            self._under_way -= 1
            self._last_asked = time.monotonic()
            seconds = time.perf_counter() - started
            ended(code)
            self._metrics.call(name, code.name, seconds)
            _log.info("call", extra={"call": name, "code": code.name, "ms": round(seconds * 1000, 2), "caller": caller})

    def _principal(self, metadata: dict[str, Any], scopes: frozenset[Scope]) -> Principal:
        if self._tokens is None:
            return LOCAL
        try:
            if not self._needs_tokens and not self._tokens.asked_for():
                return LOCAL
            principal = self._tokens.authenticate(str(metadata.get("authorization", "")))
        except ConfigError as error:
            _log.error("tokens cannot be checked: %s", error)
            raise UnavailableError(
                "the server cannot check tokens now", hint="Tell its operator; its log has the details."
            ) from error
        if not principal.may(scopes):
            wanted = " or ".join(sorted(scopes))
            raise ScopeError(
                f"the token {principal.name!r} lacks the scope {wanted}", hint="Ask the server's operator for another."
            )
        return principal

    async def _in_thread(self, answer: Callable[[Any, Call], Message], request: Message, call: Call) -> bytes:
        """Run an engine's call in a thread. A caller that leaves cancels it; its slot is free when it has ended."""
        self._calls.take()

        def work() -> bytes:
            call.cancel.check()
            return answer(request, call).SerializeToString()

        future: Future[bytes] = self._threads.submit(contextvars.copy_context().run, work)
        future.add_done_callback(lambda _: self._calls.give_back())
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            call.cancel.cancel()
            raise


def _refusal(name: str) -> Unary[Empty]:
    def refuse(_request: Empty, _call: Call) -> Message:
        raise NotOfferedError(
            f"this server does not offer {name}", hint="Its operator does what the call is for, where the server runs."
        )

    return Unary(Empty, refuse, frozenset(Scope))


def _cancellation(context: Context) -> Cancellation:
    remaining: float | None = context.time_remaining()  # None without a deadline, whatever the stubs say
    seconds = MAX_CALL_SECONDS if remaining is None else remaining
    return Cancellation(time.monotonic() + seconds)


def _request_id(given: str | bytes) -> str:
    if isinstance(given, str) and _REQUEST_ID.fullmatch(given):
        return given
    return uuid.uuid4().hex


def _parsed(kind: type[Message], content: bytes) -> Message:
    try:
        return kind.FromString(content)
    except DecodeError as error:
        raise InvalidRequestError(
            f"the request is no {kind.DESCRIPTOR.full_name}", hint="Make the client's stubs from this version's proto/."
        ) from error


def _answers(method: Method, request: bytes, call: Call) -> AsyncIterator[bytes]:
    """The answers of a stream as bytes."""
    if isinstance(method, Proxied):
        return method.answer(request, call)
    assert isinstance(method, Stream)
    return _serialized(method.answer(_parsed(method.request, request), call))


async def _serialized(messages: AsyncIterator[Message]) -> AsyncIterator[bytes]:
    async with contextlib.aclosing(messages):  # type: ignore[type-var]  # they are async generators
        async for message in messages:
            yield message.SerializeToString()
