"""The models of a process: each is loaded once, however many workspaces use it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from everfind_gateway.late import Late, LateEmbedder

if TYPE_CHECKING:
    from everfind_core.ports import Embedder, Reranker
    from everfind_gateway.settings import Settings

_EMBEDDER = (
    "model", "hub_endpoint", "model_cache_dir", "threads", "model_endpoint", "model_key_file", "model_window",
)  # fmt: skip
_RERANKER = (
    "reranker", "hub_endpoint", "model_cache_dir", "threads", "reranker_endpoint", "reranker_key_file",
    "reranker_seconds", "reranker_interval",
)  # fmt: skip


class Models:
    """Models by the settings that name them. They come up when first used. Thread-safe."""

    def __init__(
        self, open_embedder: Callable[[Settings], Embedder], open_reranker: Callable[[Settings], Reranker | None]
    ) -> None:
        self._open_embedder = open_embedder
        self._open_reranker = open_reranker
        self._guard = threading.Lock()
        self._embedders: dict[tuple[object, ...], LateEmbedder] = {}
        self._rerankers: dict[tuple[object, ...], Late[Reranker | None]] = {}

    def embedder(self, settings: Settings) -> LateEmbedder:
        """The embedder that ``settings`` name."""
        with self._guard:
            made = LateEmbedder(lambda: self._open_embedder(settings))
            return self._embedders.setdefault(_key(settings, _EMBEDDER), made)

    def reranker(self, settings: Settings) -> Late[Reranker | None]:
        """The reranker that ``settings`` name, if they do."""
        with self._guard:
            made = Late(lambda: self._open_reranker(settings))
            return self._rerankers.setdefault(_key(settings, _RERANKER), made)

    def close(self) -> None:
        """Close them all."""
        with self._guard:
            for late in self._rerankers.values():
                if reranker := late.take():
                    reranker.close()
            for embedder in self._embedders.values():
                embedder.close()


def _key(settings: Settings, names: tuple[str, ...]) -> tuple[object, ...]:
    return tuple(getattr(settings, name) for name in names)
