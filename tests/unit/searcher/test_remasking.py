"""An index that knew fewer secrets never answers, and a rebuild leaves nothing of what it held."""

from __future__ import annotations

from pathlib import Path

import pytest

from everfind_core.chunking import TextChunker
from everfind_core.errors import IndexIncompatibleError
from everfind_core.model import Folder, IndexRequest, SearchRequest
from everfind_core.text import secrets
from everfind_indexer.engine import IndexEngine
from everfind_indexer.running import recipes as indexing
from everfind_indexer.settings import IndexerSettings
from everfind_indexer.store import open_writer
from everfind_searcher import engine as searching
from everfind_searcher.engine import SearchEngine
from everfind_searcher.settings import SearcherSettings
from everfind_searcher.store import open_reader
from tests.support.fakes import FakeEmbedder

SECRET = "dp.pt." + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7aB3dE6gH9jK2mN5p"


def holds_secret(directory: Path) -> bool:
    return any(SECRET.encode() in p.read_bytes() for p in directory.rglob("*") if p.is_file())


def test_what_a_new_version_masks_is_gone_after_the_rebuild_that_it_asks_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "deploy.md").write_text(f"# Deploy\n\nThe token is {SECRET} here.\n")
    index = tmp_path / "index"
    embedder = FakeEmbedder()
    indexer = IndexEngine(
        IndexerSettings(index, (Folder("notes", str(tmp_path / "notes")),)), embedder, TextChunker(), open_writer
    )
    searcher = SearchEngine(SearcherSettings(index), embedder, indexer, open_reader)
    with monkeypatch.context() as old:
        old.setattr(secrets, "RULES", ())
        old.setattr(indexing, "SECRETS_REVISION", "1")
        old.setattr(searching, "SECRETS_REVISION", "1")
        indexer.index(IndexRequest(), lambda _event: None)
        assert SECRET in searcher.search(SearchRequest("deploy")).hits[0].text
        assert holds_secret(index)
    for refused in (
        lambda: searcher.search(SearchRequest("deploy")),
        lambda: indexer.index(IndexRequest(), lambda _event: None),
    ):
        with pytest.raises(IndexIncompatibleError) as caught:
            refused()
        assert caught.value.details["field"] == "secrets"
        assert "--rebuild" in caught.value.hint
    indexer.index(IndexRequest(rebuild=True), lambda _event: None)
    assert "[redacted:doppler-token]" in searcher.search(SearchRequest("deploy")).hits[0].text
    assert not holds_secret(index)
    searcher.close()
