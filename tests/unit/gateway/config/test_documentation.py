"""The pages that are made from the code are fresh, and docs/json.md shows what the gateway's own objects hold."""

from __future__ import annotations

import json
import re
import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

from everfind_core.errors import EXIT_CODES
from everfind_gateway.config.setting_values import setting_fields
from tests.support.gateway import FakeEngines, Outcome
from tests.support.repository import ROOT


def test_generated_pages_are_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    made = runpy.run_path(str(ROOT / "scripts" / "generate_docs.py"))
    assert made["main"](["--check"]) == 0, "run `make docs`"


def test_every_setting_and_exit_code_has_its_place() -> None:
    settings = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert [name for name in setting_fields() if f"| `{name}`" not in settings] == []
    cli = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert [code for code in {0, *EXIT_CODES.values()} if f"\n| {code} | " not in cli] == []


@pytest.mark.parametrize("command", ["list", "config", "doctor", "version"])
def test_the_gateways_own_objects(
    everfind: Callable[..., Outcome], engines: FakeEngines, home: Path, command: str
) -> None:
    everfind("add", ".")
    text = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    block = re.search(rf"^## {command}$.*?```json\n(.*?)```", text, re.DOTALL | re.MULTILINE)
    assert block is not None
    shown, made = json.loads(block.group(1)), json.loads(everfind(command, "--json").out)
    assert made.keys() == shown.keys()
    for key, value in shown.items():
        if isinstance(value, list) and value:
            assert made[key][0].keys() == value[0].keys()
