"""One file read safely: no link followed, nothing opened that is no file, bounded, whole."""

from __future__ import annotations

import hashlib
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from everfind_core.errors import FolderUnusableError, InvalidRequestError
from everfind_core.files.paths import encode_path
from everfind_core.model import SkipReason
from everfind_core.ports import NotExtractedError
from everfind_indexer.files import reading
from everfind_indexer.files.reading import read_file

LIMIT = 1_000


def reason(root: Path, path: str, limit: int = LIMIT) -> SkipReason:
    with pytest.raises(NotExtractedError) as caught:
        read_file(os.fsencode(root), path, limit)
    return caught.value.reason


def test_bytes_stat_and_hash(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "f").write_bytes(b"some\r\nbytes\xff")
    raw = read_file(encode_path(os.fsencode(tmp_path)), "d/f", LIMIT)
    stat = (tmp_path / "d" / "f").stat()
    assert raw.data == b"some\r\nbytes\xff"
    assert raw.content_hash == hashlib.blake2b(raw.data, digest_size=16).hexdigest()
    assert raw.found == ("d/f", 12, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)


def test_a_name_that_is_not_utf8(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9%41")).write_bytes(b"1")
    assert read_file(os.fsencode(tmp_path), "caf%E9%2541", LIMIT).data == b"1"


def test_the_limit_is_what_may_be_read(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * LIMIT)
    assert len(read_file(os.fsencode(tmp_path), "f", LIMIT).data) == LIMIT
    assert reason(tmp_path, "f", LIMIT - 1) is SkipReason.TOO_LARGE


def test_every_reason(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "f").write_text("1")
    (tmp_path / "void").touch()
    (tmp_path / "link").symlink_to("d/f")
    (tmp_path / "dirlink").symlink_to("d")
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "fifo")
    with (tmp_path / "huge").open("wb") as huge:
        huge.truncate(1 << 40)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        assert reason(tmp_path, "socket") is SkipReason.SPECIAL
    assert reason(tmp_path, "fifo") is SkipReason.SPECIAL
    assert reason(tmp_path, "void") is SkipReason.EMPTY
    assert reason(tmp_path, "link") is SkipReason.LINK
    assert reason(tmp_path, "loop") is SkipReason.LINK
    assert reason(tmp_path, "dirlink/f") is SkipReason.LINK
    assert reason(tmp_path, "huge") is SkipReason.TOO_LARGE
    assert reason(tmp_path, "absent") is SkipReason.VANISHED
    assert reason(tmp_path, "absent/f") is SkipReason.VANISHED
    assert reason(tmp_path, "d/f/below-a-file") is SkipReason.VANISHED
    assert reason(tmp_path, "d") is SkipReason.VANISHED


@pytest.mark.skipif(os.geteuid() != 0, reason="only root meets a device in a folder of its own")
def test_a_device_is_never_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []
    real = os.open

    def watched(name: bytes, *args: int, **kwargs: int) -> int:
        opened.append(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(os, "open", watched)
    assert reason(Path("/dev"), "null") is SkipReason.SPECIAL
    assert opened == [b"/", b"dev"]


def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "f").write_text("1")
    real = os.open

    def refuse(name: bytes, *args: int, **kwargs: int) -> int:
        if name == b"f":
            raise PermissionError(13, "Permission denied")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(os, "open", refuse)
    assert reason(tmp_path, "f") is SkipReason.UNREADABLE


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x", "a/../b", "a//b", "./a", "a/", "a\0b", "%2e"])
def test_a_path_that_is_no_path_below_a_folder_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(InvalidRequestError):
        read_file(os.fsencode(tmp_path), path, LIMIT)


def test_a_missing_root_is_the_folders_fault_and_not_the_files(tmp_path: Path) -> None:
    with pytest.raises(FolderUnusableError, match="cannot be opened"):
        read_file(os.fsencode(tmp_path / "gone"), "f", LIMIT)


def swap_before(monkeypatch: pytest.MonkeyPatch, name: bytes, act: Callable[[], None]) -> None:
    """Runs ``act`` once, between the look at ``name`` and its opening."""
    real = os.open
    done: list[bool] = []

    def racing(opened: bytes, *args: int, **kwargs: int) -> int:
        if opened == name and not done:
            done.append(True)
            act()
        return real(opened, *args, **kwargs)

    monkeypatch.setattr(os, "open", racing)


@pytest.mark.parametrize("victim", ["d", "d/e", "d/e/f"])
def test_a_link_swapped_in_at_the_last_moment_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, victim: str
) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for base, text in ((root, "inside"), (outside, "secret")):
        (base / "d" / "e").mkdir(parents=True)
        (base / "d" / "e" / "f").write_text(text)

    def swap() -> None:
        (root / victim).rename(root / "old")
        (root / victim).symlink_to(outside / victim)

    swap_before(monkeypatch, os.fsencode(Path(victim).name), swap)
    assert reason(root, "d/e/f") is SkipReason.LINK


def test_a_fifo_swapped_in_at_the_last_moment_does_not_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "f").write_text("1")

    def swap() -> None:
        (tmp_path / "f").unlink()
        os.mkfifo(tmp_path / "f")

    swap_before(monkeypatch, b"f", swap)
    assert reason(tmp_path, "f") is SkipReason.SPECIAL


def during_read(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object], *, times: int) -> list[int]:
    """Runs ``act`` after the first block of each of the first ``times`` readings; gives the sizes asked for."""
    real = os.read
    asked: list[int] = []
    changed: set[int] = set()
    readings = [0]

    def read(file: int, size: int) -> bytes:
        data = real(file, size)
        asked.append(size)
        if data and readings[0] < times and readings[0] not in changed:
            changed.add(readings[0])
            act()
        readings[0] += not data
        return data

    monkeypatch.setattr(os, "read", read)
    return asked


def test_a_file_that_changes_while_it_is_read_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "f"
    file.write_text("old text")
    during_read(monkeypatch, lambda: file.write_text("new"), times=1)
    raw = read_file(os.fsencode(tmp_path), "f", LIMIT)
    assert raw.data == b"new"
    assert raw.found.size == 3


def test_a_file_that_goes_on_changing_keeps_the_stat_from_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "log"
    file.write_text("line\n")

    def append() -> None:
        with file.open("a") as stream:
            stream.write("line\n")

    during_read(monkeypatch, append, times=9)
    raw = read_file(os.fsencode(tmp_path), "log", LIMIT)
    assert raw.data == b"line\n" * 3
    assert raw.found.size == 10


def test_a_file_that_grows_beyond_the_limit_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"x" * 10)
    monkeypatch.setattr(reading, "_BLOCK", 8)
    asked = during_read(monkeypatch, lambda: file.write_bytes(b"x" * 10_000), times=9)
    assert reason(tmp_path, "f", 100) is SkipReason.TOO_LARGE
    assert sum(asked) <= 101 + 8
