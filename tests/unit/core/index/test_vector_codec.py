"""What is stored of a vector stands for it as nearly as it says, wherever the vector came from."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from everfind_core.index.vector_codec import VectorCodec, decoded, single
from everfind_core.index.vector_types import VectorType
from everfind_core.model import Vector

DIMENSIONS = 24
HALF = VectorCodec(VectorType.HALF, DIMENSIONS)
INT8 = VectorCodec(VectorType.INT8, DIMENSIONS)
LARGEST = float(np.finfo(np.float16).max)

vectors = arrays(np.float32, DIMENSIONS, elements=st.floats(-LARGEST, LARGEST, width=32)) | arrays(
    np.float32, DIMENSIONS, elements=st.floats(-1, 1, width=32)
)


def back(codec: VectorCodec, vector: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    found: npt.NDArray[np.floating] = decoded(codec.encode(vector)[None])[0]
    return found


@given(vectors)
def test_half_precision_is_that_of_numpy(vector: Vector) -> None:
    assert back(HALF, vector).tobytes() == vector.astype(np.float16).tobytes()


def test_single_precision_is_that_of_numpy_for_every_finite_half() -> None:
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    finite = halves[np.isfinite(halves)]
    assert single(finite).tobytes() == finite.astype(np.float32).tobytes()
    assert single(finite.reshape(-1, 8)).shape == (finite.size // 8, 8)


@given(vectors)
def test_eight_bits_are_wrong_by_half_a_step_at_most(vector: Vector) -> None:
    half = vector.astype(np.float16).astype(np.float64)
    step = np.abs(half).max() / 127
    assert np.abs(back(INT8, vector) - half).max() <= step / 2 * (1 + 1e-5)


@given(vectors)
def test_the_largest_number_and_zero_stay(vector: Vector) -> None:
    half = vector.astype(np.float16)
    found = back(INT8, vector)
    largest = np.abs(half).argmax()
    assert found[largest].astype(np.float16) == half[largest]
    assert not found[half == 0].any()


@given(vectors, st.sampled_from(VectorType))
def test_what_was_stored_once_is_stored_the_same(vector: Vector, kind: VectorType) -> None:
    """From the model, from where it is kept in half precision, and from the store itself."""
    codec = VectorCodec(kind, DIMENSIONS)
    stored = codec.encode(vector).tobytes()
    assert codec.encode(vector.astype(np.float16)).tobytes() == stored
    assert codec.encode(back(codec, vector)).tobytes() == stored


@given(st.integers(0, 10**6))
def test_spread_vectors_keep_their_direction(seed: int) -> None:
    vector = np.random.default_rng(seed).standard_normal(384).astype(np.float32)
    found = back(VectorCodec(VectorType.INT8, 384), vector)
    assert vector @ found / np.linalg.norm(vector) / np.linalg.norm(found) >= 0.999


@given(st.lists(vectors, max_size=5), st.sampled_from(VectorType))
def test_bytes_one_after_another_are_the_vectors(made: list[Vector], kind: VectorType) -> None:
    codec = VectorCodec(kind, DIMENSIONS)
    stored = [codec.encode(vector) for vector in made]
    found = codec.from_bytes(b"".join(one.tobytes() for one in stored))
    assert found.shape == (len(made), codec.width)
    assert [one.tobytes() for one in found] == [one.tobytes() for one in stored]


@pytest.mark.parametrize(("kind", "nbytes"), [(VectorType.HALF, 768), (VectorType.INT8, 386)])
def test_a_vector_takes_so_many_bytes(kind: VectorType, nbytes: int) -> None:
    codec = VectorCodec(kind, 384)
    assert codec.encode(np.ones(384, np.float32)).nbytes == nbytes
    assert VectorCodec.of_stored(codec.dtype, codec.width) == codec


def test_other_columns_are_of_no_codec() -> None:
    assert VectorCodec.of_stored(np.dtype("f4"), 24) is None
    assert VectorCodec.of_stored(np.dtype("i1"), 2) is None


@pytest.mark.parametrize("codec", [HALF, INT8])
@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (np.full(DIMENSIONS, np.nan), "not finite"),
        (np.full(DIMENSIONS, -np.inf), "not finite"),
        (np.full(DIMENSIONS, 1e6), "not finite"),
        (np.zeros(DIMENSIONS + 8), "has shape"),
    ],
)
def test_what_cannot_be_stored_is_refused(codec: VectorCodec, bad: npt.NDArray[np.float64], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        codec.encode(bad)
