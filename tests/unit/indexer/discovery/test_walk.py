"""The walk: what it leaves out and why, odd names, `.indexignore`, nested folders."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from everfind_core.cancellation import Cancellation
from everfind_core.errors import CancelledError, ConfigError, FolderUnusableError, InvalidRequestError
from everfind_core.files.paths import encode_path
from everfind_core.model import SkipReason
from everfind_core.ports import NotExtractedError
from everfind_indexer.discovery import Discovery, discover
from everfind_indexer.files.reading import read_file

Write = Callable[[Mapping[str, str | bytes]], None]


def paths(found: Discovery) -> list[str]:
    return [file.path for file in found.files]


def skipped(found: Discovery) -> dict[str, SkipReason]:
    return {entry.ref.path: entry.reason for entry in found.skipped}


def test_files_come_sorted_with_their_stat(root: Path, write: Write) -> None:
    write({"b/x": "1", "a": "22", "b.py": "3", "B": "4"})
    found = discover(root)
    assert paths(found) == ["B", "a", "b.py", "b/x"]
    stat = (root / "a").stat()
    assert found.files[1] == ("a", 2, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)


def test_tool_directories_are_left_out_by_name_below_the_folder_only(tmp_path: Path) -> None:
    root = tmp_path / "node_modules" / "build"
    for name in ("dist/a", "lib/b", "output/c", "build/d", "vendor/e", "node_modules/f", "x/__pycache__/g", "x/.git/h"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("1")
    found = discover(root)
    assert paths(found) == ["build/d", "dist/a", "lib/b", "output/c", "vendor/e"]
    assert skipped(found)["node_modules/"] is SkipReason.IGNORED
    assert skipped(found)["x/__pycache__/"] is SkipReason.IGNORED


def test_directories_that_a_tool_marks_as_its_own_are_left_out(root: Path, write: Write) -> None:
    tag = "Signature: 8a477f597d28d172789f06886806bc55\n# made by cargo"
    write({
        "target/CACHEDIR.TAG": tag, "target/debug/x": "1", "myenv/pyvenv.cfg": "home=/usr", "myenv/lib/y.py": "1",
        "docs/CACHEDIR.TAG": "an essay about tags", "docs/z": "1",
    })  # fmt: skip
    found = discover(root)
    assert paths(found) == ["docs/CACHEDIR.TAG", "docs/z"]
    assert skipped(found) == {"target/": SkipReason.IGNORED, "myenv/": SkipReason.IGNORED}
    write({".indexignore": "!node_modules/\n!/target\n", "node_modules/kept.js": "1"})
    found = discover(root)
    assert "node_modules/kept.js" in paths(found)
    assert "target/debug/x" in paths(found)
    assert "myenv/lib/y.py" not in paths(found)


def test_every_kind_of_entry_has_its_reason(root: Path, write: Write) -> None:
    write({"ok": "1", "pic.png": "1", ".png": "a name without extension", "void": "", "d/f": "1"})
    (root / "link").symlink_to("ok")
    (root / "dangling").symlink_to("nowhere")
    (root / "loop").symlink_to(root)
    (root / "d" / "up").symlink_to("..")
    os.mkfifo(root / "fifo")
    with (root / "huge").open("wb") as huge:
        huge.truncate(1 << 40)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(root / "socket"))
        found = discover(root)
    assert paths(found) == [".png", "d/f", "ok"]
    assert skipped(found) == {
        "pic.png": SkipReason.BINARY, "void": SkipReason.EMPTY, "link": SkipReason.LINK, "dangling": SkipReason.LINK,
        "loop": SkipReason.LINK, "d/up": SkipReason.LINK, "fifo": SkipReason.SPECIAL, "socket": SkipReason.SPECIAL,
        "huge": SkipReason.TOO_LARGE,
    }  # fmt: skip
    assert (
        next(s for s in found.skipped if s.ref.path == "huge").message
        == "1,099,511,627,776 bytes; max_file_bytes is 500,000"
    )


def test_an_unreadable_directory_is_counted_and_the_rest_goes_on(
    root: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"a/secret": "1", "b/ok": "1", "c/late": "1"})
    real = os.scandir

    def scandir(path: bytes) -> Iterator[os.DirEntry[bytes]]:
        if path.endswith(b"/a/"):
            raise PermissionError(13, "Permission denied")
        if path.endswith(b"/c/"):
            raise FileNotFoundError(2, "No such file or directory")
        return real(path)

    monkeypatch.setattr("os.scandir", scandir)
    found = discover(root)
    assert paths(found) == ["b/ok"]
    assert skipped(found) == {"a/": SkipReason.UNREADABLE, "c/": SkipReason.VANISHED}


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to become another user")
@pytest.mark.parametrize("in_git", [False, True])
def test_what_another_user_may_not_read_is_counted(in_git: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        root.chmod(0o755)
        for name in ("shut/inside", "shut_tracked/inside", "closed", "open"):
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text("1")
        if in_git:
            for command in (["init", "-q"], ["add", "shut_tracked", "closed"]):
                subprocess.run(["git", *command], cwd=root, check=True)
        for name, mode in (("shut", 0), ("shut_tracked", 0), ("closed", 0)):
            (root / name).chmod(mode)
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        monkeypatch.setenv("XDG_CONFIG_HOME", directory)
        monkeypatch.setenv("HOME", directory)
        os.seteuid(65534)
        try:
            found = discover(root)
            with pytest.raises(NotExtractedError) as refused:
                read_file(os.fsencode(root), "closed", 100)
        finally:
            os.seteuid(0)
    assert paths(found) == ["closed", "open"]
    assert skipped(found) == {"shut/": SkipReason.UNREADABLE, "shut_tracked/": SkipReason.UNREADABLE}
    assert found.warnings == ()
    assert refused.value.reason is SkipReason.UNREADABLE


ODD_NAMES = [
    b"two words", b"it's", b'say "hi"', b"line\nbreak", b"100%", b"%41", b"a%zz", b"a_b", b"a-b", b"[x]", b"a[1]", b"*",
    b"?", b"!bang", b"#hash", b"\\back", b"\xf0\x9f\x98\x80.md", "é.md".encode(), b"e\xcc\x81.md", b"README.md",
    b"readme.md", b"\xff\xfe.txt", b"caf\xe9", b" lead", b"trail ", b"-rf", b"tab\there", b"..hidden", b"x' OR 1=1 --",
]  # fmt: skip


@pytest.mark.parametrize("in_git", [False, True])
def test_odd_names_of_files_and_directories(root: Path, in_git: bool, request: pytest.FixtureRequest) -> None:
    if in_git:
        request.getfixturevalue("git")("init", "-q")
    raw = os.fsencode(root)
    expected = []
    for name in ODD_NAMES:
        directory = b"dir " + name
        (root / os.fsdecode(directory)).mkdir()
        for path in (name, directory + b"/f"):
            (root / os.fsdecode(path)).write_bytes(b"1")
            expected.append(encode_path(path))
    found = discover(raw)
    assert paths(found) == sorted(expected)
    assert found.warnings == ()
    for file in found.files:
        assert paths(discover(raw, below=file.path)) == [file.path]


def test_glob_characters_in_directory_names_are_no_patterns(root: Path, write: Write) -> None:
    write({"a[1]/.indexignore": "x\n/y\n", "a[1]/x": "1", "a[1]/y": "1", "a[1]/z": "1", "a1/x": "1", "a1/y": "1"})
    write({"*/.indexignore": "q", "*/q": "1", "b/q": "1"})
    assert paths(discover(root)) == ["*/.indexignore", "a1/x", "a1/y", "a[1]/.indexignore", "a[1]/z", "b/q"]


def test_indexignore_deeper_and_later_rules_win_and_the_users_own_come_first(
    root: Path, write: Write, tmp_path: Path
) -> None:
    user = tmp_path / ".indexignore"
    user.write_bytes(b"\xef\xbb\xbf*.user\r\n*.both\n")
    write({
        ".indexignore": "*.log\n!keep.log\n/only-top\n!*.both\nshut/\n", "a.log": "1", "keep.log": "1",
        "only-top": "1", "d/only-top": "1", "x.user": "1", "x.both": "1", "d/.indexignore": "!b.log\nkeep.log\n",
        "d/b.log": "1", "d/keep.log": "1", "shut/.indexignore": "!*", "shut/in": "1",
    })  # fmt: skip
    found = discover(root, user_ignore=user)
    assert paths(found) == [".indexignore", "d/.indexignore", "d/b.log", "d/only-top", "keep.log", "x.both"]
    assert skipped(found) == dict.fromkeys(
        ["a.log", "only-top", "x.user", "d/keep.log", "shut/"], SkipReason.IGNORED
    )  # fmt: skip


def test_what_lies_below_an_excluded_directory_cannot_be_brought_back(root: Path, write: Write) -> None:
    write({".indexignore": "plugins\n!plugins/foo/\n", "plugins/foo/x": "1", "sub/plugins": "1", "y": "1"})
    assert paths(discover(root)) == [".indexignore", "y"]
    write({".indexignore": "plugins/*\n!plugins/foo/\n", "plugins/bar/x": "1"})
    assert paths(discover(root)) == [".indexignore", "plugins/foo/x", "sub/plugins", "y"]
    write({".indexignore": "*\n!*/\n!*.py\n", "a/b/c.py": "1", "a/b/c.txt": "1"})
    assert paths(discover(root)) == ["a/b/c.py"]


def test_a_faulty_pattern_and_an_unusable_indexignore_are_said(root: Path, write: Write, tmp_path: Path) -> None:
    write({".indexignore": "ok\nbad\\\n[z-a]\n", "ok": "1", "bad": "1", "d/x": "1"})
    (root / "d" / ".indexignore").symlink_to(tmp_path / "elsewhere")
    found = discover(root)
    assert paths(found) == [".indexignore", "bad", "d/x"]
    assert found.warnings == (
        ".indexignore: 'bad\\\\' is not a pattern",
        ".indexignore: '[z-a]' is not a pattern",
        "d/.indexignore cannot be read (link), so its rules do not hold",
    )


def test_an_unreadable_user_ignore_file_is_an_error(root: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        discover(root, user_ignore=tmp_path)
    assert discover(root, user_ignore=tmp_path / "absent").files == ()


def test_include_patterns_keep_only_what_they_match(root: Path, write: Write) -> None:
    write({"a.md": "1", "b.py": "1", "docs/x.txt": "1", "docs/y.md": "1", "src/docs/z": "1"})
    assert paths(discover(root, include=["*.md", "/docs/"])) == ["a.md", "docs/x.txt", "docs/y.md"]
    found = discover(root, include=["*.md"])
    assert paths(found) == ["a.md", "docs/y.md"]
    assert [entry.reason for entry in found.skipped] == [SkipReason.IGNORED] * 3
    with pytest.raises(InvalidRequestError):
        discover(root, include=["bad\\"])


@pytest.mark.parametrize("in_git", [False, True])
def test_the_innermost_folder_owns_a_file(
    root: Path, write: Write, in_git: bool, request: pytest.FixtureRequest
) -> None:
    if in_git:
        request.getfixturevalue("git")("init", "-q")
    write({"a": "1", "in/b": "1", "in/deep/c": "1", "inside": "1"})
    roots = [root, root / "in", root / "in" / "deep", root.parent]
    owned = [f"{r.name}:{p}" for r in roots[:3] for p in paths(discover(r, exclude_roots=roots))]
    assert owned == ["folder:a", "folder:inside", "in:b", "deep:c"]


def test_below_limits_to_a_file_or_directory(root: Path, write: Write) -> None:
    write({"a/b/c": "1", "a/b.c": "1", "a/bb": "1", ".indexignore": "no\n", "a/b/no": "1"})
    assert paths(discover(root, below="a/b")) == ["a/b/c"]
    assert skipped(discover(root, below="a/b")) == {"a/b/no": SkipReason.IGNORED}
    assert paths(discover(root, below="a/bb")) == ["a/bb"]
    assert paths(discover(root, below="absent")) == []
    with pytest.raises(InvalidRequestError):
        discover(root, below="../x")


def test_a_root_that_cannot_be_listed_is_an_error_with_a_hint(root: Path, write: Write) -> None:
    write({"file": "1"})
    for path, problem in ((root / "file", "is not a directory"), (root / "absent", "does not exist")):
        with pytest.raises(FolderUnusableError, match=problem) as caught:
            discover(path)
        assert caught.value.hint


def test_a_root_that_vanishes_is_an_error_and_not_an_empty_folder(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.scandir
    calls: list[Any] = []

    def scandir(path: bytes) -> Iterator[os.DirEntry[bytes]]:
        calls.append(path)
        if len(calls) > 1:
            raise FileNotFoundError(2, "No such file or directory")
        return real(path)

    monkeypatch.setattr("os.scandir", scandir)
    with pytest.raises(FolderUnusableError):
        discover(root)


def test_a_cancelled_call_stops(root: Path, write: Write) -> None:
    write({"a/b": "1"})
    cancel = Cancellation()
    cancel.cancel()
    with pytest.raises(CancelledError):
        discover(root, cancel=cancel)


def test_a_root_in_string_form_is_decoded(tmp_path: Path) -> None:
    directory = tmp_path / "a%41"
    directory.mkdir()
    (directory / "f").write_text("1")
    assert paths(discover(encode_path(os.fsencode(directory)))) == ["f"]
