"""Files that everfind wrote and somebody changed: JSON of another shape is told of in words, or counts as absent."""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from everfind_core.errors import EverfindError
from everfind_core.index.directory import current_index
from everfind_core.index.manifest import Manifest, Recipe
from everfind_core.index.names import FOLDERS, POINTER
from everfind_core.index.published import Published, decoded
from everfind_core.index.watch_state import WATCH_STATE, following, read_watch_state
from everfind_core.index.written_files import WRITTEN, read_written
from everfind_core.model import Calibration, ModelInfo
from everfind_core.tuning import Tuning, read_tuning
from everfind_indexer.folder_file import FolderFile
from everfind_rpc.auth import Scope, Token, TokenFile

OTHERS: tuple[Any, ...] = (None, True, -1, 1e999, 10**400, "x", "%FF", [], ["x"], [[]], {}, {"x": None})
MANIFEST = Manifest(Recipe("m@1", "c", "l", "e", "s"), ModelInfo("m", "1", 4, 256, "mean"), 1.0, "0.1.0")
FOLDER = {"name": "docs", "root": "/docs", "include": ["*.md"]}
COVERED = {"files": 1, "chunks": 2, "skipped": {"binary": 1}, "pending": 0, "unembedded": 0}


@dataclass(frozen=True, slots=True)
class Kept:
    """A file: its name below an index directory, what may stand in it, and who reads it."""

    name: str
    content: dict[str, Any]
    read: Callable[[Path], object]


def _watched(directory: Path) -> object:
    with following(directory):
        return read_watch_state(directory)


def _published(directory: Path) -> object:
    return decoded((directory / "published.json").read_bytes(), "s3://b/p")


INDEX = "indexes/000001"
KEPT = (
    Kept(POINTER, {"format": 1, "index": "000001"}, current_index),
    Kept(f"{INDEX}/manifest.json", asdict(MANIFEST), current_index),
    Kept(
        f"{INDEX}/coverage.json",
        {"folders": [{"folder": FOLDER, "coverage": COVERED, "redactions": 0}], "indexed_at": 1.0},
        lambda directory: current_index(directory).read_coverage().total().files,
    ),
    Kept(
        f"{INDEX}/calibration.json",
        asdict(Calibration(0.3, 100, 0.4, 0.4, "calibration")),
        lambda directory: current_index(directory).read_calibration(),
    ),
    Kept(
        f"{INDEX}/{WRITTEN}",
        {"boot": "b", "files": {"data/x.lance": [1, "ab", 2.0]}},
        lambda directory: read_written(directory / INDEX),
    ),
    Kept(WATCH_STATE, {"pending": {"docs": 1}, "behind": ["docs"]}, _watched),
    Kept("tuning.json", asdict(Tuning("m", "p", 2, 1, 512, 1.0, 1.0, 1.0)), lambda d: read_tuning(d / "tuning.json")),
    Kept("published.json", asdict(Published("ab", "000001", 7, {"manifest.json": {}}, 1.0, {"x": 1.0})), _published),
    Kept(FOLDERS, {"format": 1, "folders": [FOLDER]}, lambda d: FolderFile(d).folders()),
    Kept(
        "tokens.json",
        {"format": 1, "tokens": [asdict(Token("1", "ci", "ab" * 32, (Scope.SEARCH,), ("docs",)))]},
        lambda directory: [token.principal for token in TokenFile(directory / "tokens.json").tokens()],
    ),
)


def _variants(content: Any) -> Iterator[Any]:
    """``content`` with one part of it, the whole included, left out or replaced by a value of each other kind."""
    yield from OTHERS
    for key in list(content) if isinstance(content, dict) else range(len(content)) if isinstance(content, list) else ():
        without = copy.deepcopy(content)
        del without[key]
        yield without
        for other in _variants(content[key]):
            changed = copy.deepcopy(content)
            changed[key] = other
            yield changed


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("kept")
    (place / INDEX).mkdir(parents=True)
    for kept in KEPT:
        (place / kept.name).write_text(json.dumps(kept.content))
    return place


@pytest.mark.parametrize("kept", KEPT, ids=lambda kept: kept.name)
def test_what_was_written_is_read_and_anything_else_is_told_in_words(directory: Path, kept: Kept) -> None:
    file = directory / kept.name
    sound = file.read_text()
    assert kept.read(directory)
    tried = 0
    try:
        for content in _variants(kept.content):
            file.unlink()  # so that a reader that goes by the file's stamp sees another one
            file.write_text(json.dumps(content))
            tried += 1
            with contextlib.suppress(EverfindError):
                kept.read(directory)
    finally:
        file.write_text(sound)
    assert tried > 2 * len(OTHERS)
