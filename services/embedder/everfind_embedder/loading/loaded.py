"""A model ready for use."""

from __future__ import annotations

from dataclasses import dataclass

from everfind_core.model import ModelInfo
from everfind_embedder.encoder import RUN_TOKENS, Encoder
from everfind_embedder.tokenizer import HubTokenizer


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """Identity, tokenizer and encoder. ``run_tokens`` is 1 where sequences of one run would change each other."""

    info: ModelInfo
    tokenizer: HubTokenizer
    encoder: Encoder
    run_tokens: int = RUN_TOKENS
