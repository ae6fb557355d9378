"""Projects with workspaces of their own, answered from memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from everfind_gateway.config.settings import Settings
from tests.support.gateway import FakeEngines, make_hit

_SETTINGS = '[[folders]]\nname = "api"\npath = "."\n'


class Opening:
    """Opens engines whose hits tell the index they are of, and counts."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.closed: list[str] = []

    @contextmanager
    def __call__(self, settings: Settings) -> Iterator[Any]:
        name = settings.index_dir.parent.parent.name
        self.opened.append(name)
        yield FakeEngines(hits=(make_hit(f"{name}.py"),))
        self.closed.append(name)


def write_projects(src: Path, *names: str) -> Path:
    """Projects with folders of their own below ``src``."""
    for name in names:
        (src / name / ".everfind").mkdir(parents=True)
        (src / name / ".everfind" / "config.toml").write_text(_SETTINGS, encoding="utf-8")
    return src
