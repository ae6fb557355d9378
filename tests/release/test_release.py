"""What users install: the wheel in clean environments of the oldest and newest Python, and what comes with it."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.release import NEWEST, OLDEST, ROOT, bill_of_materials, build, environment, licences, lowest_versions, uv
from tests.support.processes import Home

pytestmark = [pytest.mark.release, pytest.mark.timeout(1800)]

PROJECT_VERSION = re.findall(r'__version__ = "(.+)"', (ROOT / "core/everfind_core/__init__.py").read_text())[0]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("dist"))[0]


def made(where: Path, wheel: Path, python: str, *, lowest: bool = False) -> Path:
    try:
        return environment(where, wheel, python, lowest=lowest)
    except LookupError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def newest(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("newest"), wheel, NEWEST)


@pytest.fixture(scope="module")
def lowest(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("lowest"), wheel, OLDEST, lowest=True)


def run(interpreter: Path, home: Home, *arguments: str) -> str:
    """What the installed command prints."""
    everfind = interpreter.with_name("everfind")
    done = subprocess.run(
        [everfind, *arguments], cwd=home.base, env=home.env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def finds(interpreter: Path, base: Path) -> None:
    """Add, index and search, in Python and Markdown, so that model, grammar and store all run."""
    home = Home(base)
    notes = base / "notes"
    notes.mkdir()
    (notes / "auth.md").write_text("# Auth\n\n## Renewal\n\nA token may be renewed for ten minutes.\n")
    (notes / "queue.py").write_text("def push(heap, item):\n    heap.append(item)\n    sift_up(heap)\n")
    assert run(interpreter, home, "--version").strip().endswith(PROJECT_VERSION)
    run(interpreter, home, "add", str(notes))
    run(interpreter, home, "index")
    answer = json.loads(run(interpreter, home, "search", "--json", "how long can a token be renewed"))
    assert answer["hits"][0]["path"] == "auth.md"
    answer = json.loads(run(interpreter, home, "search", "--json", "push"))
    assert (answer["hits"][0]["path"], answer["hits"][0]["symbol"]) == ("queue.py", "push")


def test_the_newest_python_with_the_newest_packages_finds(newest: Path, tmp_path: Path) -> None:
    finds(newest, tmp_path)


def test_the_oldest_python_with_the_oldest_packages_finds(lowest: Path, tmp_path: Path) -> None:
    finds(lowest, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("python", [OLDEST, "3.12"])
def test_other_pythons_with_the_newest_packages_find(wheel: Path, python: str, tmp_path: Path) -> None:
    interpreter = made(tmp_path / "environment", wheel, python)
    (tmp_path / "home").mkdir()
    finds(interpreter, tmp_path / "home")


@pytest.mark.parametrize("python", [OLDEST, NEWEST])
@pytest.mark.parametrize("extra", ["", *PROJECT["optional-dependencies"]])
def test_every_lower_bound_is_a_version_that_can_be_chosen(python: str, extra: str) -> None:
    bounds: list[str] = PROJECT["optional-dependencies"][extra] if extra else PROJECT["dependencies"]
    declared = dict(re.findall(r"^(.+)[>=]=(.+)$", "\n".join(bounds), re.MULTILINE))
    chosen = lowest_versions(python, extra)
    same = {name: re.fullmatch(rf"{re.escape(bound)}(\.0)*", chosen[name]) for name, bound in declared.items()}
    assert [f"{name}: {chosen[name]}" for name in declared if not same[name]] == []


@pytest.mark.long
def test_unit_tests_pass_with_the_oldest_packages(lowest: Path) -> None:
    uv("pip", "install", "--quiet", "--python", str(lowest), "--group", "test", "--group", "proto")
    quick = ("-m", "not slow and not long", "tests/unit", "--ignore", "tests/unit/house")
    command = [str(lowest), "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", *quick]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:]


def test_the_bill_of_materials_names_all_that_is_installed(newest: Path, tmp_path: Path) -> None:
    bill_of_materials(newest, tmp_path / "everfind.cdx.json")
    bill = json.loads((tmp_path / "everfind.cdx.json").read_text())
    assert (bill["bomFormat"], bill["metadata"]["component"]["name"]) == ("CycloneDX", "everfind")
    names = {component["name"].lower().replace("_", "-") for component in bill["components"]}
    declared = {re.split("[>=]=", entry)[0] for entry in PROJECT["dependencies"]}
    assert declared <= names
    assert all(component["version"] for component in bill["components"])


@pytest.fixture
def planted(newest: Path) -> Iterator[Path]:
    """Metadata of a package under a licence that is refused, in the newest environment."""
    (packages,) = newest.parent.parent.glob("lib/python*/site-packages")
    place = packages / "planted-1.0.dist-info"
    place.mkdir()
    metadata = place / "METADATA"
    metadata.write_text("Metadata-Version: 2.4\nName: planted\nVersion: 1.0\nLicense-Expression: AGPL-3.0-only\n")
    yield newest
    metadata.unlink()
    place.rmdir()


def test_no_licence_is_one_that_is_refused(newest: Path, tmp_path: Path) -> None:
    licences(newest, tmp_path / "licences.md")
    table = (tmp_path / "licences.md").read_text()
    assert re.search(r"\| lancedb +\| 0\.40\.0 +\| Apache", table)
    assert "GPL" not in table


def test_a_refused_licence_is_found(planted: Path, tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError) as failed:
        licences(planted, tmp_path / "licences.md")
    assert "planted" in failed.value.stderr
