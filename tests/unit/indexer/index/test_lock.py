from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from everfind_core.cancellation import Cancellation
from everfind_core.errors import DeadlineExceededError, IndexLockedError, StorageError
from everfind_indexer.index.lock import lock_holder, writer_lock

HOLD = """
import sys, time
from pathlib import Path
from everfind_indexer.index.lock import writer_lock
with writer_lock(Path(sys.argv[1]), wait=False):
    print("held", flush=True)
    time.sleep(60)
"""


def hold_elsewhere(directory: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(directory)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def end(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def test_a_second_writer_is_refused_and_told_who_holds_it(tmp_path: Path) -> None:
    process = hold_elsewhere(tmp_path)
    try:
        with (
            pytest.raises(IndexLockedError, match=f"process {process.pid} on ") as caught,
            writer_lock(tmp_path, wait=False),
        ):
            pass
        assert f"process {process.pid}" in caught.value.details["holder"]
        assert f"process {process.pid}" in lock_holder(tmp_path)
    finally:
        end(process)


def test_the_lock_of_a_killed_holder_is_free(tmp_path: Path) -> None:
    end(hold_elsewhere(tmp_path))
    assert lock_holder(tmp_path) == ""
    with writer_lock(tmp_path, wait=False):
        assert f"process {os.getpid()}" in lock_holder(tmp_path)
    assert lock_holder(tmp_path) == ""


def test_a_waiter_gets_it_when_the_holder_ends(tmp_path: Path) -> None:
    process = hold_elsewhere(tmp_path)
    with (
        pytest.raises(DeadlineExceededError),
        writer_lock(tmp_path, wait=True, cancel=Cancellation(time.monotonic() + 0.3)),
    ):
        pass
    end(process)
    with writer_lock(tmp_path, wait=True, cancel=Cancellation(time.monotonic() + 10)):
        pass


def test_a_place_that_is_no_directory_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError), writer_lock(tmp_path / "file", wait=False):
        pass
    assert lock_holder(tmp_path / "file") == ""
    assert lock_holder(tmp_path / "absent") == ""
