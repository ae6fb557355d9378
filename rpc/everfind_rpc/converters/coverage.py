"""What an answer was searched in."""

from __future__ import annotations

from everfind.common.v1 import corpus_pb2 as pb
from everfind_core.model import Coverage


def coverage_to_proto(coverage: Coverage) -> pb.Coverage:
    """Coverage as a message."""
    return pb.Coverage(
        files=coverage.files,
        chunks=coverage.chunks,
        skipped=coverage.skipped,
        pending=coverage.pending,
        unembedded=coverage.unembedded,
    )


def coverage_from_proto(message: pb.Coverage) -> Coverage:
    """Coverage from its message."""
    return Coverage(
        files=message.files,
        chunks=message.chunks,
        skipped=dict(message.skipped),
        pending=message.pending,
        unembedded=message.unembedded,
    )
