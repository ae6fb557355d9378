"""Work trees: what git lists is what is found, once, and nothing in a repository can run anything."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from everfind_core.cancellation import Cancellation
from everfind_core.errors import CancelledError
from everfind_core.model import SkipReason
from everfind_indexer.discovery import Discovery, discover, is_indexable
from everfind_indexer.discovery import git as git_module
from everfind_indexer.files.sizes import SizeLimits

Git = Callable[..., bytes]
Write = Callable[[Mapping[str, str | bytes]], None]


def paths(found: Discovery) -> list[str]:
    return [file.path for file in found.files]


def skipped(found: Discovery) -> dict[str, SkipReason]:
    return {entry.ref.path: entry.reason for entry in found.skipped}


def test_tracked_and_untracked_files_are_found_and_ignored_ones_counted(root: Path, git: Git, write: Write) -> None:
    write({
        ".gitignore": "*.log\nbuild/\n", "a.py": "1", "b.log": "1", "tracked.log": "1", "build/x": "1", "build/y": "1",
        "src/.gitignore": "!keep.log\n/gone\n", "src/keep.log": "1", "src/gone/f": "1", "src/c.py": "1",
    })  # fmt: skip
    git("init", "-q")
    git("add", "-f", "tracked.log", "a.py")
    found = discover(root, folder="name")
    assert paths(found) == [
        ".gitignore", "a.py", "src/.gitignore", "src/c.py", "src/keep.log", "tracked.log",
    ]  # fmt: skip
    assert skipped(found) == {
        "b.log": SkipReason.IGNORED, "build/": SkipReason.IGNORED, "src/gone/": SkipReason.IGNORED,
    }  # fmt: skip
    assert [entry.reason for entry in found.skipped] == [SkipReason.IGNORED] * 3
    assert {entry.ref.folder for entry in found.skipped} == {"name"}
    assert found.warnings == ()


def test_files_that_are_tracked_but_not_there_are_left_out(root: Path, git: Git, write: Write) -> None:
    write({"gone.py": "1", "here.py": "1", "swapped/f.py": "1"})
    git("init", "-q")
    git("add", ".")
    (root / "gone.py").unlink()
    shutil.rmtree(root / "swapped")
    (root / "swapped").symlink_to("/usr")
    found = discover(root)
    assert paths(found) == ["here.py"]
    assert skipped(found) == {"swapped": SkipReason.LINK}


def test_an_unmerged_file_is_found_once(root: Path, git: Git, write: Write) -> None:
    write({"f": "base\n"})
    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-qm", "base")
    for branch in ("one", "two"):
        git("checkout", "-q", "-b", branch, "main")
        write({"f": branch})
        git("commit", "-qam", branch)
    with pytest.raises(subprocess.CalledProcessError):
        git("merge", "one")
    assert git("ls-files", "f", "-s").count(b"\n") == 3
    assert paths(discover(root)) == ["f"]


def test_sparse_checkout_leaves_out_what_is_not_checked_out(root: Path, git: Git, write: Write) -> None:
    write({"in/a": "1", "out/b": "1"})
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "all")
    git("sparse-checkout", "set", "--cone", "--sparse-index", "in")
    assert paths(discover(root)) == ["in/a"]


def test_a_subdirectory_obeys_the_rules_above_it(root: Path, git: Git, write: Write) -> None:
    write(
        {".gitignore": "*.log\n/sub/deep/no\n", "sub/a.log": "1", "sub/deep/no": "1", "sub/deep/yes": "1", "top": "1"}
    )
    git("init", "-q")
    found = discover(root / "sub")
    assert paths(found) == ["deep/yes"]
    assert skipped(found) == {"a.log": SkipReason.IGNORED, "deep/no": SkipReason.IGNORED}


def test_info_exclude_and_the_users_own_excludes_hold(
    root: Path, git: Git, write: Write, own_git_settings: Path
) -> None:
    excludes = own_git_settings.parent / "excludes"
    excludes.write_text("*.global\n")
    git("config", "--global", "core.excludesFile", str(excludes))
    git("init", "-q")
    write({".git/info/exclude": "*.local\n", "a.global": "1", "b.local": "1", "c": "1"})
    assert paths(discover(root)) == ["c"]


def test_submodules_are_listed_once_with_what_is_new_in_them(
    root: Path, git: Git, write: Write, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "lib.py").write_text("1")
    (other / ".gitignore").write_text("*.o\n")
    for args in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run(["git", *args], cwd=other, check=True)
    git("init", "-q")
    git("submodule", "add", "-q", str(other), "libs/other")
    write({"libs/other/new.py": "1", "libs/other/x.o": "1", "main.py": "1"})
    found = discover(root)
    assert paths(found) == [
        ".gitmodules", "libs/other/.gitignore", "libs/other/lib.py", "libs/other/new.py", "main.py",
    ]  # fmt: skip
    assert skipped(found) == {"libs/other/x.o": SkipReason.IGNORED}
    shutil.rmtree(root / "libs" / "other")
    (root / "libs" / "other").mkdir()
    assert paths(discover(root)) == [".gitmodules", "main.py"]


def test_a_folder_inside_a_repository_with_submodules(root: Path, git: Git, write: Write, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "lib.py").write_text("1")
    for args in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run(["git", *args], cwd=other, check=True)
    git("init", "-q")
    git("submodule", "add", "-q", str(other), "sub/module")
    write({"sub/here.py": "1"})
    assert paths(discover(root / "sub")) == ["here.py", "module/lib.py"]
    assert paths(discover(root / "sub" / "module")) == ["lib.py"]


def test_linked_worktrees_and_nested_repositories_are_listed_once(root: Path, git: Git, write: Write) -> None:
    write({"a.py": "1", ".gitignore": "/hidden\n", "vendor/nested/n.py": "1", "vendor/nested/.gitignore": "x\n"})
    write({"vendor/nested/x": "1"})
    git("init", "-q")
    git("add", "a.py", ".gitignore")
    git("commit", "-qm", "x")
    git("worktree", "add", "-q", "trees/one")
    git("worktree", "add", "-q", "hidden")
    git("init", "-q", at="vendor/nested")
    write({"trees/one/new.py": "1"})
    found = discover(root)
    assert paths(found) == [".gitignore", "a.py", "vendor/nested/.gitignore", "vendor/nested/n.py"]
    assert skipped(found) == dict.fromkeys(["hidden/", "trees/one/", "vendor/nested/x"], SkipReason.IGNORED)
    assert paths(discover(root, below="trees/one/new.py")) == []
    assert paths(discover(root / "trees" / "one")) == [".gitignore", "a.py", "new.py"]


def test_repositories_in_a_plain_folder_are_listed_by_git(root: Path, git: Git, write: Write) -> None:
    write({"one/a.py": "1", "one/.gitignore": "*.log\n", "one/a.log": "1", "b.log": "1", "node_modules/x.js": "1"})
    write({"one/node_modules/tracked.js": "1"})
    git("init", "-q", at="one")
    git("add", "-f", "node_modules", at="one")
    found = discover(root)
    assert paths(found) == ["b.log", "one/.gitignore", "one/a.py", "one/node_modules/tracked.js"]
    assert skipped(found) == {"node_modules/": SkipReason.IGNORED, "one/a.log": SkipReason.IGNORED}


def test_agent_guides_are_found_where_git_ignores_them_but_not_against_indexignore(
    root: Path, git: Git, write: Write
) -> None:
    write({
        ".gitignore": "AGENTS.md\nCLAUDE.md\n.cursorrules\n.github/\n/ignored/\n*.tmp\n", "AGENTS.md": "1",
        ".cursorrules": "1", "sub/only/CLAUDE.md": "1", "sub/only/x.tmp": "1", "sub/CLAUDE.md": "1",
        "ignored/AGENTS.md": "1", "no/AGENTS.md": "1", "no/.indexignore": "AGENTS.md\n",
    })  # fmt: skip
    git("init", "-q")
    found = discover(root)
    assert paths(found) == [
        ".cursorrules", ".gitignore", "AGENTS.md", "no/.indexignore", "sub/CLAUDE.md", "sub/only/CLAUDE.md",
    ]  # fmt: skip
    assert skipped(found) == {
        "ignored/": SkipReason.IGNORED, "no/AGENTS.md": SkipReason.IGNORED, "sub/only/x.tmp": SkipReason.IGNORED,
    }  # fmt: skip


def test_an_added_folder_that_its_repository_ignores_is_walked_with_a_word(root: Path, git: Git, write: Write) -> None:
    write({".gitignore": "*\n", "notes/a.md": "1", "notes/.gitignore": "*.tmp\n", "notes/b.tmp": "1", "notes/d/e": "1"})
    git("init", "-q")
    for folder, expected in (("notes", [".gitignore", "a.md", "d/e"]), ("notes/d", ["e"])):
        found = discover(root / folder)
        assert paths(found) == expected
        assert "is ignored by the git repository around it" in found.warnings[0]


def test_without_git_the_ignore_files_still_hold_and_a_warning_says_so(
    root: Path, git: Git, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    git("init", "-q")
    write({
        ".git/info/exclude": "*.local\n", ".gitignore": "*.log\nAGENTS.md\n/sub/no\n", "a.log": "1", "AGENTS.md": "1",
        "sub/no": "1", "sub/yes": "1", "sub/x.local": "1", "sub/.gitignore": "!b.log\n", "sub/b.log": "1",
    })  # fmt: skip
    monkeypatch.setattr(shutil, "which", lambda name: None)
    found = discover(root)
    assert paths(found) == [".gitignore", "AGENTS.md", "sub/.gitignore", "sub/b.log", "sub/yes"]
    assert found.warnings == (
        "git is not installed; its .gitignore files were read instead, so tracked files may be left out",
    )
    assert paths(discover(root / "sub")) == [".gitignore", "b.log", "yes"]


def test_a_damaged_repository_is_walked_with_its_ignore_files_and_a_warning(root: Path, git: Git, write: Write) -> None:
    git("init", "-q", at=".")
    write({".git/index": b"garbage", ".gitignore": "*.log\n", "a.log": "1", "a.py": "1"})
    found = discover(root)
    assert paths(found) == [".gitignore", "a.py"]
    assert len(found.warnings) == 1
    assert "git cannot list" in found.warnings[0]


def test_a_damaged_repository_in_a_plain_folder_does_not_stop_the_walk(root: Path, write: Write) -> None:
    write({"x/.git": "gitdir: /nowhere", "x/.gitignore": "*.log", "x/a.log": "1", "x/a.py": "1", "b.py": "1"})
    found = discover(root)
    assert paths(found) == ["b.py", "x/.gitignore", "x/a.py"]
    assert "/nowhere" in found.warnings[0]


def test_nothing_in_a_repository_can_run_a_command(root: Path, git: Git, write: Write, tmp_path: Path) -> None:
    git("init", "-q")
    write({"a.py": "1"})
    git("add", ".")
    witness = tmp_path / "witness"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch '{witness}'\n")
    program.chmod(0o755)
    for key in ("core.fsmonitor", "core.sshCommand", "core.editor", "core.pager", "filter.x.clean", "diff.external"):
        git("config", key, str(program))
    git("config", "alias.ls-files", f"!{program}")
    hooks = root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in ("post-index-change", "fsmonitor-watchman", "query-watchman"):
        shutil.copy(program, hooks / hook)
    write({".gitattributes": "* filter=x\n"})
    found = discover(root)
    assert paths(found) == [".gitattributes", "a.py"]
    assert found.warnings == ()
    assert not witness.exists()


def test_another_repository_in_the_environment_changes_nothing(
    root: Path, git: Git, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git("init", "-q")
    write({"a.py": "1", ".gitignore": "*.log", "b.log": "1"})
    for name, value in {
        "GIT_DIR": tmp_path / "none", "GIT_WORK_TREE": tmp_path, "GIT_INDEX_FILE": tmp_path / "index",
        "GIT_CONFIG_COUNT": "nonsense", "GIT_LITERAL_PATHSPECS": "1", "GIT_CEILING_DIRECTORIES": root,
    }.items():  # fmt: skip
        monkeypatch.setenv(name, str(value))
    found = discover(root)
    assert paths(found) == [".gitignore", "a.py"]
    assert found.warnings == ()


def test_a_repository_of_another_owner_is_listed(root: Path, git: Git, write: Write) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a directory away")
    write({".gitignore": "*.log\n", "a.log": "1", "a.py": "1"})
    git("init", "-q")
    for path in (root, root / ".git"):
        os.chown(path, 12345, 12345)
    refusal = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, check=False)
    assert b"dubious ownership" in refusal.stderr
    found = discover(root)
    assert paths(found) == [".gitignore", "a.py"]
    assert found.warnings == ()


def test_a_work_tree_that_its_settings_move_elsewhere_gives_nothing_from_there(
    root: Path, git: Git, write: Write
) -> None:
    git("init", "-q")
    write({"a.py": "1"})
    git("config", "core.worktree", "/etc")
    found = discover(root)
    assert paths(found) == ["a.py"]
    assert found.warnings == ()


def test_git_that_hangs_is_given_up(root: Path, git: Git, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    git("init", "-q")
    write({"a.py": "1"})
    os.mkfifo(root / ".gitignore")
    cancel = Cancellation()
    cancel.cancel()
    with pytest.raises(CancelledError):
        discover(root, cancel=cancel)
    monkeypatch.setattr(git_module, "SECONDS", 0.3)
    found = discover(root)
    assert paths(found) == ["a.py"]
    assert skipped(found) == {".gitignore": SkipReason.SPECIAL}
    assert "it took longer than 0 seconds" in found.warnings[0]
    assert ".gitignore cannot be read (special)" in found.warnings[1]


def test_every_kind_of_entry_has_its_reason_in_a_work_tree(root: Path, git: Git, write: Write) -> None:
    git("init", "-q")
    write({"ok.py": "1", "pic.PNG": "1", "void": "", "big.txt": "x" * 101, "sub/pipe_here/.keep": "1"})
    (root / "link").symlink_to("ok.py")
    (root / "loop").symlink_to(".")
    os.mkfifo(root / "sub" / "pipe")
    found = discover(root, sizes=SizeLimits(text=100))
    assert paths(found) == ["ok.py", "sub/pipe_here/.keep"]
    assert skipped(found) == {
        "pic.PNG": SkipReason.BINARY, "void": SkipReason.EMPTY, "big.txt": SkipReason.TOO_LARGE,
        "link": SkipReason.LINK, "loop": SkipReason.LINK, "sub/pipe": SkipReason.SPECIAL,
    }  # fmt: skip


def test_is_indexable_agrees_with_discovery(root: Path, git: Git, write: Write) -> None:
    write(
        {
            ".gitignore": "*.log\n.env\n",
            "a.log": "1",
            ".env": "1",
            "d/b.py": "1",
            "d/.indexignore": "c.py",
            "d/c.py": "1",
        }
    )
    git("init", "-q")
    (root / "link.py").symlink_to("d/b.py")
    everything = ["a.log", ".env", "d/b.py", "d/c.py", "link.py", ".git/HEAD", "absent", "d"]
    assert [p for p in everything if is_indexable(root, p)] == ["d/b.py"]
