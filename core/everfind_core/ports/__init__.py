"""The ports: what the engines need from each other and from the outside, as protocols.

All calls are synchronous and safe to make from several threads. Long ones take a
:class:`~everfind_core.cancellation.Cancellation`. An in-process engine and a client of a remote service are the same
to a caller: same values, same errors (:mod:`everfind_core.errors`).
"""

from everfind_core.ports.chunking import Chunker, ChunkLimits, Extractor, NotExtractedError
from everfind_core.ports.embedding import Embedder, Reranker, TokenIds, Tokenizer
from everfind_core.ports.engines import EventSink, Indexer, Searcher, SourceReader
from everfind_core.ports.store import (
    ChunkReader,
    ChunkSnapshot,
    ChunkWriter,
    FileChunks,
    Labels,
    ScoredChunk,
    StoredChunk,
)

__all__ = [
    "ChunkLimits",
    "ChunkReader",
    "ChunkSnapshot",
    "ChunkWriter",
    "Chunker",
    "Embedder",
    "EventSink",
    "Extractor",
    "FileChunks",
    "Indexer",
    "Labels",
    "NotExtractedError",
    "Reranker",
    "ScoredChunk",
    "Searcher",
    "SourceReader",
    "StoredChunk",
    "TokenIds",
    "Tokenizer",
]
