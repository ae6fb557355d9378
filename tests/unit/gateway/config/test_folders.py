"""Folders: adding, naming, duplicates, removing, and files that keep everything else."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfind_core.errors import (
    ConfigError,
    FolderExistsError,
    FolderNotFoundError,
    FolderUnusableError,
    InvalidRequestError,
    StorageError,
    UntrustedSettingError,
)
from everfind_core.folder_rules import is_readable
from everfind_core.index.directory import (
    FolderCoverage,
    IndexCoverage,
    create_index,
    make_current,
)
from everfind_core.index.manifest import Manifest, Recipe
from everfind_core.model import Coverage, Folder
from everfind_gateway.config.files import SettingsFile, read_project_file, read_user_file
from everfind_gateway.config.folders import add_folders, find_folder, parse_folders, remove_folder
from tests.support.gateway import MODEL

COMMENTED = """\
# my settings
limit = 5  # few
future = { a = 1 }

[[folders]] # the notes
name = "notes"
path = "/notes"
colour = "green"

[unknown.table]
x = 1
"""


@pytest.fixture
def file(user_config: Path) -> SettingsFile:
    return read_user_file(user_config)


def directory(path: Path | str) -> str:
    Path(path).mkdir(parents=True, exist_ok=True)
    return str(path)


def test_adding_resolves_and_names(file: SettingsFile, home: Path) -> None:
    directory("real/api")
    Path("link").symlink_to("real")
    added = add_folders(file, ["link/../link/api"], include=["*.md", "docs/**"])
    assert added == (Folder("api", str(home / "work/real/api"), ("*.md", "docs/**")),)
    assert parse_folders(read_user_file(file.path)) == added


def test_names_are_made_unique(file: SettingsFile) -> None:
    paths = [directory(f"{letter}/api") for letter in "abc"]
    assert [f.name for f in add_folders(file, paths)] == ["api", "api-2", "api-3"]


def test_a_chosen_name_is_kept_or_refused(file: SettingsFile) -> None:
    assert add_folders(file, [directory("a")], name="my notes")[0].name == "my notes"
    with pytest.raises(FolderExistsError, match="the name 'my notes' is taken"):
        add_folders(file, [directory("b")], name="my notes")


@pytest.mark.parametrize("name", ["a/b", "a\nb", "\x1b[31m", " a", "-a", "..", "x" * 101, "\udcff"])
def test_names_that_cannot_be(file: SettingsFile, name: str) -> None:
    with pytest.raises(InvalidRequestError, match="name: "):
        add_folders(file, [directory("a")], name=name)
    assert not file.path.exists()


def test_duplicates_are_refused_also_through_links(file: SettingsFile) -> None:
    add_folders(file, [directory("real")])
    Path("link").symlink_to("real")
    for path in ("real", "real/", "./real/../real", "link", Path("real").absolute()):
        with pytest.raises(FolderExistsError, match="is already added as 'real'"):
            add_folders(file, [str(path)])
    assert len(parse_folders(read_user_file(file.path))) == 1


def test_all_are_added_or_none(file: SettingsFile) -> None:
    with pytest.raises(FolderExistsError):
        add_folders(file, [directory("a"), directory("b"), "a"])
    assert not file.path.exists()


def test_nested_folders_are_allowed(file: SettingsFile) -> None:
    assert [f.name for f in add_folders(file, [directory("a"), directory("a/b")])] == ["a", "b"]


def test_paths_that_cannot_be_added(file: SettingsFile, home: Path) -> None:
    Path("file").write_text("x")
    Path("dangling").symlink_to("nowhere")
    for path, message in (("absent", "does not exist"), ("file", "not a directory"), ("dangling", "not a directory")):
        with pytest.raises(FolderUnusableError, match=message):
            add_folders(file, [path])
    with pytest.raises(InvalidRequestError):
        add_folders(file, [""])
    index = home / "index"
    with pytest.raises(FolderUnusableError, match="in the index itself"):
        add_folders(file, [directory(index / "indexes")], index_dir=index)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_directory_is_refused(file: SettingsFile) -> None:
    Path(directory("secret")).chmod(0)
    with pytest.raises(FolderUnusableError, match="cannot be read"):
        add_folders(file, ["secret"])


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        (b"with space 'quote\" #[x]", "with space 'quote\" #[x]"),
        (b"new\nline", "new_line"),
        (b"caf\xe9", "caf%E9"),
        (b"100%25", "100%2525"),
        ("é".encode(), "é"),
        ("😀".encode(), "😀"),
        (b"-dash", "dash"),
        (b"\t", "_"),
    ],
)
def test_odd_directory_names_survive_the_file(file: SettingsFile, home: Path, raw: bytes, name: str) -> None:
    path = os.fsdecode(raw)
    directory(f"./{path}")
    added = add_folders(file, [f"./{path}"])
    assert added[0].name == name
    read = parse_folders(read_user_file(file.path))
    assert read == added
    assert find_folder(read, f"./{path}") == added[0]
    assert find_folder(read, added[0].root) == added[0]


def test_nfc_and_nfd_names_are_two_folders_with_names_that_differ_visibly(file: SettingsFile) -> None:
    added = add_folders(file, [directory("caf\u00e9"), directory("cafe\u0301")])
    assert [f.name for f in added] == ["caf\u00e9", "cafe\u0301-2"]
    assert added[0].root != added[1].root


def test_names_that_differ_in_case_are_two_folders(file: SettingsFile) -> None:
    assert [f.name for f in add_folders(file, [directory("API"), directory("api")])] == ["API", "api"]


def test_comments_and_unknown_keys_survive(user_config: Path) -> None:
    user_config.write_text(COMMENTED)
    file = read_user_file(user_config)
    add_folders(file, [directory("new")])
    text = user_config.read_text()
    for line in COMMENTED.splitlines():
        assert line in text
    remove_folder(read_user_file(user_config), Folder("new", ""))
    assert tomllib.loads(user_config.read_text()) == tomllib.loads(COMMENTED)
    remove_folder(read_user_file(user_config), Folder("notes", "/notes"))
    values = tomllib.loads(user_config.read_text())
    assert values == {"limit": 5, "future": {"a": 1}, "unknown": {"table": {"x": 1}}}
    assert "# few" in user_config.read_text()


LAYOUTS = {
    "inline": 'folders = [{ path = "/a", name = "x" }, # one\n]\nlimit = 3\n',
    "empty inline": "folders = []\nlimit = 3\n",
    "no last line end": '[[folders]]\npath = "/a"',
    "apart": '[[folders]]\npath = "/a"\n[[other]]\nx = 1\n[[folders]]\npath = "/b"\n',
    "tables below": '[[folders]]\npath = "/a"\n[folders.extra]\nx = 1\n[[z.q]]\nb = 1\n',
    "windows": 'limit = 3\r\n[[folders]]\r\npath = "/a"\r\n',
    "only tables": "[z]\na = 1\n",
}


@pytest.mark.parametrize("text", LAYOUTS.values(), ids=LAYOUTS)
def test_folders_can_be_changed_in_any_layout(user_config: Path, text: str) -> None:
    user_config.write_bytes(text.encode())
    before = parse_folders(read_user_file(user_config))
    added = add_folders(read_user_file(user_config), [directory("new")])
    assert parse_folders(read_user_file(user_config)) == (*before, *added)
    remove_folder(read_user_file(user_config), added[0])
    kept, original = tomllib.loads(user_config.read_text()), tomllib.loads(text)
    assert {"folders": [], **kept} == {"folders": [], **original}


def test_a_broken_file_is_never_overwritten(user_config: Path) -> None:
    user_config.write_text("limit = \n")
    broken = SettingsFile(user_config, user_config.parent)
    with pytest.raises(ConfigError, match=r"config\.toml:1: not valid TOML"):
        add_folders(broken, [directory("new")])
    assert user_config.read_text() == "limit = \n"


def test_mode_and_links_of_the_file_survive(user_config: Path, home: Path) -> None:
    real = home / "dotfiles.toml"
    real.write_bytes(b"# windows\r\nlimit = 5\r\n")
    real.chmod(0o640)
    user_config.symlink_to(real)
    add_folders(read_user_file(user_config), [directory("new")])
    assert user_config.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert real.read_bytes().startswith(b"# windows\r\nlimit = 5\r\n")
    assert sorted(p.name for p in home.glob("*dotfiles*")) == ["dotfiles.toml"]


def test_a_file_that_cannot_be_written_is_an_error(home: Path) -> None:
    blocker = home / "blocker"
    blocker.write_text("")
    with pytest.raises(StorageError, match="cannot write"):
        add_folders(SettingsFile(blocker / "config.toml", blocker), [directory("new")])


def test_adds_at_the_same_time_lose_nothing(user_config: Path, home: Path) -> None:
    names = [f"d{number}" for number in range(6)]
    for name in names:
        directory(name)
    script = (
        "import sys, pathlib; from everfind_gateway.config.folders import add_folders; "
        "from everfind_gateway.config.files import SettingsFile; "
        "p = pathlib.Path(sys.argv[1]); add_folders(SettingsFile(p, p.parent), [sys.argv[2]])"
    )
    running = [subprocess.Popen([sys.executable, "-c", script, str(user_config), name]) for name in names]
    assert [process.wait(60) for process in running] == [0] * len(names)
    assert sorted(f.name for f in parse_folders(read_user_file(user_config))) == names
    assert [p.name for p in user_config.parent.iterdir()] == ["config.toml"]


def test_finding_by_name_comes_first_then_by_path(file: SettingsFile) -> None:
    directory("web")
    added = add_folders(file, [directory("api")], name="web")
    assert find_folder(added, "web").root.endswith("/api")
    assert find_folder(added, "api") == added[0]
    with pytest.raises(FolderNotFoundError, match=r"'wbe'; did you mean 'web'\?"):
        find_folder(added, "wbe")


def test_a_folder_whose_directory_is_gone_can_still_be_found(file: SettingsFile) -> None:
    added = add_folders(file, [directory("gone")])
    Path("gone").rmdir()
    assert find_folder(parse_folders(read_user_file(file.path)), "gone") == added[0]
    assert find_folder(added, str(Path("gone").absolute())) == added[0]


def test_a_project_holds_relative_paths_inside_itself(project: Path) -> None:
    path = project / ".everfind" / "config.toml"
    path.write_text('index_dir = ".everfind/index"\n')
    added = add_folders(read_project_file(path), [directory(project / "src"), str(project)])
    assert [f.root for f in added] == [str(project / "src"), str(project)]
    assert [entry["path"] for entry in read_project_file(path).values["folders"]] == ["src", "."]
    with pytest.raises(UntrustedSettingError, match="outside the project"):
        add_folders(read_project_file(path), [directory("elsewhere")])


def test_a_projects_last_folder_leaves_it_a_project(project: Path) -> None:
    path = project / ".everfind" / "config.toml"
    path.write_text('[[folders]]\nname = "src"\npath = "src"\n\n[later]\nx = 1\n')
    file = read_project_file(path)
    remove_folder(file, parse_folders(file)[0])
    assert read_project_file(path).values == {"folders": [], "later": {"x": 1}}


def keep_in_index(index_dir: Path, *folders: Folder) -> None:
    """An index that covers ``folders``."""
    recipe = Recipe(model="m", chunker="c", lexical="l", extraction="e", secrets="s")
    location = create_index(index_dir, Manifest(recipe, MODEL, created=0.0, everfind_version="0"))
    location.write_coverage(IndexCoverage(tuple(FolderCoverage(folder, Coverage(1, 1)) for folder in folders)))
    make_current(index_dir, location)


def test_a_name_that_the_index_still_has_is_not_given_to_another_directory(file: SettingsFile, home: Path) -> None:
    index_dir, kept = home / "index", directory(home / "old" / "api")
    keep_in_index(index_dir, Folder("api", kept), Folder("mine", str(home / "work" / "web")))
    with pytest.raises(FolderExistsError, match=f"the index still has {kept} by the name 'api'") as caught:
        add_folders(file, [directory("api")], name="api", index_dir=index_dir)
    assert "remove it without --keep-index" in caught.value.hint
    names = [add_folders(file, [directory(path)], index_dir=index_dir)[0].name for path in ("api", kept, "web", "doc")]
    assert names == ["api-2", "api", "mine", "doc"]


def test_a_damaged_index_does_not_stop_adding(file: SettingsFile, home: Path) -> None:
    (home / "index").mkdir()
    (home / "index" / "current.json").write_text("{")
    assert add_folders(file, [directory("a")], index_dir=home / "index")[0].name == "a"


@pytest.mark.parametrize("glob", ["!*.md", "", " ", "/", "a\\", "a" * 1_001])
def test_what_is_no_glob_is_refused(file: SettingsFile, user_config: Path, glob: str) -> None:
    with pytest.raises(InvalidRequestError, match=r"^include: "):
        add_folders(file, [directory("a")], include=["*.py", glob])
    assert not user_config.exists()
    user_config.write_text(f'[[folders]]\npath = "/a"\ninclude = [{json.dumps(glob)}]\n')
    with pytest.raises(ConfigError, match=r"config\.toml:.*include: "):
        parse_folders(read_user_file(user_config))


def test_readable_means_that_it_can_be_listed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "file").write_text("x")
    assert is_readable(str(home))
    assert not is_readable(str(home / "absent"))
    assert not is_readable(str(home / "file"))

    def refuse(path: str) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", path)

    monkeypatch.setattr("os.scandir", refuse)
    assert not is_readable(str(home))


@given(
    name=st.text(min_size=1, max_size=30),
    include=st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=10)),
)
def test_any_name_is_kept_exactly_or_refused(name: str, include: list[str]) -> None:
    with tempfile.TemporaryDirectory() as place:
        file = SettingsFile(Path(place) / "config.toml", Path(place))
        try:
            added = add_folders(file, [place], name=name, include=include)
        except InvalidRequestError:
            assert not file.path.exists()
        else:
            assert added[0].name == name
            assert parse_folders(read_user_file(file.path)) == added
