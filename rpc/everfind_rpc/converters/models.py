"""Models, and what was measured of their noise. Without numpy: a client that only asks does not wait for it to load."""

from __future__ import annotations

from everfind.common.v1 import model_pb2 as pb
from everfind_core.model import Calibration, Floor, ModelInfo, ModelSource
from everfind_rpc.converters.wire import EnumTable, seconds_of_timestamp, timestamp

MODEL_SOURCES = EnumTable(
    {
        ModelSource.PACKAGE: pb.MODEL_SOURCE_PACKAGE,
        ModelSource.DIRECTORY: pb.MODEL_SOURCE_DIRECTORY,
        ModelSource.HUB: pb.MODEL_SOURCE_HUB,
        ModelSource.REMOTE: pb.MODEL_SOURCE_REMOTE,
    }
)


def model_to_proto(model: ModelInfo) -> pb.ModelInfo:
    """A model's identity as a message."""
    return pb.ModelInfo(
        id=model.id,
        revision=model.revision,
        dimensions=model.dimensions,
        max_tokens=model.max_tokens,
        pooling=model.pooling,
        document_prefix=model.document_prefix,
        query_prefix=model.query_prefix,
        special_tokens=model.special_tokens,
        document_prefix_tokens=model.document_prefix_tokens,
        source=MODEL_SOURCES.to_proto(model.source),
        variant=model.variant,
        noise_floor=model.noise_floor,
        endpoint=model.endpoint,
    )


def model_from_proto(message: pb.ModelInfo) -> ModelInfo:
    """A model's identity from its message; an unknown source reads as remote, the one that leaks."""
    return ModelInfo(
        id=message.id,
        revision=message.revision,
        dimensions=message.dimensions,
        max_tokens=message.max_tokens,
        pooling=message.pooling,
        document_prefix=message.document_prefix,
        query_prefix=message.query_prefix,
        special_tokens=message.special_tokens,
        document_prefix_tokens=message.document_prefix_tokens,
        source=MODEL_SOURCES.of_answer(message.source, ModelSource.REMOTE),
        variant=message.variant,
        noise_floor=message.noise_floor if message.HasField("noise_floor") else None,
        endpoint=message.endpoint,
    )


def floor_to_proto(floor: Floor) -> pb.Floor:
    """The floor in use as a message."""
    return pb.Floor(min_score=floor.min_score, origin=floor.origin)


def floor_from_proto(message: pb.Floor) -> Floor:
    """The floor in use from its message."""
    return Floor(message.min_score, message.origin)


def calibration_to_proto(calibration: Calibration) -> pb.Calibration:
    """A calibration as a message."""
    return pb.Calibration(
        noise_floor=calibration.noise_floor,
        samples=calibration.samples,
        suggested_min_score=calibration.suggested_min_score,
        min_score=calibration.min_score,
        origin=calibration.origin,
        measure_time=timestamp(calibration.measured),
        pair_noise=calibration.pair_noise,
        chunks=calibration.chunks,
    )


def calibration_from_proto(message: pb.Calibration) -> Calibration:
    """A calibration from its message."""
    return Calibration(
        noise_floor=message.noise_floor,
        samples=message.samples,
        suggested_min_score=message.suggested_min_score,
        min_score=message.min_score,
        origin=message.origin,
        measured=seconds_of_timestamp(message.measure_time),
        pair_noise=message.pair_noise,
        chunks=message.chunks,
    )
