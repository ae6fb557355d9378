"""What a servicer says of itself: its calls, who may make them, and what each gets to know of its caller."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.message import Message

from everfind_core.cancellation import Cancellation
from everfind_rpc.auth import Principal, Scope
from everfind_rpc.serving.metrics import Metrics

RequestT = TypeVar("RequestT", bound=Message)


@dataclass(frozen=True, slots=True)
class Call:
    """Who calls, until when, and the id under which all services log the call.

    ``authorization`` is the header that proves the caller, for servers that pass the call on.
    """

    principal: Principal
    cancel: Cancellation
    request_id: str
    authorization: str = ""


@dataclass(frozen=True, slots=True)
class Unary(Generic[RequestT]):
    """A call with one answer. ``answer`` runs in a thread; any of ``scopes`` allows it."""

    request: type[RequestT]
    answer: Callable[[RequestT, Call], Message]
    scopes: frozenset[Scope]


@dataclass(frozen=True, slots=True)
class Stream(Generic[RequestT]):
    """A call with a stream of answers. ``answer`` runs in the event loop and must not block it."""

    request: type[RequestT]
    answer: Callable[[RequestT, Call], AsyncIterator[Message]]
    scopes: frozenset[Scope]


@dataclass(frozen=True, slots=True)
class Proxied:
    """A call that another server answers: bytes in, bytes out, in the event loop. Without ``streams`` one answer."""

    answer: Callable[[bytes, Call], AsyncIterator[bytes]]
    streams: bool
    scopes: frozenset[Scope] = frozenset(Scope)


Method: TypeAlias = Unary[Any] | Stream[Any] | Proxied


@dataclass(frozen=True, slots=True)
class Service:
    """A service with the calls that its engine can answer; others of its contract are UNIMPLEMENTED.

    ``stop`` ends, in a thread, what outlives a call. It is called once, before calls under way are waited for.
    ``measure`` tells whoever measures the server what there is to measure beside the calls. ``busy`` is whether
    something is under way that outlives its call.
    """

    descriptor: ServiceDescriptor
    methods: Mapping[str, Method]
    stop: Callable[[], None] = lambda: None
    measure: Callable[[Metrics], None] = lambda _metrics: None
    busy: Callable[[], bool] = lambda: False

    @property
    def name(self) -> str:
        """The full name, as in ``everfind.searcher.v1.SearcherService``."""
        return self.descriptor.full_name
