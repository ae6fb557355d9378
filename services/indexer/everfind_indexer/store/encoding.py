"""A chunk's vector as a store holds it."""

from __future__ import annotations

from everfind_core.errors import InternalError
from everfind_core.index.vector_codec import Stored, VectorCodec
from everfind_core.ports import StoredChunk


def encoded(chunk: StoredChunk, codec: VectorCodec) -> Stored | None:
    """The chunk's vector, to be stored; None while it waits.

    Raises:
        InternalError: it has other dimensions than the table, or a number that is not finite.
    """
    if chunk.vector is None:
        return None
    try:
        return codec.encode(chunk.vector)
    except ValueError as error:
        raise InternalError(f"the vector of chunk {chunk.chunk_id} {error}") from error
