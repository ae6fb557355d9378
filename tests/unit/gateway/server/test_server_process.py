"""Commands that live long prepare their process for it before they begin."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from everfind_gateway.server import process
from tests.support.gateway import Outcome


@pytest.mark.parametrize("command", [("serve",), ("mcp",), ("mcp", "--http"), ("web",)])
def test_what_lives_long_holds_little(
    everfind: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    begun: list[str] = []

    def prepared() -> None:
        begun.append("prepared")
        raise KeyboardInterrupt

    monkeypatch.setattr(process, "live_long", prepared)
    everfind(*command)
    assert begun == ["prepared"]
