"""A file that is replaced whole: with its mode whatever the umask, and the old one after a failure."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from everfind_core.files.whole import is_disk_full, replace_file, replaced


@pytest.mark.parametrize("mode", [0o600, 0o644])
@pytest.mark.parametrize("durable", [True, False])
def test_the_text_and_the_mode_are_as_given(tmp_path: Path, mode: int, durable: bool) -> None:
    file = tmp_path / "x"
    file.write_text("old")
    file.chmod(0o640)
    before = os.umask(0o077)
    try:
        replace_file(file, "a\r\nü\n", mode=mode, durable=durable)
    finally:
        os.umask(before)
    assert file.read_bytes() == "a\r\nü\n".encode()
    assert file.stat().st_mode & 0o777 == mode
    assert [p.name for p in tmp_path.iterdir()] == ["x"]


def test_after_a_failure_the_old_file_stands_alone(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        replace_file(file, "\udc80")
    assert file.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["x"]


def test_nobody_sees_a_file_that_is_half_written(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_text("old")
    with pytest.raises(KeyboardInterrupt), replaced(file) as new:
        new.write(b"half")
        assert file.read_text() == "old"
        raise KeyboardInterrupt
    assert file.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["x"]


@pytest.mark.parametrize(("number", "full"), [(errno.ENOSPC, True), (errno.EDQUOT, True), (errno.EIO, False)])
def test_a_disk_without_space_is_told_from_other_faults(number: int, *, full: bool) -> None:
    assert is_disk_full(OSError(number, os.strerror(number))) is full


def test_a_directory_that_is_not_there_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        replace_file(tmp_path / "absent" / "x", "text")
