"""A machine on which LanceDB cannot be loaded: the product works, and says once what it does without."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.processes import Home

BLOCKED = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("lance", "lancedb", "pyarrow"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
"""


@pytest.mark.slow
def test_everything_works_and_the_way_it_is_kept_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(BLOCKED)
    env = {"PYTHONPATH": str(tmp_path / "site")}
    home, notes = Home(tmp_path / "home"), tmp_path / "notes"
    home.base.mkdir()
    notes.mkdir()
    (notes / "burrow.md").write_text("# Wombats\n\nA wombat digs a burrow.\n")
    (notes / "dig.py").write_text("def dig(depth):\n    return depth + 1\n\n\ndef burrow():\n    return dig(3)\n")
    home.run("add", str(notes), env=env)
    first = home.run("index", env=env)
    assert first.stderr.count("LanceDB cannot be loaded here (ModuleNotFoundError: No module named 'lance')") == 1
    (notes / "more.md").write_text("# Badgers\n\nA badger digs a sett.\n")
    again = home.run("index", env=env)
    found = home.run("search", "which animal digs a burrow", "--json", env=env)
    assert "LanceDB" not in again.stderr + found.stderr
    assert '"path": "burrow.md"' in found.stdout
    assert "dig.py" in home.run("related", "dig", env=env).stdout
    assert "sett" in home.run("grep", "sett", env=env).stdout
    assert "each byte of the index is as it was written" in home.run("doctor", "--verify", env=env).stdout
    home.run("export", str(tmp_path / "index.tar"), env=env)
    home.run("import", "--overwrite", str(tmp_path / "index.tar"), env=env)
    assert home.json("status", env=env)["coverage"]["files"] == 3
    with_lance = home.json("search", "which animal digs a burrow")
    assert with_lance["hits"][0]["path"] == "burrow.md"
