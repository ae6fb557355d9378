"""An embedder that other processes load, and that does there as files in a directory say."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from everfind_core.cancellation import Cancellation
from everfind_core.errors import ModelUnusableError
from everfind_core.model import Vectors
from everfind_core.ports import TokenIds
from tests.support.fakes import FakeEmbedder


@dataclass
class WorkersEmbedder(FakeEmbedder):
    """An embedder of a worker. Files in ``orders`` say what else it does; it notes there which processes embed."""

    orders: Path = field(default_factory=Path)

    def embed_tokens(self, sequences: Sequence[TokenIds], *, cancel: Cancellation | None = None) -> Vectors:
        (self.orders / f"embedded by {os.getpid()}").touch()
        if self._is_told("die once"):
            with contextlib.suppress(FileExistsError):
                (self.orders / "died").touch(exist_ok=False)
                os.kill(os.getpid(), signal.SIGKILL)
        if self._is_told("die"):
            os.kill(os.getpid(), signal.SIGKILL)
        if self._is_told("refuse"):
            raise ModelUnusableError("the model is broken", hint="Mend it.")
        return super().embed_tokens(sequences, cancel=cancel)

    def _is_told(self, order: str) -> bool:
        return (self.orders / order).exists()


def open_embedder(orders: Path) -> WorkersEmbedder:
    return WorkersEmbedder(orders=orders)
