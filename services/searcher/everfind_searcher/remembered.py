"""What was found out last, by what it was found out for."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

KeyT = TypeVar("KeyT", bound=Hashable)
ValueT = TypeVar("ValueT")


class Remembered(Generic[KeyT, ValueT]):
    """The values of the ``most`` keys used last. Thread-safe."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._guard = threading.Lock()
        self._known: OrderedDict[KeyT, ValueT] = OrderedDict()

    def get(self, key: KeyT) -> ValueT | None:
        """The value; None where it is not known, or no more."""
        with self._guard:
            if key in self._known:
                self._known.move_to_end(key)
            return self._known.get(key)

    def put(self, key: KeyT, value: ValueT) -> None:
        """Remember it, and forget the one that was not used for longest where there are too many."""
        with self._guard:
            self._known[key] = value
            if len(self._known) > self._most:
                self._known.popitem(last=False)
