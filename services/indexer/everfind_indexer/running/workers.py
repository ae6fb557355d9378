"""Where the heavy part of a run is done: files looked at, and texts embedded. In this process, or by workers elsewhere.

Whoever runs it, it is the same code, and the run itself stays here: what to read, which vectors are known already, and
each commit. So the index that comes of it is the same, too.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from everfind_core.cancellation import Cancellation
from everfind_core.model import FileState, Folder, IndexStage, InputKind, Vectors
from everfind_core.ports import Chunker, Embedder, TokenIds
from everfind_indexer.extractors import Extraction
from everfind_indexer.files.found import FoundFile
from everfind_indexer.running.looking import Looker, Outcome
from everfind_indexer.running.pipeline import Clock
from everfind_indexer.running.recipes import preparation
from everfind_indexer.settings import IndexerSettings


class Workers(Protocol):
    """Does work for one run."""

    slots: int
    """How much of it is done at once."""

    def look(self, looker: Looker, files: Iterable[FoundFile], cancel: Cancellation) -> Iterator[Outcome]:
        """What ``looker`` says of each file, in their order; raises as it does."""
        ...

    def embedder(self, own: Embedder) -> Embedder:
        """What embeds for the run: the model of ``own``, wherever it runs."""
        ...


class InProcess:
    """No workers but this process."""

    slots = 1

    def look(self, looker: Looker, files: Iterable[FoundFile], cancel: Cancellation) -> Iterator[Outcome]:
        """See :meth:`Workers.look`."""
        for file in files:
            cancel.check()
            yield looker.look(file)

    def embedder(self, own: Embedder) -> Embedder:
        """See :meth:`Workers.embedder`."""
        return own


@contextlib.contextmanager
def in_process(_settings: IndexerSettings) -> Iterator[Workers]:
    """Open none."""
    yield InProcess()


WorkersOpener = Callable[[IndexerSettings], contextlib.AbstractContextManager[Workers]]
"""Opens workers for a run with these settings; they end with the block."""


@dataclass(frozen=True, slots=True)
class WorkerRecipe:
    """What a worker is made of, in whatever process: it must be possible to pickle all of it."""

    settings: IndexerSettings
    open_embedder: Callable[[], Embedder]
    open_chunker: Callable[[], Chunker]


@dataclass(frozen=True, slots=True)
class LookTask:
    """Files of one folder to look at, with what is known of them."""

    folder: Folder
    known: dict[str, FileState]
    force: bool
    files: Sequence[FoundFile]


class Worker:
    """Does tasks of one recipe; loads the model once. One task at a time."""

    def __init__(self, recipe: WorkerRecipe) -> None:
        self._sizes = recipe.settings.sizes
        self._embedder = recipe.open_embedder()
        self._how = preparation(recipe.settings, self._embedder, recipe.open_chunker(), Extraction())

    def look(self, task: LookTask) -> tuple[list[Outcome], Mapping[IndexStage, float]]:
        """What follows from each file, and the seconds that it took by stage."""
        clock = Clock()
        looker = Looker(task.folder, task.known, self._how, self._sizes, task.force, clock)
        return [looker.look(file) for file in task.files], clock.seconds

    def embed(self, sequences: Sequence[TokenIds]) -> Vectors:
        """The vectors of token sequences."""
        return self._embedder.embed_tokens(sequences)

    def embed_texts(self, texts: Sequence[str]) -> Vectors:
        """The vectors of documents' texts."""
        return self._embedder.embed(texts, InputKind.DOCUMENT)


@lru_cache(maxsize=1)
def worker_of(made_of: bytes) -> Worker:
    """The worker of this process for a pickled recipe: made at its first task."""
    import pickle

    return Worker(pickle.loads(made_of))  # noqa: S301 - the driver of this run, whose code we run, made it
