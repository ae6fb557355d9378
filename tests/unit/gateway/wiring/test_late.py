"""Engines that come up when first used: once, whichever threads use them."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from everfind_gateway.wiring.late import Late, LateEmbedder
from tests.support.fakes import FakeEmbedder


def test_many_threads_make_one() -> None:
    made: list[object] = []
    ready = threading.Barrier(8)

    def make() -> object:
        time.sleep(0.02)
        made.append(object())
        return made[-1]

    late = Late(make)

    def use() -> object:
        ready.wait()
        return late.get()

    with ThreadPoolExecutor(8) as threads:
        got = [future.result() for future in [threads.submit(use) for _ in range(8)]]
    assert len(made) == 1
    assert all(one is made[0] for one in got)


def test_what_could_not_be_made_is_tried_again_and_what_was_taken_is_made_anew() -> None:
    numbers = iter([None, 1, 2])

    def make() -> int:
        number = next(numbers)
        if number is None:
            raise OSError("not now")
        return number

    late = Late(make)
    with pytest.raises(OSError, match="not now"):
        late.get()
    assert (late.get(), late.get(), late.take(), late.take(), late.get()) == (1, 1, 1, None, 2)


def test_an_embedder_that_nobody_used_is_not_opened_to_be_closed() -> None:
    opened: list[FakeEmbedder] = []

    def open_embedder() -> FakeEmbedder:
        opened.append(FakeEmbedder())
        return opened[-1]

    embedder = LateEmbedder(open_embedder)
    embedder.close()
    assert opened == []
    assert embedder.model() == embedder.model()
    assert len(opened) == 1
