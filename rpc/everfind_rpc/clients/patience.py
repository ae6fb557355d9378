"""An embedder that may be away for a while: whoever has work for it waits, and goes on."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TypeVar

from everfind_core.cancellation import Cancellation
from everfind_core.errors import DeadlineExceededError, OverloadedError, UnavailableError
from everfind_core.model import InputKind, ModelInfo, Vectors
from everfind_core.ports import Embedder, TokenIds, Tokenizer

FIRST_SECONDS = 0.5
LONGEST_SECONDS = 15.0

_PASSING = (UnavailableError, OverloadedError, DeadlineExceededError)
"""What an outage looks like from here."""

T = TypeVar("T")

_log = logging.getLogger("everfind.embedder")


class PatientEmbedder:
    """Repeats calls that an absent or busy embedder did not answer, with growing pauses, until their caller gives up.

    For indexing, where a run should outlast an outage. Calls without a cancellation are made once.
    """

    def __init__(self, embedder: Embedder, *, first_seconds: float = FIRST_SECONDS) -> None:
        self._embedder = embedder
        self._first = first_seconds

    def model(self) -> ModelInfo:
        """See :meth:`everfind_core.ports.Embedder.model`."""
        return self._embedder.model()

    def tokenizer(self) -> Tokenizer:
        """See :meth:`everfind_core.ports.Embedder.tokenizer`."""
        return self._embedder.tokenizer()

    def embed(self, texts: Sequence[str], kind: InputKind, *, cancel: Cancellation | None = None) -> Vectors:
        """See :meth:`everfind_core.ports.Embedder.embed`."""
        return self._repeated(lambda: self._embedder.embed(texts, kind, cancel=cancel), cancel)

    def embed_tokens(self, sequences: Sequence[TokenIds], *, cancel: Cancellation | None = None) -> Vectors:
        """See :meth:`everfind_core.ports.Embedder.embed_tokens`."""
        return self._repeated(lambda: self._embedder.embed_tokens(sequences, cancel=cancel), cancel)

    def wait_until_ready(self, cancel: Cancellation) -> None:
        """Return when the embedder has said which model it is, and given its tokenizer.

        Raises:
            CancelledError, DeadlineExceededError: as ``cancel`` says.
        """
        self._repeated(self._embedder.tokenizer, cancel)

    def close(self) -> None:
        """See :meth:`everfind_core.ports.Embedder.close`."""
        self._embedder.close()

    def _repeated(self, call: Callable[[], T], cancel: Cancellation | None) -> T:
        pause = self._first
        while True:
            try:
                return call()
            except _PASSING as error:
                if cancel is None:
                    raise
                cancel.check()  # a deadline of the caller's own is no outage
                _log.warning("the embedder does not answer, waiting %.1f s: %s", pause, error)
                cancel.wait(pause)
                pause = min(2 * pause, LONGEST_SECONDS)
