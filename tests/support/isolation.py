"""Tests that see nothing of the machine's own settings."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def isolate(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Let ``home`` be the user's, with no variable of everfind, of a project or of colours set."""
    for name in list(os.environ):
        if name.startswith("EVERFIND_") or name in ("CLAUDE_PROJECT_DIR", "NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(name)
    for kind in ("config", "data", "cache", "state"):
        monkeypatch.setenv(f"XDG_{kind.upper()}_HOME", str(home / kind))
    monkeypatch.setenv("HOME", str(home))
