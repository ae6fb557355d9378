"""everfind, telling in the file named by TOLD, a line each: when a call is cancelled, when a run of the model begins,
and when an index run has ended. `python -m tests.support.counted_server mcp …`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from everfind_core.cancellation import Cancellation
from everfind_core.model import IndexReport, IndexRequest
from everfind_core.ports import EventSink
from everfind_embedder import engine
from everfind_gateway.cli import main
from everfind_indexer.engine import IndexEngine

CANCELLED, RUN, ENDED = "cancelled", "run", "ended"


def tell(what: str) -> None:
    """Append one line, whole, whichever threads write."""
    os.write(_told, f"{what}\n".encode())


_encode = engine._encode
_index = IndexEngine.index


def encode(sequences: Sequence[engine._Sequence]) -> None:
    tell(RUN)
    _encode(sequences)


def index(
    self: IndexEngine, request: IndexRequest, on_event: EventSink, *, cancel: Cancellation | None = None
) -> IndexReport:
    assert cancel is not None
    cancel.on_cancel(lambda: tell(CANCELLED))
    try:
        return _index(self, request, on_event, cancel=cancel)
    finally:
        tell(ENDED)


if __name__ == "__main__":
    _told = os.open(os.environ["TOLD"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    engine._encode = encode
    IndexEngine.index = index  # type: ignore[method-assign]  # a test's process, for its own calls alone
    sys.exit(main(sys.argv[1:]))
