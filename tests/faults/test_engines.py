"""Runs whose work is done by Ray: the index is that of a run in one process, also where a worker is killed.

They run in a process of their own, because Ray leaves threads, files and handlers behind in one that used it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.ray_runs import NOTES
from tests.support.repository import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.long]  # Ray has limits of its own by the clock


def scenarios(base: Path, *names: str) -> dict[str, Any]:
    """What became of the scenarios."""
    command = [sys.executable, "-m", "tests.support.ray_runs", str(base), *names]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    env = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"} | {"PYTHONPATH": path}
    done = subprocess.run(command, cwd=base, env=env, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return dict(json.loads(done.stdout.splitlines()[-1]))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return scenarios(tmp_path_factory.mktemp("ray"), "plain", "killed", "refused", "changed", "cancelled")


def test_the_work_is_done_by_others_and_the_index_is_the_same(told: dict[str, Any]) -> None:
    plain = told["plain"]
    assert plain["same"]
    assert plain["indexed"] == NOTES
    assert plain["read"] > 0
    assert plain["embedded by"]
    assert told["driver"] not in plain["embedded by"]


def test_a_worker_that_is_killed_in_the_middle_costs_nothing_but_time(told: dict[str, Any]) -> None:
    killed = told["killed"]
    assert killed["died"]
    assert killed["same"]
    assert killed["indexed"] == NOTES
    assert len(killed["embedded by"]) >= 2


def test_what_a_worker_refuses_is_said_as_it_would_be_here(told: dict[str, Any]) -> None:
    assert told["refused"]["error"] == ["ModelUnusableError", "the model is broken", "Mend it."]
    assert told["refused"]["same"]


def test_changes_are_taken_in_and_known_texts_are_not_embedded_again(told: dict[str, Any]) -> None:
    assert told["changed"]["counts"] == [2, 1, 1]
    assert told["changed"]["same"]


def test_a_run_that_is_cancelled_keeps_what_it_committed(told: dict[str, Any]) -> None:
    assert told["cancelled"]["was"]
    assert 0 < told["cancelled"]["left"] < NOTES
    assert told["cancelled"]["same"]


def test_a_task_that_every_worker_dies_of_ends_the_run_and_the_next_one_goes_on(tmp_path: Path) -> None:
    lost = scenarios(tmp_path, "lost")["lost"]
    assert lost["error"][0] == "UnavailableError"
    assert "lost with its worker 4 times" in lost["error"][1]
    assert lost["same"]
