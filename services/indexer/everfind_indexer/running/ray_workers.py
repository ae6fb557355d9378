"""Workers on Ray: a task is done by whichever process of the cluster is free, and by another if that one dies.

Every machine of the cluster needs everfind, the folders at the same paths, and the model.
"""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import socket
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

from everfind_core.cancellation import Cancellation
from everfind_core.errors import ConfigError, EverfindError, InternalError, UnavailableError
from everfind_core.model import InputKind, ModelInfo, Vectors
from everfind_core.ports import Embedder, TokenIds, Tokenizer
from everfind_indexer.files.found import FoundFile
from everfind_indexer.running.looking import Looker, Outcome
from everfind_indexer.running.workers import LookTask, WorkerRecipe, worker_of

FILES_A_TASK: Final = 16
TRIES: Final = 4
"""How often a task is begun at most, where its worker dies."""

_MEMORY_BYTES: Final = 256 << 20
"""What a cluster of this machine alone keeps of results that are not fetched yet."""

_POLL_SECONDS: Final = 0.2
_REACH_SECONDS: Final = 10.0


@contextlib.contextmanager
def ray_workers(recipe: WorkerRecipe, *, address: str, cpus: int) -> Iterator[RayWorkers]:
    """Workers of the cluster at ``address``; of one on this machine, with ``cpus`` of them, where it is empty.

    Raises:
        ConfigError: Ray is not installed.
        UnavailableError: no cluster answers there, or none can be started.
    """
    _reach(address)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray reports usage to its vendor unless told not to
    try:
        import ray
    except ImportError as error:
        raise ConfigError("the engine `ray` is not installed", hint="Install everfind[ray].") from error
    place: dict[str, Any] = (
        {"address": address}
        if address
        else {"address": "local", "num_cpus": cpus, "object_store_memory": _MEMORY_BYTES}
    )
    try:
        ray.init(
            **place, include_dashboard=None if address else False, log_to_driver=False, logging_level=logging.ERROR
        )
    except (OSError, RuntimeError, ValueError) as error:
        raise _no_cluster(address) from error
    try:
        with contextlib.redirect_stdout(sys.stderr):  # Ray writes of workers that died to stdout, which is for data
            yield RayWorkers(ray, recipe)
    finally:
        ray.shutdown()


def _reach(address: str) -> None:
    """See that somebody listens at HOST:PORT; Ray itself asks for a minute. Other addresses are for Ray to read."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdecimal() or "/" in host:
        return
    try:
        socket.create_connection((host, int(port)), timeout=_REACH_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise _no_cluster(address) from error


def _no_cluster(address: str) -> UnavailableError:
    return UnavailableError(
        f"no Ray cluster answers {f'at {address}' if address else 'on this machine'}",
        hint="Check RAY_ADDRESS, or leave it out for a cluster of this machine alone.",
    )


class RayWorkers:
    """The :class:`~everfind_indexer.running.workers.Workers` of a cluster that this process is part of."""

    def __init__(self, ray: Any, recipe: WorkerRecipe) -> None:
        self.slots = max(1, int(ray.cluster_resources().get("CPU", 1)))
        self._ray = ray
        self._recipe = ray.put(pickle.dumps(recipe))
        again = ray.remote(max_retries=TRIES - 1)
        self._look, self._embed, self._embed_texts = again(_look), again(_embed), again(_embed_texts)

    def look(self, looker: Looker, files: Iterable[FoundFile], cancel: Cancellation) -> Iterator[Outcome]:
        """See :meth:`everfind_indexer.running.workers.Workers.look`."""
        waiting: deque[Any] = deque()
        ahead = iter(files)
        while group := tuple(islice(ahead, FILES_A_TASK)):
            known = {file.path: looker.known[file.path] for file in group if file.path in looker.known}
            task = LookTask(looker.folder, known, looker.force, group)
            waiting.append(self._look.remote(self._recipe, task))
            if len(waiting) > 2 * self.slots:
                yield from self._outcomes(waiting.popleft(), looker, cancel)
        while waiting:
            yield from self._outcomes(waiting.popleft(), looker, cancel)

    def embedder(self, own: Embedder) -> Embedder:
        """See :meth:`everfind_indexer.running.workers.Workers.embedder`."""
        return _ClusterEmbedder(self, own)

    def embed_tokens(self, sequences: Sequence[TokenIds], cancel: Cancellation) -> Vectors:
        """The vectors of token sequences, by one task."""
        found: Vectors = self._result(self._embed.remote(self._recipe, list(sequences)), cancel)
        return found

    def embed_texts(self, texts: Sequence[str], cancel: Cancellation) -> Vectors:
        """The vectors of documents' texts, by one task."""
        found: Vectors = self._result(self._embed_texts.remote(self._recipe, list(texts)), cancel)
        return found

    def _outcomes(self, task: Any, looker: Looker, cancel: Cancellation) -> Sequence[Outcome]:
        outcomes, seconds = self._result(task, cancel)
        looker.clock.add(seconds)
        found: Sequence[Outcome] = outcomes
        return found

    def _result(self, task: Any, cancel: Cancellation) -> Any:
        """What a task gave; raises what it raised.

        Raises:
            UnavailableError: its worker died again and again.
            CancelledError, DeadlineExceededError: as ``cancel`` says.
        """
        errors = self._ray.exceptions
        while True:
            try:
                return self._ray.get(task, timeout=_POLL_SECONDS)
            except errors.GetTimeoutError:
                cancel.check()
            except errors.RayTaskError as error:
                if isinstance(error.cause, EverfindError):
                    raise error.cause from None
                raise InternalError(f"a worker of the run failed: {error.cause!r}") from error
            except errors.RayError as error:
                raise UnavailableError(
                    f"a task of the run was lost with its worker {TRIES} times ({type(error).__name__})",
                    hint="See the logs of Ray; what is committed stays, and the next run goes on from there.",
                ) from error


class _ClusterEmbedder:
    """An :class:`~everfind_core.ports.Embedder` whose documents are embedded by workers."""

    def __init__(self, workers: RayWorkers, own: Embedder) -> None:
        self._workers = workers
        self._own = own

    def model(self) -> ModelInfo:
        """See :meth:`everfind_core.ports.Embedder.model`."""
        return self._own.model()

    def tokenizer(self) -> Tokenizer:
        """See :meth:`everfind_core.ports.Embedder.tokenizer`."""
        return self._own.tokenizer()

    def embed(self, texts: Sequence[str], kind: InputKind, *, cancel: Cancellation | None = None) -> Vectors:
        """See :meth:`everfind_core.ports.Embedder.embed`."""
        if kind is not InputKind.DOCUMENT:
            return self._own.embed(texts, kind, cancel=cancel)
        return self._workers.embed_texts(texts, cancel or Cancellation())

    def embed_tokens(self, sequences: Sequence[TokenIds], *, cancel: Cancellation | None = None) -> Vectors:
        """See :meth:`everfind_core.ports.Embedder.embed_tokens`."""
        return self._workers.embed_tokens(sequences, cancel or Cancellation())

    def close(self) -> None:
        """Nothing: whoever opened the own one closes it."""


def _look(recipe: bytes, task: LookTask) -> Any:
    return worker_of(recipe).look(task)


def _embed(recipe: bytes, sequences: Sequence[TokenIds]) -> Vectors:
    return worker_of(recipe).embed(sequences)


def _embed_texts(recipe: bytes, texts: Sequence[str]) -> Vectors:
    return worker_of(recipe).embed_texts(texts)
