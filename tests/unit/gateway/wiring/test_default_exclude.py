"""What ``default_exclude`` names is left out by the searcher, whoever asks, until all is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from everfind_core.model import IndexRequest
from everfind_gateway.config.settings import load_settings
from everfind_gateway.requests import SearchOptions, search_request
from everfind_gateway.wiring import local
from everfind_gateway.wiring.workspace import open_workspace
from tests.support.fakes import FakeEmbedder


def test_the_searcher_leaves_it_out(home: Path, user_config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "_open_embedder", lambda _settings: FakeEmbedder())
    for name in ("notes/new.md", "notes/archive/old.md", "notes/drafts/odd.md"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("Wombats dig.\n")
    user_config.write_text(f'default_exclude = ["archive"]\n[[folders]]\npath = "{home}/notes"\n')
    settings = load_settings()

    def found(**options: object) -> list[str]:
        request = search_request(settings, "wombats", SearchOptions(**options))  # type: ignore[arg-type]  # real fields
        return sorted(hit.path for hit in workspace.searcher.search(request).hits)

    with open_workspace(settings) as workspace:
        workspace.indexer.index(IndexRequest(), lambda _event: None)
        assert found() == ["drafts/odd.md", "new.md"]
        assert found(exclude=("drafts",)) == ["new.md"]
        assert found(exclude=("drafts",), everything=True) == ["archive/old.md", "new.md"]
