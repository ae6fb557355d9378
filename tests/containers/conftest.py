"""A team in containers over a git work tree of small modules, and what an undisturbed index of it holds and answers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from everfind_core.model import Folder, IndexRequest, SearchAnswer, SearchRequest
from everfind_embedder import EmbedderSettings, open_embedder
from everfind_indexer.engine import IndexEngine
from everfind_indexer.settings import IndexerSettings
from everfind_indexer.store import open_writer
from everfind_indexer.syntax import SyntaxChunker
from everfind_searcher.engine import SearchEngine
from everfind_searcher.settings import SearcherSettings
from everfind_searcher.store import open_reader
from tests.support.index_content import content_of
from tests.support.team import Team, team

STDLIB = Path(sysconfig.get_path("stdlib"))
FILES = 32
SOMEBODY = 4321
"""Neither we nor the services' user: who owns the work tree."""
QUERIES = ("copy a file", "parse the command line", "getopt", "a queue for threads", "decode base64")


@dataclass(frozen=True)
class Truth:
    """An index that nothing disturbed: its rows, and its answers as (path, first line, score)."""

    content: list[tuple[Any, ...]]
    answers: dict[str, list[tuple[str, int, float]]]


def places(answer: SearchAnswer) -> list[tuple[str, int, float]]:
    """What two answers must agree on."""
    return [(hit.path, hit.start_line, round(hit.score, 4)) for hit in answer.hits]


def write_work_tree(root: Path) -> None:
    """Small modules of the standard library under git; of two texts that it ignores one is tracked all the same."""
    root.mkdir()
    small = sorted((p for p in STDLIB.glob("*.py") if 3_000 < p.stat().st_size < 12_000), key=lambda p: p.name)
    for source in small[: FILES - 2]:
        shutil.copyfile(source, root / source.name)
    (root / ".gitignore").write_text("ignored*.txt\n")
    (root / "ignored.txt").write_text("a pangolin that git leaves out\n")
    (root / "ignored-but-tracked.txt").write_text("a wombat that git lists\n")
    git = ("git", "-C", str(root), "-c", "user.name=t", "-c", "user.email=t@localhost")
    for command in (("init", "-q"), ("add", "."), ("add", "-f", "ignored-but-tracked.txt"), ("commit", "-qm", "x")):
        subprocess.run([*git, *command], check=True)
    (root / ".gitignore").chmod(0o644)
    if os.getuid() == 0:
        for path in (root, *root.rglob("*")):
            os.chown(path, SOMEBODY, SOMEBODY)


@pytest.fixture(scope="session")
def work_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("corpus") / "modules"
    write_work_tree(root)
    return root


@pytest.fixture(scope="session")
def truth(work_tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Truth:
    directory = tmp_path_factory.mktemp("truth") / "index"
    settings = IndexerSettings(directory, (Folder("modules", str(work_tree)),))
    with closing(open_embedder(EmbedderSettings())) as embedder:
        indexer = IndexEngine(settings, embedder, SyntaxChunker(), open_writer)
        report = indexer.index(IndexRequest(), lambda _event: None)
        assert (report.indexed, report.warnings) == (FILES, ())
        with closing(SearchEngine(SearcherSettings(directory), embedder, indexer, open_reader)) as searcher:
            answers = {query: places(searcher.search(SearchRequest(query))) for query in QUERIES}
    return Truth(content_of(directory), answers)


@pytest.fixture(scope="session")
def base(work_tree: Path) -> Path:
    """Where the team lies whose index tests look into."""
    return work_tree.parent


@pytest.fixture(scope="session")
def running(base: Path) -> Iterator[Team]:
    settings = {"EVERFIND_FOLDERS": str(base / "modules"), "EVERFIND_MAX_CONNECTION_SECONDS": "3"}
    with team(base, settings=settings) as running:
        yield running


@pytest.fixture(scope="module")
def own_base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place for a team of one module's own."""
    base = tmp_path_factory.mktemp("own")
    write_work_tree(base / "modules")
    return base
