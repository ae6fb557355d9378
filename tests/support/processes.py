"""everfind as a user runs it: real processes, with settings, index and caches of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.index_content import content_of


@dataclass(frozen=True)
class Home:
    """A user's home: everything that everfind keeps lies below ``base``."""

    base: Path

    @property
    def env(self) -> dict[str, str]:
        cleaned = {name: value for name, value in os.environ.items() if not name.startswith(("EVERFIND_", "CLAUDE_"))}
        places = {f"XDG_{kind}_HOME": str(self.base / kind.lower()) for kind in ("CONFIG", "DATA", "CACHE", "STATE")}
        return {**cleaned, **places, "HOME": str(self.base), "ORT_DISABLE_TELEMETRY": "1", "COLUMNS": "120"}

    @property
    def index_directory(self) -> Path:
        return self.base / "data" / "everfind" / "index"

    def start(
        self, *arguments: str, cwd: Path | None = None, env: Mapping[str, str] | None = None
    ) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "everfind_gateway", *arguments],
            cwd=cwd or self.base,
            env={**self.env, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(
        self, *arguments: str, cwd: Path | None = None, code: int = 0, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        process = self.start(*arguments, cwd=cwd, env=env)
        stdout, stderr = process.communicate(timeout=240)
        assert "Traceback" not in stderr, stderr
        assert process.returncode == code, (process.returncode, stdout, stderr)
        return subprocess.CompletedProcess(arguments, process.returncode, stdout, stderr)

    def json(self, command: str, *arguments: str, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> Any:
        return json.loads(self.run(command, "--json", *arguments, cwd=cwd, env=env).stdout)

    def content(self) -> list[tuple[Any, ...]]:
        return content_of(self.index_directory)


def many_files(base: Path) -> Home:
    """A home with a folder that takes a while to index."""
    home = Home(base)
    folder = base / "many"
    folder.mkdir()
    for n in range(400):
        text = "\n".join(f"def function_{n}_{m}():\n    return 'value {n * m}'\n" for m in range(60))
        (folder / f"module_{n}.py").write_text(text, encoding="utf-8")
    home.run("add", str(folder))
    return home
