"""What doctor finds in a real index: sound, absent, and with each kind of its files cut short."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import everfind_embedder
from everfind_core.cpu_quota import cpu_quota
from everfind_core.errors import IndexDamagedError
from everfind_core.index.names import INDEXES
from everfind_core.index.store_schema import TABLE_DIRECTORY
from everfind_core.model import HealthFinding, IndexRequest, Severity
from everfind_core.tuning import Tuning, write_tuning
from everfind_embedder.processor import processor_name
from everfind_gateway.config.settings import Settings, load_settings
from everfind_gateway.doctor import check_index, check_languages, check_outgoing, check_speed, examine
from everfind_gateway.languages import foreign_language
from everfind_gateway.wiring.workspace import open_workspace
from tests.support.fakes import FakeEmbedder
from tests.support.notes import KNOWN


@pytest.fixture
def settings(home: Path, user_config: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A folder with a few files, indexed."""
    monkeypatch.setattr(everfind_embedder, "open_embedder", lambda _settings: FakeEmbedder(info=KNOWN))
    folder = home / "notes"
    folder.mkdir()
    for number in range(5):
        (folder / f"n{number}.md").write_text(f"# Wombats\n\nWombat number {number} digs.\n")
    user_config.write_text(f'[[folders]]\nname = "notes"\npath = "{folder}"\n')
    return load_settings()


def index(settings: Settings) -> Path:
    """Index everything; gives the store's table."""
    with open_workspace(settings) as workspace:
        workspace.indexer.index(IndexRequest(), lambda _event: None)
    return next((settings.index_dir / INDEXES).glob(f"*/{TABLE_DIRECTORY}"))


def found(settings: Settings) -> HealthFinding:
    with open_workspace(settings) as workspace:
        return check_index(workspace.searcher)


def test_a_sound_index_is_well(settings: Settings) -> None:
    index(settings)
    assert found(settings) == HealthFinding("index", Severity.OK, "5 files, 5 chunks searchable")


def test_no_index_is_a_warning(settings: Settings) -> None:
    assert found(settings).severity is Severity.WARNING


@pytest.mark.parametrize("pattern", ["data/*.lance", "_versions/*.manifest", "_indices/*/*"])
def test_an_index_whose_files_are_cut_short_is_an_error_with_the_way_out(settings: Settings, pattern: str) -> None:
    table = index(settings)
    for path in table.glob(pattern):
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    finding = found(settings)
    assert finding.severity is Severity.ERROR
    assert "damaged" in finding.message
    assert "doctor --repair" in finding.hint


def test_a_table_on_whose_files_its_library_panics_is_damaged(settings: Settings) -> None:
    for path in index(settings).glob("_versions/*.manifest"):
        content = bytearray(path.read_bytes())
        begin = int.from_bytes(content[-16:-8], "little")
        content[begin : begin + 4] = (2**27).to_bytes(4, "little")  # the message's length: far more than there is
        path.write_bytes(content)
    finding = found(settings)
    assert (finding.severity, "damaged" in finding.message) == (Severity.ERROR, True)
    with open_workspace(settings) as workspace, pytest.raises(IndexDamagedError, match="damaged"):
        workspace.indexer.index(IndexRequest(), lambda _event: None)


def test_a_folder_that_cannot_be_listed_is_an_error(settings: Settings) -> None:
    shutil.rmtree(settings.folders[0].root)
    Path(settings.folders[0].root).write_text("a file")
    folders = [finding for finding in examine(lambda: settings, open_workspace) if finding.check == "folders"]
    assert [finding.severity for finding in folders] == [Severity.ERROR]


def test_what_leaves_the_machine_is_told(settings: Settings) -> None:
    with open_workspace(settings) as workspace:
        status = workspace.indexer.status()
    assert check_outgoing("", status) == HealthFinding("outgoing", Severity.OK, "nothing leaves this machine")
    asked = check_outgoing("far.example:1", status)
    assert (asked.severity, asked.message) == (Severity.WARNING, "what you ask goes to far.example:1")
    sent = replace(status, outgoing=("queries to https://p.example",))
    assert check_outgoing("", sent).message == "queries to https://p.example"
    message = "what you ask goes to far.example:1; the server sends on queries to https://p.example"
    assert check_outgoing("far.example:1", sent).message == message


def test_what_was_measured_to_be_fastest_is_said(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert [found.message for found in check_speed(settings)] == [
        "embedding goes by safe defaults; `everfind doctor --tune` measures what is fastest"
    ]
    kept = Tuning("default", processor_name(), cpu_quota(), 1, 512, 1_100, 1_000, 86_400.0)
    path = tmp_path / "state" / "everfind" / "tuning.json"
    for tuning, said in (
        (kept, "1 thread, runs of 512 tokens: 1,100 tokens a second on 1970-01-02; 10% more than by default"),
        (
            replace(kept, speed=1_000),
            "1 thread, runs of 512 tokens: 1,000 tokens a second on 1970-01-02; the defaults are the fastest",
        ),
        (
            replace(kept, steady=False),
            "1 thread, runs of 512 tokens, the defaults: on 1970-01-02 the machine was too busy to tell what is faster",
        ),
    ):
        write_tuning(path, tuning)
        assert [found.message for found in check_speed(settings)] == [said]
    assert check_speed(settings.model_copy(update={"model": "ollama:bge-m3"})) == []


def languages(settings: Settings) -> list[HealthFinding]:
    with open_workspace(settings) as workspace:
        return check_languages(workspace)


PAGES = {
    "Chinese": "# 袋熊\n\n袋熊的洞穴在地下，它是夜行动物。\n",
    "Japanese": "# ウォンバット\n\nウォンバットは地面の下に穴を掘る動物です。\n",
    "German": "# Wombats\n\nDer Bau liegt unter der Erde und wird nicht für andere gegraben.\n",
    "French": "# Wombats\n\nLe terrier est dans la terre, avec des galeries qui ne sont pas pour les autres.\n",
}


@pytest.mark.parametrize("language", PAGES)
def test_pages_that_the_model_does_not_know_name_a_multilingual_one(settings: Settings, language: str) -> None:
    index(settings)
    assert languages(settings) == []
    (Path(settings.folders[0].root) / "foreign.md").write_text(PAGES[language])
    index(settings)
    [finding] = languages(settings)
    assert finding.severity is Severity.WARNING
    assert f"1 or more of 6 chunks are in {language}: {KNOWN.id} does not know that" in finding.message
    assert "intfloat/multilingual-e5-small" in finding.hint
    assert "everfind index --rebuild" in finding.hint


def test_rare_words_of_one_language_do_not_hide_another(settings: Settings) -> None:
    folder = Path(settings.folders[0].root)
    for number in range(100):
        (folder / f"names{number}.md").write_text(f"# Names\n\nVincent van Gogh, Los Angeles, {number}.\n")
    for number in range(90):
        (folder / f"foreign{number}.md").write_text(f"# 袋熊\n\n袋熊的洞穴在地下，是第 {number} 个。\n")
    index(settings)
    [finding] = languages(settings)
    assert "90 or more of 195 chunks are in Chinese" in finding.message


@pytest.mark.parametrize("known", ["intfloat/multilingual-e5-small", "nobody/knows-this"])
def test_a_model_of_many_languages_or_an_unknown_one_is_not_warned_of(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, known: str
) -> None:
    info = replace(KNOWN, id=known)
    monkeypatch.setattr(everfind_embedder, "open_embedder", lambda _settings: FakeEmbedder(info=info))
    (Path(settings.folders[0].root) / "foreign.md").write_text(PAGES["Chinese"])
    index(settings)
    assert languages(settings) == []


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The burrow is under the ground and it is not for others.", ""),
        ("Der, die, das are the German articles", ""),
        ("val para = los(una)", ""),
        ("O bloco não é usado para isso, mas também com uma regra.", "Portuguese"),
        ("Ключ находится под ковром", "Russian or its like"),
        ("def 名前(self): return self.name_of_the_user_that_signed_in", ""),
        ("", ""),
    ],
)
def test_languages(text: str, language: str) -> None:
    assert foreign_language(text) == language


def floor(settings: Settings) -> HealthFinding:
    [found] = [finding for finding in examine(lambda: settings, open_workspace) if finding.check == "floor"]
    return found


def test_the_floor_in_use_says_where_it_comes_from(
    settings: Settings, user_config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [finding for finding in examine(lambda: settings, open_workspace) if finding.check == "floor"] == []
    index(settings)
    assert floor(settings) == HealthFinding("floor", Severity.OK, "0.350, measured for this model")
    user_config.write_text(f"min_score = 0.25\n{user_config.read_text()}")
    assert floor(load_settings()) == HealthFinding("floor", Severity.OK, "0.250, from the settings")
    unknown = replace(KNOWN, id="nobody/knows-this")
    monkeypatch.setattr(everfind_embedder, "open_embedder", lambda _settings: FakeEmbedder(info=unknown))
    with open_workspace(settings) as workspace:
        workspace.indexer.index(IndexRequest(rebuild=True), lambda _event: None)
    assert (floor(settings).severity, floor(settings).hint) == (
        Severity.WARNING,
        "Index more and run `everfind calibrate`, or set `min_score`.",
    )
