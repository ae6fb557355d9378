"""The commands of the tutorial and of the how-to pages, run as they stand and in their order."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.repository import ROOT

PAGES = ("docs/tutorial.md", "docs/howto/searching.md", "docs/howto/indexing.md")


def commands(page: str) -> list[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [command for block in blocks for command in block.splitlines()]


@pytest.mark.slow
def test_the_pages_do_what_they_say(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs" / "images" / "corpus", tmp_path / "shop")
    places = {f"XDG_{kind}_HOME": str(tmp_path / kind) for kind in ("CONFIG", "DATA", "CACHE", "STATE")}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = {**os.environ, **places, "HOME": str(tmp_path), "PATH": path, "VISUAL": "true"}
    printed: dict[str, str] = {}
    for page in PAGES:
        for command in dict.fromkeys(commands(page)):
            if command in printed:
                continue
            ended = subprocess.run(
                ["bash", "-o", "pipefail", "-c", command],
                cwd=tmp_path, env=env, capture_output=True, text=True, timeout=240, check=False,
            )  # fmt: skip
            assert ended.returncode == 0, f"{page}: {command}\n{ended.stderr}"
            printed[command] = ended.stdout + ended.stderr
    assert "shop/docs/payments.md:" in printed['everfind search "where is a refused payment tried again"']
    assert "def charge_with_retries" in printed["everfind cat shop/payments/retry.py:12-20"]
    assert printed['everfind search "which colour has the bicycle shed"'].startswith("no relevant results (best 0.")
    assert "shop/payments/subscription.py" in printed["everfind related charge --callers"]
    assert "nothing leaves this machine" in printed["everfind doctor"]
    assert len(printed) > 15
