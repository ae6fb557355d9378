"""Fixtures of an empty store, for the tests of its writers, of its readers, and of both."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from everfind_core.index.store_backends import StoreBackend
from everfind_core.ports import ChunkWriter
from everfind_indexer.store import open_writer
from tests.support.store_samples import DIMENSIONS


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def kind() -> StoreBackend:
    """The store that a module's tests are of; one whose tests hold for each overrides it."""
    return StoreBackend.LANCEDB


@pytest.fixture
def writer(directory: Path, kind: StoreBackend) -> Iterator[ChunkWriter]:
    opened = open_writer(directory, DIMENSIONS, kind)
    yield opened
    opened.close()
