"""Object stores in the settings of the services' processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from everfind_core.errors import ConfigError
from everfind_core.index.object_place import ObjectPlace
from everfind_indexer.__main__ import IndexerServerSettings
from everfind_indexer.settings import indexer_settings
from everfind_rpc.serving.service_main import load_settings
from everfind_searcher.__main__ import SearcherServerSettings


@pytest.fixture(autouse=True)
def services(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERFIND_EMBEDDER", "embedder:50051")
    monkeypatch.setenv("EVERFIND_INDEXER", "indexer:50051")
    monkeypatch.setenv("EVERFIND_INDEX_DIR", "/var/lib/everfind/index")


def test_a_searcher_reads_a_directory_or_what_is_published(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings(SearcherServerSettings).index_dir == Path("/var/lib/everfind/index")
    monkeypatch.setenv("EVERFIND_INDEX_DIR", "s3://bucket/team")
    assert load_settings(SearcherServerSettings).index_dir == ObjectPlace("bucket", "team")
    monkeypatch.setenv("EVERFIND_INDEX_DIR", "s3://b")
    with pytest.raises(ConfigError, match=r"EVERFIND_INDEX_DIR: 's3://b' is no s3://BUCKET/PREFIX"):
        load_settings(SearcherServerSettings)


def test_an_indexer_writes_a_directory_and_publishes_where_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def publish() -> ObjectPlace | None:
        told = load_settings(IndexerServerSettings)
        settings = indexer_settings(
            told, user_ignore=None, vectors=told.index_dir, store=told.store_backend, vector_type=told.vector_type
        )
        assert bool(settings.publish) == any("the text of indexed files, to s3://" in one for one in settings.outgoing)
        return settings.publish

    assert publish() is None
    monkeypatch.setenv("EVERFIND_PUBLISH_TO", "s3://bucket/team/")
    assert publish() == ObjectPlace("bucket", "team")
    monkeypatch.setenv("EVERFIND_PUBLISH_TO", "bucket")
    with pytest.raises(ConfigError, match=r"EVERFIND_PUBLISH_TO: .*'bucket' is no s3://BUCKET/PREFIX"):
        load_settings(IndexerServerSettings)
    monkeypatch.delenv("EVERFIND_PUBLISH_TO")
    monkeypatch.setenv("EVERFIND_INDEX_DIR", "s3://bucket/team")
    with pytest.raises(ConfigError, match=r"EVERFIND_INDEX_DIR: .*an index is written on a disk"):
        load_settings(IndexerServerSettings)


def test_a_variable_that_is_missing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EVERFIND_INDEXER")
    with pytest.raises(ConfigError, match=r"^EVERFIND_INDEXER: it must be set$"):
        load_settings(SearcherServerSettings)
