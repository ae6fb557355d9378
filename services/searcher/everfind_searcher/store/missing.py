"""What a reader says where there is nothing to read."""

from __future__ import annotations

from pathlib import Path

from everfind_core.errors import IndexMissingError


def missing(directory: Path) -> IndexMissingError:
    """There is no table in ``directory``."""
    return IndexMissingError(f"there is no index in {directory}", hint="Run `everfind index`.")
