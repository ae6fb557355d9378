"""everfind as a user runs it: real processes, with settings, index and caches of their own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
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


@contextlib.contextmanager
def process(
    home: Home, *command: str, ready: str, env: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[str]]:
    """A process that has said ``ready`` on stderr; it must end well when told to."""
    log = home.base / f"{command[-1].replace('/', '_')}.log"
    with log.open("w") as stderr:
        started = subprocess.Popen(
            [sys.executable, "-m", *command], cwd=home.base, env={**home.env, **(env or {})}, stderr=stderr, text=True
        )
        try:
            ends = time.monotonic() + 60
            while ready not in log.read_text():
                assert started.poll() is None, log.read_text()
                assert time.monotonic() < ends, log.read_text()
                time.sleep(0.05)
            yield started
        finally:
            started.send_signal(signal.SIGTERM)
            assert started.wait(60) == 0, log.read_text()
            assert "Traceback" not in log.read_text()


def free_address() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"
