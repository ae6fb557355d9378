"""From token ids to unit vectors: one onnxruntime run over sequences of one length, so nothing is ever padded."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

import numpy as np

from everfind_core.model import Vectors
from everfind_core.ports import TokenIds
from everfind_embedder.runtime import Session

RUN_TOKENS = 256
"""About how many tokens one run takes: more costs memory and, beyond the CPU's caches, speed."""

_TINY = 1e-12


class Encoder(Protocol):
    """A model that takes wrapped token ids, int64 of shape (batch, sequence); safe to call from several threads."""

    def run(self, ids: TokenIds) -> Vectors:
        """Unit vectors of shape (batch, dimensions)."""
        ...


class Pooling(StrEnum):
    """How token states become one vector."""

    MEAN = "mean"
    CLS = "cls"
    LAST = "last"
    GRAPH = "graph"
    """The graph has done it."""


class GraphEncoder:
    """The built-in int8 graph: it takes ids alone and pools and normalises by itself."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def run(self, ids: TokenIds) -> Vectors:
        """Unit vectors of shape (batch, dimensions)."""
        return self._session.run("sentence_embedding", {"input_ids": ids})


class PoolingEncoder:
    """A transformer's export: the inputs it asks for, then pooling and normalisation here."""

    def __init__(self, session: Session, *, output: str, pooling: Pooling) -> None:
        self._session = session
        self._output = output
        self._pooling = pooling

    def run(self, ids: TokenIds) -> Vectors:
        """Unit vectors of shape (batch, dimensions)."""
        states = self._session.run(self._output, {name: model_input(name, ids) for name in self._session.inputs})
        return normalized(_pooled(states.astype(np.float32, copy=False), self._pooling))


MODEL_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids", "position_ids"})


def model_input(name: str, ids: TokenIds) -> TokenIds:
    """The input ``name`` (one of ``MODEL_INPUTS``) for unpadded sequences."""
    if name == "attention_mask":
        return np.ones_like(ids)
    if name == "token_type_ids":
        return np.zeros_like(ids)
    if name == "position_ids":
        return np.broadcast_to(np.arange(ids.shape[1], dtype=np.int64), ids.shape)
    return ids


def normalized(vectors: Vectors) -> Vectors:
    """Rows at unit length; a zero row stays zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = vectors / np.maximum(lengths, _TINY)
    return unit


def _pooled(states: Vectors, pooling: Pooling) -> Vectors:
    if states.ndim != (2 if pooling is Pooling.GRAPH else 3):
        raise ValueError(f"its output has the shape {states.shape}")
    if pooling is Pooling.MEAN:
        mean: Vectors = states.mean(axis=1, dtype=np.float32)
        return mean
    if pooling is Pooling.CLS:
        return states[:, 0]
    if pooling is Pooling.LAST:
        return states[:, -1]
    return states
