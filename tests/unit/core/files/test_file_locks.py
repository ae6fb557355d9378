from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from everfind_core.files.locks import is_locked, try_file_lock, try_lock


def test_one_holds_a_lock_until_its_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert not is_locked(path)
    with try_file_lock(path) as first, try_file_lock(path) as second:
        assert (first, second) == (True, False)
        assert is_locked(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert not is_locked(path)


def test_whoever_only_asks_locks_nobody_out(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.touch()
    one, two = os.open(path, os.O_RDONLY), os.open(path, os.O_RDONLY)
    try:
        assert try_lock(one, shared=True)
        assert try_lock(two, shared=True)
        assert not is_locked(path)
    finally:
        os.close(one)
        os.close(two)


def test_a_lock_is_had_although_somebody_asked_at_that_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lock").touch()
    asking = os.open(tmp_path / "lock", os.O_RDONLY)
    assert try_lock(asking, shared=True)
    monkeypatch.setattr(time, "sleep", lambda _seconds: os.close(asking))
    with try_file_lock(tmp_path / "lock") as held:
        assert held


def test_a_link_is_no_lock(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "lock")
    (tmp_path / "lock").touch()
    with try_file_lock(tmp_path / "lock"):
        assert not is_locked(tmp_path / "link")
