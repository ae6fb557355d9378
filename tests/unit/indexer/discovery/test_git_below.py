"""Limited to one path, git is asked for that path alone, and the answer is the one of its whole listing."""

from __future__ import annotations

import importlib
import os
import random
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from everfind_core.files.paths import encode_path
from everfind_indexer.discovery import discover
from everfind_indexer.discovery import git as git_module

# The package has a function of the module's name.
discover_module = importlib.import_module("everfind_indexer.discovery.discover")

NAMES = ("a", "b", "c.txt", "x.log", "CLAUDE.md", "sp ace", ":(glob)a", "*", "é")
RULES = ("*.log", "a/", "/b", "b/*", "!CLAUDE.md", "CLAUDE.md", "*", "!a", "c.txt", "sp*", "**/a/b")
PATHS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map("/".join)


@dataclass(frozen=True)
class Tree:
    """Files below the root, rules of ignore files by directory, what is tracked, and directories with a repository."""

    files: frozenset[str]
    rules: dict[str, list[str]]
    tracked: frozenset[str]
    repositories: frozenset[str]


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    drawn = draw(st.lists(PATHS, min_size=3, max_size=14))
    directories = sorted({path[:end] for path in drawn for end, c in enumerate(path) if c == "/"})
    files = sorted(set(drawn) - set(directories))
    places = st.sampled_from(["", *directories])
    return Tree(
        frozenset(files),
        draw(st.dictionaries(places, st.lists(st.sampled_from(RULES), min_size=1, max_size=3), max_size=3)),
        frozenset(draw(st.lists(st.sampled_from(files), max_size=4))),
        frozenset(draw(st.lists(places, max_size=2))),
    )


def git(directory: Path, *args: str) -> None:
    subprocess.run(["git", *args], cwd=directory, capture_output=True, check=False)


@contextmanager
def on_disk(tree: Tree) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "root"
        root.mkdir()
        ignores = {f"{directory}/.gitignore".lstrip("/"): "\n".join(rules) for directory, rules in tree.rules.items()}
        for name, text in (dict.fromkeys(tree.files, "1") | ignores).items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        git(root, "init", "-q")
        for inner in sorted(tree.repositories - {""}):
            git(root / inner, "init", "-q")
            git(root / inner, "add", "--", ".")
            git(root / inner, "commit", "-qm", "1")
        if tree.tracked:
            git(root, "--literal-pathspecs", "add", "-f", "--", *sorted(tree.tracked))
        yield root


def belows(root: Path) -> list[str]:
    """Every entry, what would lie below it, and something absent."""
    entries = [path.relative_to(root) for path in root.rglob("*") if ".git" not in path.parts]
    return [encode_path(os.fsencode(name)) for entry in entries for name in (entry, entry / "absent")] + ["absent"]


def check_below(root: Path, start: str = "", **options: Any) -> None:
    for below in belows(root / start):
        limited = discover(root / start, below=below, **options)
        with mock.patch.object(git_module, "_reach", return_value=b""):
            whole = discover(root / start, below=below, **options)
        assert limited == whole, below


def check_several(root: Path, chosen: list[str]) -> None:
    limited = discover(root, below=chosen)
    with mock.patch.object(git_module, "_reach", return_value=b""):
        whole = discover(root, below=chosen)
    assert limited == whole, chosen
    one_by_one = [discover(root, below=path) for path in chosen]
    assert set(limited.files) == {file for found in one_by_one for file in found.files}
    assert {s.ref.path for s in limited.skipped} == {s.ref.path for found in one_by_one for s in found.skipped}


QUIET = settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], derandomize=True
)


@given(trees())
@settings(QUIET, max_examples=6)
def test_below_is_the_whole_listing_restricted(tree: Tree) -> None:
    with on_disk(tree) as root:
        check_below(root)


@given(trees(), st.randoms(use_true_random=False))
@settings(QUIET, max_examples=10)
def test_several_paths_at_once_are_each_path_alone(tree: Tree, chance: random.Random) -> None:
    with on_disk(tree) as root:
        paths = belows(root)
        for count in (2, 3, 5):
            check_several(root, chance.sample(paths, min(count, len(paths))))


@pytest.mark.slow
@given(trees())
@settings(QUIET, max_examples=30)
def test_below_is_the_whole_listing_restricted_on_many_trees(tree: Tree) -> None:
    with on_disk(tree) as root:
        check_below(root)
        for directory in sorted(path.name for path in root.iterdir() if path.is_dir() and path.name != ".git"):
            check_below(root, directory)


def test_below_in_other_repositories_links_and_ignored_directories(
    root: Path, write: Callable[[Mapping[str, str]], None], tmp_path: Path
) -> None:
    other = tmp_path / "other"
    (other / "deep").mkdir(parents=True)
    for name in ("lib.py", "deep/lib.py"):
        (other / name).write_text("1")
    for args in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        git(other, *args)
    write({
        ".gitignore": "build/\n*.o\n/logs/*\n", "build/x/y.py": "1", "logs/a/b.txt": "1", "src/m.py": "1",
        "src/m.o": "1",
        "nested/in/n.py": "1", "nested/in/n.o": "1", "nested/.gitignore": "n.o\n", "src/[1]/a*/f.py": "1",
        ".github/copilot-instructions.md": "1", "build/CLAUDE.md": "1", "kept/build/k.py": "1",
    })  # fmt: skip
    git(root, "init", "-q")
    git(root, "submodule", "add", "-q", str(other), "libs/other")
    git(root / "nested", "init", "-q")
    git(root, "add", "-f", "kept/build/k.py", "src")
    (root / "libs/other/deep/new.py").write_text("1")
    (root / "link").symlink_to("src")
    check_below(root)
    check_below(root, "src")
    check_below(root, "build")
    found = discover(root, below="libs/other/deep")
    assert [file.path for file in found.files] == ["libs/other/deep/lib.py", "libs/other/deep/new.py"]
    assert [entry.ref.path for entry in discover(root, below="build/x/y.py").skipped] == ["build/"]


def test_git_is_asked_for_that_path_alone(
    root: Path, write: Callable[[Mapping[str, str]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"a/b/one.py": "1", "a/b/two.py": "1", "c/three.py": "1"})
    git(root, "init", "-q")
    listings: list[git_module.GitListing] = []

    def remember(*args: Any, **options: Any) -> git_module.GitListing:
        listings.append(git_module.list_files(*args, **options))
        return listings[-1]

    monkeypatch.setattr(discover_module, "list_files", remember)
    assert [file.path for file in discover(root, below="a/b/one.py").files] == ["a/b/one.py"]
    assert [listing.listed for listing in listings] == [{b"a/b/one.py"}]
