"""A project's own instance as its user meets it: scaffolded, indexed, and kept up by the editor's hook."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.processes import Home

pytestmark = pytest.mark.slow


def found(home: Home, project: Path, query: str) -> list[str]:
    hits = home.json("search", "--mode", "lexical", query, cwd=project)["hits"]
    return [hit["path"] for hit in hits]


def test_an_edit_is_searchable_soon_after_the_hook(tmp_path: Path) -> None:
    home, project = Home(tmp_path / "home"), tmp_path / "project"
    home.base.mkdir()
    (project / "docs").mkdir(parents=True)
    (project / "docs/a.md").write_text("# Sessions\n\nA session lasts an hour.\n", encoding="utf-8")
    home.run("scaffold", str(project), "--hook")
    home.run("index", cwd=project)
    assert found(home, project, "session") == ["docs/a.md"]
    assert not home.index_directory.exists(), "the project's index lies in the project"

    edited = project / "docs/b.md"
    edited.write_text("# Turtles\n\nA turtle is slow.\n", encoding="utf-8")
    event = json.dumps({"session_id": "s", "tool_input": {"file_path": str(edited)}})
    command = json.loads((project / ".claude/settings.local.json").read_text(encoding="utf-8"))
    assert command["hooks"]["PostToolUse"][0]["hooks"][0]["command"].endswith(" hook")
    hook = subprocess.run(
        [sys.executable, "-m", "everfind_gateway", "hook"],
        input=event,
        cwd=project / "docs",
        env=home.env,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert (hook.stdout, hook.stderr) == ("", "")
    deadline = time.monotonic() + 120
    while found(home, project, "turtle") != ["docs/b.md"]:
        assert time.monotonic() < deadline, "the edit was never indexed"
        time.sleep(1)
