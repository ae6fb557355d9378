"""`calibrate`, and what `index` and `status` say of it, over real engines with a fast model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import everfind_embedder
from everfind_core.noise.calibration import LEAST_CHUNKS
from tests.support.fakes import FakeEmbedder
from tests.support.gateway import Outcome
from tests.support.notes import KNOWN

Everfind = Callable[..., Outcome]


@pytest.fixture
def notes(home: Path, user_config: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is added, with enough notes to measure noise on."""
    monkeypatch.setattr(everfind_embedder, "open_embedder", lambda _settings: FakeEmbedder(info=KNOWN))
    folder = home / "notes"
    folder.mkdir()
    for number in range(LEAST_CHUNKS):
        (folder / f"n{number}.md").write_text(f"# Number {number}\n\nWombat {number} digs {number}.\n")
    user_config.write_text(f'[[folders]]\nname = "notes"\npath = "{folder}"\n')
    return folder


def lines(outcome: Outcome, word: str) -> list[str]:
    assert outcome.code == 0, outcome.err
    return [line for line in outcome.out.splitlines() if word in line]


def test_a_run_says_when_it_measured_and_calibrate_says_it_whole(notes: Path, everfind: Everfind) -> None:
    [line] = lines(everfind("index"), "noise")
    assert line == "noise measured: floor in use 0.350, measured for this model"
    assert lines(everfind("index"), "noise") == []
    assert "calibration" not in json.loads(everfind("index", "--json").out)

    found = json.loads(everfind("calibrate", "--json").out)
    assert (found["chunks"], found["min_score"], found["origin"]) == (LEAST_CHUNKS, 0.35, "model")
    told = everfind("calibrate").out.splitlines()
    assert told[0] == f"noise {found['noise_floor']:.3f}: off-topic probe questions find no more (over 100 chunks)"
    assert told[1:] == [
        f"pairs of unrelated chunks stay below {found['pair_noise']:.3f}",
        f"suggested min_score {found['suggested_min_score']:.3f}",
        "in use 0.350, measured for this model",
    ]


def test_a_configured_min_score_is_what_everybody_tells(notes: Path, user_config: Path, everfind: Everfind) -> None:
    user_config.write_text(f"min_score = 0.45\n{user_config.read_text()}")
    [line] = lines(everfind("index"), "noise")
    assert line == "noise measured: floor in use 0.450, from the settings"
    assert lines(everfind("calibrate"), "in use") == ["in use 0.450, from the settings"]
    assert lines(everfind("status"), "floor") == ["floor      0.450, from the settings"]
    status = json.loads(everfind("status", "--json").out)
    assert status["floor"] == {"min_score": 0.45, "origin": "settings"}
    assert status["calibration"]["origin"] == "settings"


def test_too_few_chunks_are_said_to_be(notes: Path, everfind: Everfind) -> None:
    for path in list(notes.iterdir())[1:]:
        path.unlink()
    assert lines(everfind("index"), "noise") == []
    outcome = everfind("calibrate")
    assert outcome.code == 2
    assert f"fewer than {LEAST_CHUNKS} chunks" in outcome.err
    assert lines(everfind("status"), "floor") == ["floor      0.350, measured for this model"]
