"""The models of a process: each is loaded once, however many workspaces use it, and closed with the last of them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from everfind_gateway.wiring.late import Late, LateEmbedder

if TYPE_CHECKING:
    from everfind_core.ports import Embedder, Reranker
    from everfind_gateway.config.settings import Settings

_EMBEDDER = (
    "model", "hub_endpoint", "model_cache_dir", "threads", "model_endpoint", "model_key_file", "model_window",
)  # fmt: skip
_RERANKER = (
    "reranker", "hub_endpoint", "model_cache_dir", "threads", "reranker_endpoint", "reranker_key_file",
    "reranker_seconds", "reranker_interval",
)  # fmt: skip


class _Closable(Protocol):
    def close(self) -> object: ...


T = TypeVar("T", bound=_Closable)


class LateReranker:
    """The reranker that settings name, if they do; it is opened at the first use."""

    def __init__(self, open_reranker: Callable[[], Reranker | None]) -> None:
        self._reranker = Late(open_reranker)

    def get(self) -> Reranker | None:
        """It, opened now if it was not."""
        return self._reranker.get()

    def close(self) -> None:
        """Close it, if it was opened."""
        if reranker := self._reranker.take():
            reranker.close()


class Models:
    """Models by the settings that name them. They come up when first used. Thread-safe."""

    def __init__(
        self, open_embedder: Callable[[Settings], Embedder], open_reranker: Callable[[Settings], Reranker | None]
    ) -> None:
        self._open_embedder = open_embedder
        self._open_reranker = open_reranker
        self._embedders: _Shared[LateEmbedder] = _Shared()
        self._rerankers: _Shared[LateReranker] = _Shared()

    def lease(self, settings: Settings) -> Lease:
        """The models that ``settings`` name, until they are given back."""
        embedder, reranker = _key(settings, _EMBEDDER), _key(settings, _RERANKER)

        def close() -> None:
            self._rerankers.give_back(reranker)
            self._embedders.give_back(embedder)

        return Lease(
            self._embedders.take(embedder, lambda: LateEmbedder(lambda: self._open_embedder(settings))),
            self._rerankers.take(reranker, lambda: LateReranker(lambda: self._open_reranker(settings))),
            close,
        )


@dataclass(frozen=True, slots=True)
class Lease:
    """Models of one workspace. ``close`` gives them back, once; what nobody else uses is closed."""

    embedder: LateEmbedder
    reranker: LateReranker
    close: Callable[[], None]


class _Shared(Generic[T]):
    """Things by their key, each as long as somebody has it."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._things: dict[tuple[object, ...], T] = {}
        self._users: dict[tuple[object, ...], int] = {}

    def take(self, key: tuple[object, ...], make: Callable[[], T]) -> T:
        with self._guard:
            self._users[key] = self._users.get(key, 0) + 1
            return self._things.setdefault(key, make())

    def give_back(self, key: tuple[object, ...]) -> None:
        with self._guard:
            self._users[key] -= 1
            unused = self._things.pop(key) if not self._users[key] else None
        if unused is not None:
            unused.close()


def _key(settings: Settings, names: tuple[str, ...]) -> tuple[object, ...]:
    return tuple(getattr(settings, name) for name in names)
