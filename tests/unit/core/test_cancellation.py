from __future__ import annotations

import threading
import time

import pytest

from everfind_core.cancellation import Cancellation
from everfind_core.errors import CancelledError, DeadlineExceededError


def test_work_goes_on_until_the_caller_gives_up() -> None:
    cancel = Cancellation()
    cancel.check()
    cancel.cancel()
    cancel.cancel()
    assert cancel.cancelled
    with pytest.raises(CancelledError):
        cancel.check()


def test_a_passed_deadline_stops_work() -> None:
    with pytest.raises(DeadlineExceededError):
        Cancellation(time.monotonic() - 1).check()
    remaining = Cancellation(time.monotonic() + 60).remaining()
    assert remaining is not None
    assert 59 < remaining <= 60
    assert Cancellation().remaining() is None


def test_callbacks_run_once_now_or_later() -> None:
    calls: list[str] = []
    cancel = Cancellation()
    cancel.on_cancel(lambda: calls.append("early"))
    cancel.cancel()
    cancel.on_cancel(lambda: calls.append("late"))
    cancel.cancel()
    assert calls == ["early", "late"]


def test_a_waiter_wakes_at_once_when_cancelled() -> None:
    cancel = Cancellation()
    timer = threading.Timer(0.05, cancel.cancel)
    timer.start()
    with pytest.raises(CancelledError):
        cancel.wait(30)
    timer.join()


def test_a_waiter_wakes_at_the_deadline() -> None:
    with pytest.raises(DeadlineExceededError):
        Cancellation(time.monotonic() + 0.02).wait(30)
