"""Where this repository lies."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""Its root: what tests read of it, they read from here."""
