"""What embeds fastest is measured once, kept, and used where nothing else is said."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from everfind_core.cpu_quota import cpu_quota
from everfind_core.errors import ConfigError, StorageError
from everfind_core.model import ModelInfo, ModelSource, Vectors
from everfind_core.ports import TokenIds
from everfind_core.tuning import Tuning, read_tuning, write_tuning
from everfind_embedder import settings as embedder_settings
from everfind_embedder.encoder import RUN_TOKENS
from everfind_embedder.engine import OnnxEmbedder
from everfind_embedder.loading.loaded import LoadedModel
from everfind_embedder.loading.packaged import DATA_DIRECTORY
from everfind_embedder.processor import processor_name
from everfind_embedder.settings import EmbedderSettings, open_embedder, tune, tuning_for
from everfind_embedder.tokenizer import HubTokenizer
from everfind_embedder.tuning import RUNS, Way, _chosen, measure, ways

INFO = ModelInfo("m", "r", 2, 256, pooling="mean", source=ModelSource.DIRECTORY)
WORDS = HubTokenizer((DATA_DIRECTORY / "tokenizer.json").read_bytes(), source="tokenizer.json")
KEPT = Tuning("default", processor_name(), cpu_quota(), 1, 512, 1100.0, 1000.0, 5.0)


class Ones:
    """An encoder that is done at once, and counts what it is given."""

    def __init__(self) -> None:
        self.runs: list[tuple[int, ...]] = []

    def run(self, ids: TokenIds) -> Vectors:
        self.runs.append(ids.shape)
        return np.ones((len(ids), 2), np.float32)


def model(run_tokens: int = RUN_TOKENS) -> LoadedModel:
    return LoadedModel(INFO, WORDS, Ones(), run_tokens)


def test_the_default_way_is_tried_first_and_each_way_once() -> None:
    tried = ways(4, model())
    assert tried[0] == Way(4, RUN_TOKENS)
    assert sorted(tried, key=lambda way: (way.threads, way.run_tokens)) == [Way(t, r) for t in (2, 4) for r in RUNS]
    assert ways(1, model(1)) == [Way(1, 1)]


@pytest.mark.parametrize(
    ("speeds", "best", "steady"),
    [
        ([[100, 103], [98, 104]], 0, True),  # a little faster may be chance
        ([[100, 120], [98, 90]], 1, True),
        ([[100, 200], [60, 190]], 0, False),  # others want the processor
    ],
)
def test_defaults_stay_unless_another_way_is_clearly_faster(speeds: list[list[float]], best: int, steady: bool) -> None:
    tried = [Way(2, 256), Way(1, 512)]
    found = _chosen(tried, np.array(speeds, float))
    assert (found.best, found.steady) == (tried[best], steady)
    assert found.default_speed == 100
    assert found.speed == max(row[best] for row in speeds)


def test_measuring_ends_after_the_seconds_it_is_given() -> None:
    """By a clock that moves a second each time it is read, each look at a way takes one second."""
    looks = itertools.count()
    found = measure(model(), 2, seconds=4.0, clock=lambda: float(next(looks)))
    assert found.best == Way(2, RUN_TOKENS)
    assert next(looks) == 2 * (2 + 3 * 8)  # two for the sample's size, three rounds of eight ways


def test_what_is_kept_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "state" / "tuning.json"
    assert read_tuning(path) is None
    write_tuning(path, KEPT)
    assert read_tuning(path) == KEPT


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"model": "default"}', "[" * 5_000])
def test_a_file_that_is_none_of_ours_counts_as_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "tuning.json"
    path.write_text(text)
    assert read_tuning(path) is None


@pytest.mark.parametrize(
    "change",
    [
        {"threads": 0},
        {"threads": 10_000},
        {"run_tokens": 0},
        {"run_tokens": 10**30},
        {"cpus": float("inf")},
        {"speed": 10**400},
        {"speed": "fast"},
    ],
)
def test_values_that_cannot_be_count_as_none(tmp_path: Path, change: dict[str, object]) -> None:
    path = tmp_path / "tuning.json"
    write_tuning(path, KEPT)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    assert read_tuning(path) is None


def test_it_is_used_for_its_own_model_and_machine_only(tmp_path: Path) -> None:
    path = tmp_path / "tuning.json"
    settings = EmbedderSettings(tuning=path)
    for kept, used in (
        (KEPT, KEPT),
        (replace(KEPT, model="./other"), None),
        (replace(KEPT, processor="another"), None),
        (replace(KEPT, cpus=KEPT.cpus + 1), None),
    ):
        write_tuning(path, kept)
        assert tuning_for(settings) == used
    assert tuning_for(EmbedderSettings()) is None


def test_the_embedder_takes_threads_and_runs_from_it_and_settings_win(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = Ones()
    monkeypatch.setattr(embedder_settings, "load_model", lambda _settings: LoadedModel(INFO, WORDS, encoder))
    path = tmp_path / "tuning.json"
    write_tuning(path, KEPT)
    for threads, expected in ((0, KEPT.threads), (3, 3)):
        embedder = open_embedder(EmbedderSettings(tuning=path, threads=threads))
        assert isinstance(embedder, OnnxEmbedder)
        assert embedder.threads == expected
        embedder.embed_tokens([np.ones(62, np.int64)] * 8)
        assert encoder.runs.pop() == (8, 64)  # 512 tokens, and not 256
        embedder.close()


def test_a_model_whose_runs_hold_one_text_keeps_to_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = Ones()
    monkeypatch.setattr(embedder_settings, "load_model", lambda _settings: LoadedModel(INFO, WORDS, encoder, 1))
    path = tmp_path / "tuning.json"
    write_tuning(path, KEPT)
    embedder = open_embedder(EmbedderSettings(tuning=path))
    embedder.embed_tokens([np.ones(62, np.int64)] * 8)
    embedder.close()
    assert encoder.runs == [(1, 64)] * 8


def test_tuning_measures_and_keeps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedder_settings, "load_model", lambda _settings: model())
    monkeypatch.setattr("everfind_embedder.tuning.SECONDS", 0.0)
    path = tmp_path / "tuning.json"
    found = tune(EmbedderSettings(tuning=path))
    assert read_tuning(path) == found
    assert (found.model, found.cpus, found.processor) == ("default", cpu_quota(), processor_name())


def test_what_cannot_be_tuned_or_kept_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="nothing to tune"):
        tune(EmbedderSettings("voyage:voyage-code-3", tuning=tmp_path / "tuning.json"))
    monkeypatch.setattr(embedder_settings, "load_model", lambda _settings: model())
    monkeypatch.setattr("everfind_embedder.tuning.SECONDS", 0.0)
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(StorageError, match="cannot be written"):
        tune(EmbedderSettings(tuning=file / "tuning.json"))


def test_the_processors_name(tmp_path: Path) -> None:
    info = tmp_path / "cpuinfo"
    assert processor_name(info) == ""
    info.write_text("processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nflags\t: fpu\n")
    assert processor_name(info) == "Some CPU @ 2 GHz"
