from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from everfind_core.cancellation import Cancellation
from everfind_core.model import Folder
from everfind_indexer.settings import IndexerSettings
from everfind_indexer.watching.followed import GIT_INDEX, Followed


def git(directory: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=directory, check=True, capture_output=True)


@pytest.fixture
def followed(tmp_path: Path) -> Followed:
    """A work tree after its first run, which left out ``build`` as a whole."""
    root = tmp_path / "root"
    (root / "build").mkdir(parents=True)
    (root / "build/x.txt").write_text("x\n")
    (root / "a.py").write_text("a\n")
    git(root, "init", "-q")
    git(root, "add", "a.py")
    folder = Folder("f", str(root))
    followed = Followed(folder, IndexerSettings(tmp_path / "index", (folder,)))
    assert followed.begin(None, Cancellation()) is None
    followed.end(frozenset({"build/"}), everything=True, seconds=0.1)
    return followed


def test_an_index_that_git_only_wrote_anew_makes_no_noise_relevant(followed: Followed) -> None:
    assert followed.relevant([GIT_INDEX]) == {GIT_INDEX}
    assert followed.relevant(["build/x.txt", "a.py"]) == {"a.py"}
    assert followed.begin((GIT_INDEX, "a.py"), Cancellation()) == ("a.py",)
    assert followed.relevant(["build/x.txt"]) == set()


def test_once_other_files_are_tracked_nothing_is_noise_until_the_run_has_ended(followed: Followed) -> None:
    git(Path(followed.folder.root), "add", "-f", "build/x.txt")
    followed.relevant([GIT_INDEX])
    assert followed.begin((GIT_INDEX,), Cancellation()) is None
    assert followed.relevant(["build/x.txt"]) == {"build/x.txt"}
    followed.end(frozenset(), everything=True, seconds=0.1)
    assert followed.relevant(["build/x.txt"]) == {"build/x.txt"}


def test_a_rule_makes_everything_relevant_until_a_later_run_has_ended(followed: Followed) -> None:
    assert followed.begin(("a.py",), Cancellation()) == ("a.py",)
    assert followed.relevant([".gitignore"]) == {""}
    followed.end(frozenset({"build/"}), everything=False, seconds=0.1)
    assert followed.relevant(["build/x.txt"]) == {"build/x.txt"}
