"""Models that several workspaces use: loaded once, closed with the last of them, loaded anew for the next."""

from __future__ import annotations

import pytest

from everfind_gateway.config.settings import Settings, load_settings
from everfind_gateway.wiring import local
from everfind_gateway.wiring.models import Models
from tests.support.fakes import FakeEmbedder


class Model(FakeEmbedder):
    """An embedder or a reranker, as far as who owns them knows."""

    def __init__(self, settings: Settings, opened: list[str], closed: list[str]) -> None:
        super().__init__()
        self.name = settings.model
        self.closed = closed
        opened.append(self.name)

    def close(self) -> None:
        self.closed.append(self.name)


def test_a_model_is_there_as_long_as_somebody_uses_it() -> None:
    opened: list[str] = []
    closed: list[str] = []
    models = Models(lambda settings: Model(settings, opened, closed), lambda _settings: None)
    one, other = (load_settings(flags={"model": name}) for name in ("one", "other"))
    first, second = models.lease(one), models.lease(one.model_copy(update={"display_name": "x"}))
    third = models.lease(other)
    assert first.embedder is second.embedder
    assert first.embedder is not third.embedder
    for lease in (first, second, third):
        lease.embedder.model()
    assert opened == ["one", "other"]
    first.close()
    assert closed == []
    assert second.embedder.model().id == "fake"
    third.close()
    second.close()
    assert closed == ["other", "one"]
    again = models.lease(one)
    again.embedder.model()
    assert opened == ["one", "other", "one"]
    again.close()


def test_a_model_that_nobody_used_is_not_loaded_to_be_closed() -> None:
    opened: list[str] = []
    models = Models(lambda settings: Model(settings, opened, []), lambda _settings: None)
    models.lease(load_settings()).close()
    assert opened == []


def test_a_workspace_gives_its_models_back_once(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    closed: list[str] = []
    monkeypatch.setattr(local, "_open_embedder", lambda settings: Model(settings, opened, closed))
    shared = local.open_shared()
    first, second = (local.open_local(load_settings(), shared) for _ in range(2))
    first.embedder.model()
    first.close()
    first.close()
    assert closed == []
    second.close()
    assert (opened, closed) == (["default"], ["default"])
