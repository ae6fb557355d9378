"""From the weights' package to the two committed files."""

from __future__ import annotations

from everfind_embedder.graph.minilm import build_minilm
from everfind_embedder.graph.pack import recipes_bytes, skeleton_bytes, sources
from everfind_embedder.graph.weights import read_bert
from everfind_embedder.loading.checksum import sha256_of
from everfind_embedder.loading.packaged import RECIPES_FILE, SKELETON_FILE, weights_path


def build_artefacts() -> dict[str, bytes]:
    """File name to content, for everything that the builder makes."""
    weights = weights_path()
    bert = read_bert(weights)
    recipes = sources(bert)
    return {
        SKELETON_FILE: skeleton_bytes(build_minilm(bert), recipes),
        RECIPES_FILE: recipes_bytes(recipes, sha256_of(weights)),
    }
