"""Which tests run: those of containers only where they are asked for by their marker."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests of containers build images and take minutes, so that no other choice of tests includes them."""
    if "containers" in str(config.option.markexpr):
        return
    containers = [item for item in items if item.get_closest_marker("containers")]
    config.hook.pytest_deselected(items=containers)
    items[:] = [item for item in items if not item.get_closest_marker("containers")]
