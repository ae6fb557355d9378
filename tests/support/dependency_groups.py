"""What the dependency groups of pyproject.toml install."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from tests.support.repository import ROOT

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def requirements(group: str) -> set[str]:
    """A dependency group's requirements, with those of the groups that it includes."""
    entries: list[Any] = PYPROJECT["dependency-groups"][group]
    plain = {entry for entry in entries if isinstance(entry, str)}
    return plain.union(*(requirements(entry["include-group"]) for entry in entries if isinstance(entry, dict)))


def packages(group: str) -> set[str]:
    return {re.split(r"[><=~!\[; ]", requirement)[0] for requirement in requirements(group)}
