"""Which tests run: those of containers, browsers and releases only where they are asked for by their marker.

No property test has a time limit for one example: how fast a machine is at that moment is not what it tests.
"""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("everfind", deadline=None)
settings.load_profile("everfind")

ASKED_FOR = ("browser", "containers", "release")
"""What they need is not on every machine, so that no other choice of tests includes them."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of a marker that the choice of tests does not name."""
    unasked = [marker for marker in ASKED_FOR if marker not in str(config.option.markexpr)]
    left_out = [item for item in items if any(item.get_closest_marker(marker) for marker in unasked)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]
