"""Discovery against git itself on generated trees: the same answer in every mode."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from everfind_core.files.paths import encode_path
from everfind_indexer.discovery import discover

NAMES = ["a", "b", "Foo", "foo", "foo.txt", "x.log", "keep", ".h", "a[1]", "é", "e\u0301", "sp ace", "b!", "#c", "*s"]
ATOMS = [
    *NAMES, "*", "**", "*.log", "*.txt", "f*", "?", "[ab]", "[!a]", "[^a]", "a\\[1\\]", "\\#c", "b\\!", "*o*", "[a-f]*",
    "[[:alpha:]]", "foo.*",
]  # fmt: skip


@dataclass(frozen=True)
class Tree:
    """Files, ignore files by directory, and which files are tracked whatever the rules say."""

    files: frozenset[str]
    ignores: dict[str, str]
    tracked: frozenset[str]


@st.composite
def patterns(draw: st.DrawFn) -> str:
    body = "/".join(draw(st.lists(st.sampled_from(ATOMS), min_size=1, max_size=3)))
    return draw(st.sampled_from(["", "!"])) + draw(st.sampled_from(["", "/"])) + body + draw(st.sampled_from(["", "/"]))


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    found = draw(st.lists(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map(tuple), min_size=1, max_size=20))
    taken = {parts[:depth] for parts in found for depth in range(1, len(parts))}
    files = sorted({"/".join(parts) for parts in found if parts not in taken})
    directories = ["", *sorted("/".join(parts) + "/" for parts in taken)]
    ignores = draw(
        st.dictionaries(
            st.sampled_from(directories), st.lists(patterns(), min_size=1, max_size=5).map("\n".join), max_size=4
        )
    )
    tracked = draw(st.lists(st.sampled_from(files), max_size=3))
    return Tree(frozenset(files), ignores, frozenset(tracked))


@contextmanager
def on_disk(tree: Tree, ignore_name: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory) / "root"
        root.mkdir()
        contents = dict.fromkeys(tree.files, "1") | {d + ignore_name: text for d, text in tree.ignores.items()}
        for name, content in contents.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(content)
        yield root


def git(root: Path, *args: str, given: bytes = b"") -> bytes:
    return subprocess.run(["git", *args], cwd=root, input=given, capture_output=True, check=False).stdout


def not_ignored(root: Path, files: frozenset[str], *, index: bool) -> set[str]:
    """By git's verdict on each single file, which is not how discovery asks."""
    options = ["check-ignore", "-z", "--stdin", *([] if index else ["--no-index"])]
    ignored = git(root, *options, given=b"\0".join(os.fsencode(f) for f in files)).split(b"\0")
    return {encode_path(os.fsencode(f)) for f in files} - {encode_path(f) for f in ignored}


def found(root: Path, ignore_name: str) -> set[str]:
    return {f.path for f in discover(root).files if not f.path.endswith(ignore_name)}


def check(tree: Tree) -> None:
    with on_disk(tree, ".gitignore") as root:
        git(root, "init", "-q")
        truth = not_ignored(root, tree.files, index=False)
        assert found(root, ".gitignore") == truth
        with mock.patch.object(shutil, "which", return_value=None):
            assert found(root, ".gitignore") == truth
        if tree.tracked:
            git(root, "add", "-f", "--", *(f":(literal){name}" for name in tree.tracked))
            assert found(root, ".gitignore") == truth | {encode_path(os.fsencode(name)) for name in tree.tracked}
            assert found(root, ".gitignore") == not_ignored(root, tree.files, index=True)
    with on_disk(tree, ".indexignore") as root:
        assert found(root, ".indexignore") == truth
        git(root, "init", "-q")
        assert found(root, ".indexignore") == truth


QUIET = settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], derandomize=True
)


@given(trees())
@settings(QUIET, max_examples=15)
def test_every_mode_agrees_with_git(tree: Tree) -> None:
    check(tree)


@pytest.mark.slow
@given(trees())
@settings(QUIET, max_examples=200)
def test_every_mode_agrees_with_git_on_many_trees(tree: Tree) -> None:
    check(tree)
