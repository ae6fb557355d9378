"""Work on many rows in parallel: by the thread that asks, and by others as far as these are free."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Final, TypeVar

from everfind_core.cpu_quota import cpu_quota

_MOST_HELPERS: Final = 3
"""More do not make memory faster."""

PartT = TypeVar("PartT")


def in_parallel(work: Callable[[PartT], None], parts: Iterable[PartT]) -> None:
    """Do ``work`` on all ``parts``, in any order; most of it should need no interpreter lock. Raises what it raises.

    Whoever helps takes one part after another, and so does the caller: it waits for nobody who has not begun.
    """
    left = deque(parts)

    def take() -> None:
        while left:
            try:
                part = left.popleft()
            except IndexError:  # another thread took the last
                return
            work(part)

    threads = helpers() if len(left) > 1 else None
    helping = [threads.submit(take) for _ in range(min(_MOST_HELPERS, len(left) - 1))] if threads else []
    try:
        take()
    finally:
        left.clear()
        begun = [one for one in helping if not one.cancel()]
    for one in begun:
        one.result()


@cache
def helpers() -> ThreadPoolExecutor | None:
    """The threads that help in this process; None where it has one CPU alone."""
    count = min(cpu_quota() - 1, _MOST_HELPERS)
    return ThreadPoolExecutor(count, thread_name_prefix="helper") if count else None
