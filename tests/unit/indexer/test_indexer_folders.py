"""The folders that an indexer's process is told in a variable of the environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from everfind_core.errors import ConfigError
from everfind_indexer.__main__ import IndexerServerSettings
from everfind_rpc.serving.service_main import load_settings


def folders(monkeypatch: pytest.MonkeyPatch, given: str) -> list[tuple[str, str]]:
    for name, value in (("FOLDERS", given), ("INDEX_DIR", "/x"), ("EMBEDDER", "localhost:1")):
        monkeypatch.setenv(f"EVERFIND_{name}", value)
    return [(folder.name, folder.root) for folder in load_settings(IndexerServerSettings).folders]


def test_names_paths_and_every_directory_in_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("web", "api", ".cache"):
        (tmp_path / name).mkdir()
    (tmp_path / "file").write_text("")
    assert folders(monkeypatch, f"docs={tmp_path}/web, {tmp_path}/api") == [
        ("docs", f"{tmp_path}/web"),
        ("api", f"{tmp_path}/api"),
    ]
    assert folders(monkeypatch, f"{tmp_path}/*") == [("api", f"{tmp_path}/api"), ("web", f"{tmp_path}/web")]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("a=b", "no NAME=PATH"),
        ("x/y=/tmp", "no NAME=PATH"),
        ("/a/x,/b/x", "two folders are called 'x'"),
        ("/absent/*", "'/absent' cannot be listed"),
    ],
)
def test_what_cannot_be_used_is_named(monkeypatch: pytest.MonkeyPatch, given: str, problem: str) -> None:
    with pytest.raises(ConfigError, match="EVERFIND_FOLDERS") as caught:
        folders(monkeypatch, given)
    assert problem in caught.value.message
