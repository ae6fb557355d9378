"""``path_boosts`` and what a folder says for itself: from the settings to the order of hits."""

from __future__ import annotations

from pathlib import Path

import pytest

from everfind_core.errors import ConfigError
from everfind_core.model import IndexRequest
from everfind_gateway.config.settings import Settings, load_settings
from everfind_gateway.requests import SearchOptions, search_request
from everfind_gateway.wiring import local
from everfind_gateway.wiring.workspace import open_workspace
from tests.support.fakes import FakeEmbedder


def hits(settings: Settings, **options: object) -> list[tuple[str, float]]:
    """Folder, path and score of the hits for a question that both folders answer."""
    with open_workspace(settings) as workspace:
        workspace.indexer.index(IndexRequest(), lambda _event: None)
        request = search_request(settings, "wombats dig", SearchOptions(**options))  # type: ignore[arg-type]  # real fields
        return [(f"{hit.folder}/{hit.path}", hit.score) for hit in workspace.searcher.search(request).hits]


def test_boosts_move_ranks_and_never_scores(home: Path, user_config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "_open_embedder", lambda _settings: FakeEmbedder())
    texts = {
        "notes/a.md": "Wombats dig.\n",
        "notes/old/b.md": "Wombats dig deep.\n",
        "wiki/old/c.md": "Wombats: dig!\n",
    }
    for name, text in texts.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    folders = f'[[folders]]\npath = "{home}/notes"\n[[folders]]\npath = "{home}/wiki"\n'
    user_config.write_text(folders)
    plain = hits(load_settings())
    assert len(plain) == 3
    user_config.write_text(f'{folders}path_boosts = {{ "old/" = 10 }}\n')
    boosted = hits(load_settings())
    assert boosted[0][0] == "wiki/old/c.md"
    assert dict(boosted) == dict(plain)
    user_config.write_text(f'[path_boosts]\n"old" = 0.1\n{folders}')
    lowered = hits(load_settings())
    assert lowered[0][0] == "notes/a.md"
    assert dict(lowered) == dict(plain)
    user_config.write_text(f'{folders}default_exclude = ["old"]\n')
    assert sorted(path for path, _ in hits(load_settings())) == ["notes/a.md", "notes/old/b.md"]
    assert len(hits(load_settings(), everything=True)) == 3


def test_boosts_from_the_environment(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERFIND_PATH_BOOSTS", "reference/=1.15, a=b.md=0.5")
    assert load_settings().path_boosts == {"reference/": 1.15, "a=b.md": 0.5}
    for wrong in ("reference/", "reference/=much", "reference/=0", "reference/=11"):
        monkeypatch.setenv("EVERFIND_PATH_BOOSTS", wrong)
        with pytest.raises(ConfigError, match="EVERFIND_PATH_BOOSTS"):
            load_settings()


@pytest.mark.parametrize(
    "line",
    ["default_exclude = 3", 'default_exclude = ["!a"]', "path_boosts = 3", 'path_boosts = { "a" = 0 }',
     'path_boosts = { "a" = "b" }', 'path_boosts = { "!a" = 1.1 }'],
)  # fmt: skip
def test_what_a_folder_cannot_say(home: Path, user_config: Path, line: str) -> None:
    user_config.write_text(f'[[folders]]\npath = "{home}"\nname = "mine"\n{line}\n')
    with pytest.raises(ConfigError, match=r"folder 'mine'"):
        load_settings()


def test_a_folders_tuning_is_part_of_the_digest(home: Path, user_config: Path) -> None:
    digests = set()
    for line in ("", 'default_exclude = ["a"]', 'path_boosts = { "a" = 1.5 }'):
        user_config.write_text(f'[[folders]]\npath = "{home}"\n{line}\n')
        settings = load_settings()
        assert settings.warnings == ()
        digests.add(settings.digest)
    assert len(digests) == 3
