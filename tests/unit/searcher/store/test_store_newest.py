"""A searcher that goes on sees each new version, and lists all versions only when one came or went."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import lance
import pytest

from everfind_core.index.store_schema import TABLE_DIRECTORY, VERSIONS, manifest_file
from everfind_core.ports import ChunkWriter
from everfind_searcher.store import open_reader
from tests.support.store_samples import EVERYTHING, file


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How often the library was asked for the newest version since this was asked."""
    latest = lance.LanceDataset.latest_version
    assert isinstance(latest, property)
    asked: list[object] = []

    def counting(dataset: lance.LanceDataset) -> int:
        asked.append(dataset)
        assert latest.fget is not None
        return int(latest.fget(dataset))

    def since() -> int:
        found = len(asked)
        asked.clear()
        return found

    monkeypatch.setattr(lance.LanceDataset, "latest_version", property(counting))
    return since


def test_versions_are_listed_once_a_change(directory: Path, writer: ChunkWriter, listed: Callable[[], int]) -> None:
    writer.replace([file("f", "a", "one")])
    reader = open_reader(directory)
    for text in ("two", "three"):
        for _ in range(3):
            reader.generation()
        assert listed() == 1
        writer.replace([file("f", "a", text)])
        assert [found.chunk.text for found in reader.lexical([text], 5, EVERYTHING)] == [text]
        listed()


def test_a_commit_within_the_same_tick_of_the_clock_is_seen(directory: Path, writer: ChunkWriter) -> None:
    writer.replace([file("f", "a", "one")])
    reader = open_reader(directory)
    versions = directory / TABLE_DIRECTORY / VERSIONS
    before = versions.stat().st_mtime_ns
    assert reader.generation() == reader.generation() == writer.generation()
    writer.replace([file("f", "a", "two")])
    os.utime(versions, ns=(before, before))
    assert reader.generation() == writer.generation()


def test_a_version_is_seen_whatever_went_before_it(directory: Path, writer: ChunkWriter) -> None:
    """A clean-up that was killed may leave the version that a searcher reads, and the newest, and none between."""
    writer.replace([file("f", "a", "one")])
    reader = open_reader(directory)
    first = reader.generation()
    for text in ("two", "three", "four"):
        writer.replace([file("f", "a", text)])
    for number in range(first + 1, writer.generation()):
        (directory / TABLE_DIRECTORY / manifest_file(number)).unlink()
    assert [found.chunk.text for found in reader.lexical(["four"], 5, EVERYTHING)] == ["four"]
