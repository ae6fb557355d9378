"""A process that lives on while its settings files change."""

from __future__ import annotations

from pathlib import Path

import pytest

from everfind_core.model import Folder
from everfind_gateway.cli.serve import Followed
from everfind_gateway.config.folders import add_folders
from everfind_gateway.config.settings import Settings, load_settings
from everfind_gateway.config.settings_folders import SettingsFolders


@pytest.fixture
def settings(home: Path) -> Settings:
    for name in ("a", "b"):
        (home / "work" / name).mkdir()
    add_folders(load_settings().files.folders_file, ["a"])
    return load_settings()


def folders_of(settings: Settings) -> SettingsFolders:
    return SettingsFolders(settings.files.folders_file, settings.folders, settings.index_dir)


def test_folders_are_those_of_the_file_as_it_is(settings: Settings, home: Path) -> None:
    a, b = (Folder(name, str(home / "work" / name)) for name in ("a", "b"))
    known = folders_of(settings)
    assert known.folders() == (a,)
    add_folders(settings.files.folders_file, ["b"])
    assert known.folders() == (a, b)
    known.check_removable(a)
    known.remove(a)
    assert known.folders() == (b,)
    assert load_settings().folders == (b,)
    assert known.add(str(home / "work" / "a"), "again", ("*.md",)) == Folder("again", a.root, ("*.md",))
    assert [folder.name for folder in load_settings().folders] == ["b", "again"]


def test_a_file_that_breaks_or_goes_changes_nothing_until_it_can_be_read(settings: Settings, home: Path) -> None:
    known = folders_of(settings)
    path = settings.files.folders_file.path
    kept = path.read_text()
    path.write_text("folders = 7\n")
    assert [folder.name for folder in known.folders()] == ["a"]
    path.write_text(kept.replace('"a"', '"renamed"', 1))
    assert [folder.name for folder in known.folders()] == ["renamed"]


def test_a_project_file_is_read_as_one(project: Path) -> None:
    (project / "docs").mkdir()
    (project / ".everfind" / "config.toml").write_text("folders = []\n")
    settings = load_settings(project)
    known = folders_of(settings)
    add_folders(settings.files.folders_file, [str(project / "docs")])
    assert known.folders() == (Folder("docs", str(project / "docs")),)


def test_a_server_tells_whom_it_answers_for_when_folders_change_and_what_needs_a_restart(settings: Settings) -> None:
    digests: list[str] = []
    told: list[str] = []
    followed = Followed(settings, digests.append, told.append)
    followed.look(load_settings())
    add_folders(settings.files.folders_file, ["b"])
    followed.look(now := load_settings())
    followed.look(load_settings())
    assert (digests, told) == ([now.digest], [])
    other = load_settings(flags={"fusion": "rrf"})
    followed.look(other)
    followed.look(other)
    assert digests == [now.digest]
    (line,) = told
    assert "restart `everfind serve`" in line
    followed.look(load_settings())
    assert digests == [now.digest, now.digest]
