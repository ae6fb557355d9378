"""Runs that die: whatever was committed stays, the next run goes on, and the index equals one made in peace."""

from __future__ import annotations

import contextlib
import random
import shutil
import signal
import subprocess
import sysconfig
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from tests.support.index_content import vectors_of
from tests.support.processes import Home

STDLIB = Path(sysconfig.get_path("stdlib"))
FILES = 40
RUN_SECONDS = 8.0
"""Of processor time: a run over all of them takes ten or less."""

STORED = "indexes/*/chunks.lance/data/*.lance"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """About forty small modules."""
    corpus = tmp_path_factory.mktemp("corpus") / "modules"
    corpus.mkdir()
    small = sorted((p for p in STDLIB.glob("*.py") if 3_000 < p.stat().st_size < 25_000), key=lambda p: p.name)
    for source in small[:FILES]:
        shutil.copy(source, corpus / source.name)
    return corpus


@pytest.fixture(scope="module")
def peaceful(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home with an index made in peace."""
    home = Home(tmp_path_factory.mktemp("peace"))
    home.run("add", str(corpus))
    home.run("index")
    return home


@pytest.fixture(scope="module")
def undisturbed(peaceful: Home) -> list[tuple[object, ...]]:
    """What the index holds after a run in peace."""
    return peaceful.content()


def kill_after(process: subprocess.Popen[str], seconds: float, how: signal.Signals) -> None:
    """Once it has had so many seconds of processor time: on a busy machine a run is then as far as on a quiet one."""
    used = psutil.Process(process.pid)
    with contextlib.suppress(psutil.NoSuchProcess):
        while process.poll() is None and sum(used.cpu_times()[:2]) < seconds:
            time.sleep(0.005)
    if process.poll() is None:
        process.send_signal(how)
    process.communicate(timeout=60)


def check_vectors(home: Home, peaceful: Home) -> None:
    """Each row has the vector of its text, in half precision."""
    found, expected = vectors_of(home.index_directory), vectors_of(peaceful.index_directory)
    assert found.keys() == expected.keys()
    for chunk_id, vector in found.items():
        np.testing.assert_allclose(vector, expected[chunk_id], rtol=0, atol=5e-4)


def kill_and_compare(home: Home, peaceful: Home, seed: int, how: signal.Signals) -> None:
    chance = random.Random(seed)
    for _ in range(3):
        kill_after(home.start("index"), chance.uniform(0.2, RUN_SECONDS), how)
        home.run("search", "anything", code=_search_code(home))
    home.run("index")
    assert home.content() == peaceful.content()
    check_vectors(home, peaceful)
    report = home.json("index")
    assert (report["files"]["indexed"], report["files"]["unchanged"]) == (0, FILES)


def _search_code(home: Home) -> int:
    """Before the first commit there is no index to search, and the answer says so."""
    return 0 if (home.index_directory / "current.json").exists() else 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_killed_runs_lose_nothing(corpus: Path, peaceful: Home, tmp_path: Path, seed: int) -> None:
    home = Home(tmp_path)
    home.run("add", str(corpus))
    kill_and_compare(home, peaceful, seed, signal.SIGKILL)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 150))
def test_many_killed_runs_lose_nothing(corpus: Path, peaceful: Home, tmp_path: Path, seed: int) -> None:
    home = Home(tmp_path)
    home.run("add", str(corpus))
    kill_and_compare(home, peaceful, seed, signal.SIGKILL)


def wait_for(home: Home, pattern: str, process: subprocess.Popen[str]) -> None:
    """Until a file of the index directory is there, while the process runs."""
    deadline = time.monotonic() + 60
    while not any(home.index_directory.glob(pattern)):
        assert process.poll() is None, "the run ended before it came so far"
        assert time.monotonic() < deadline
        time.sleep(0.01)


def interrupt_a_rebuild(home: Home) -> None:
    """Kill a rebuild after its first commits."""
    process = home.start("index", "--rebuild")
    wait_for(home, "indexes/*[2-9]/chunks.lance/data/*.lance", process)
    process.kill()
    process.communicate(timeout=60)
    assert len(list((home.index_directory / "indexes").iterdir())) == 2


@pytest.mark.slow
def test_an_interrupted_rebuild_leaves_the_old_index_answering_and_goes_on(corpus: Path, tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.run("add", str(corpus))
    home.run("index")
    before = home.json("search", "copy a file")
    interrupt_a_rebuild(home)
    after = home.json("search", "copy a file")
    assert [h["path"] for h in after["hits"]] == [h["path"] for h in before["hits"]]
    home.run("index", "--rebuild")
    assert len(list((home.index_directory / "indexes").iterdir())) == 1
    again = home.json("search", "copy a file")
    assert again["generation"] > before["generation"]
    assert [h["path"] for h in again["hits"]] == [h["path"] for h in before["hits"]]


@pytest.mark.slow
def test_a_damaged_half_rebuild_is_begun_anew(
    corpus: Path, undisturbed: list[tuple[object, ...]], tmp_path: Path
) -> None:
    home = Home(tmp_path)
    home.run("add", str(corpus))
    home.run("index")
    interrupt_a_rebuild(home)
    for path in home.index_directory.glob("indexes/*[2-9]/chunks.lance/_versions/*.manifest"):
        path.write_bytes(path.read_bytes()[:7])
    home.run("index", "--rebuild")
    assert home.content() == undisturbed


@pytest.mark.slow
def test_a_folder_removed_during_a_rebuild_is_gone_after_it(corpus: Path, tmp_path: Path) -> None:
    home = Home(tmp_path)
    extra = tmp_path / "extra"
    extra.mkdir()
    (extra / "only.txt").write_text("a wombat lives here\n")
    home.run("add", str(corpus), str(extra))
    home.run("index")
    rebuild = home.start("index", "--rebuild")
    wait_for(home, "indexes/*2/chunks.lance/data/*.lance", rebuild)
    home.run("remove", "extra")
    _, stderr = rebuild.communicate(timeout=240)
    assert rebuild.returncode == 0, stderr
    assert [p.name for p in (home.index_directory / "indexes").iterdir()] == ["000002"]
    assert "only.txt" not in {hit["path"] for hit in home.json("search", "wombat")["hits"]}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "reached"),
    [(signal.SIGINT, ""), (signal.SIGINT, "*.lock")]
    + [(number, STORED) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)],
)
def test_a_signal_ends_in_one_line_with_code_130(
    corpus: Path, undisturbed: list[tuple[object, ...]], tmp_path: Path, number: signal.Signals, reached: str
) -> None:
    home = Home(tmp_path)
    home.run("add", str(corpus))
    process = home.start("index")
    if reached:
        wait_for(home, reached, process)
    else:
        time.sleep(0.3)
    process.send_signal(number)
    _, stderr = process.communicate(timeout=60)
    assert "Traceback" not in stderr
    assert process.returncode in ({130} if reached else {130, -number})
    if process.returncode == 130:
        assert "everfind: interrupted" in stderr
    home.run("index")
    assert home.content() == undisturbed


@pytest.mark.slow
def test_two_runs_at_once_make_one_index(corpus: Path, undisturbed: list[tuple[object, ...]], tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.run("add", str(corpus))
    first, second = home.start("index"), home.start("index")
    for process in (first, second):
        _, stderr = process.communicate(timeout=240)
        assert process.returncode == 0, stderr
    assert home.content() == undisturbed
    holder = home.start("index", "--force")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and holder.poll() is None:
        refused = home.start("index", "--no-wait")
        _, stderr = refused.communicate(timeout=60)
        if refused.returncode == 6:
            assert f"process {holder.pid}" in stderr
            break
    else:
        pytest.fail("the second writer was never refused")
    holder.communicate(timeout=240)
