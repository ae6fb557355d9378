"""The embedder: texts in, unit vectors out."""

from __future__ import annotations

from everfind_embedder.settings import EmbedderSettings, open_embedder

__all__ = ["EmbedderSettings", "open_embedder"]
