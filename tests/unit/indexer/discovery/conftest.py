"""Small trees and repositories."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

import pytest

Git: TypeAlias = Callable[..., bytes]
Write: TypeAlias = Callable[[Mapping[str, str | bytes]], None]


@pytest.fixture(autouse=True)
def own_git_settings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A global git configuration of the test's own; gives its path."""
    for name in [n for n in os.environ if n.startswith("GIT_")]:
        monkeypatch.delenv(name)
    settings = tmp_path_factory.mktemp("settings") / "gitconfig"
    settings.write_text('[user]\nname = t\nemail = t@example.org\n[protocol "file"]\nallow = always\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(settings.parent))
    return settings


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder under test."""
    directory = tmp_path / "folder"
    directory.mkdir()
    return directory


@pytest.fixture
def write(root: Path) -> Write:
    """Writes files below the folder, directories included."""

    def write(files: Mapping[str, str | bytes]) -> None:
        for name, content in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    return write


@pytest.fixture
def git(root: Path) -> Git:
    """Runs git in the folder, or in ``at`` below it; gives what it prints."""

    def git(*args: str, at: str = ".") -> bytes:
        return subprocess.run(["git", *args], cwd=root / at, check=True, capture_output=True).stdout

    return git
