"""`import-config`: what is taken over from each system, what is not, and that nothing of ours is lost."""

from __future__ import annotations

import contextlib
import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from everfind_core.errors import ConfigError
from everfind_gateway.config.setting_values import SettingValues
from everfind_gateway.config.settings import load_settings
from everfind_gateway.migration import docs_rag, semantic_code, semantic_search
from everfind_gateway.migration.writing import check
from tests.support.gateway import Outcome
from tests.support.repository import ROOT

Run = Callable[..., Outcome]


def imported(everfind: Run, *arguments: str | Path) -> dict[str, Any]:
    """What was written."""
    ended = everfind("import-config", *arguments, "--json", "--yes")
    assert (ended.code, ended.err) == (0, "written; `everfind index` makes the folders searchable\n")
    written: dict[str, Any] = json.loads(ended.out)
    assert written["written"]
    return written


def left_out(written: dict[str, Any]) -> dict[str, str]:
    return {one["key"]: one["why"] for one in written["left_out"]}


@pytest.fixture
def semantic_search_config(home: Path) -> Path:
    """As that system's `add` and its users write it, in its usual place."""
    for name in ("code/api", "notes"):
        (home / name).mkdir(parents=True)
    file = home / "config" / "semantic-search" / "config.json"
    file.parent.mkdir(parents=True)
    text = {
        "defaultRoots": [str(home / "code" / "api"), "../../notes", "/gone"],
        "storeBackend": "lancedb",
        "defaultTopK": 5,
        "chunk": {"targetTokens": 180, "overlapTokens": 35, "hardTokenLimit": 254},
        "modelName": "Xenova/all-MiniLM-L6-v2",
        "hybridSearch": False,
        "rrfK": 40,
        "maxFileSizeBytes": 300000,
        "defaultIgnorePatterns": ["node_modules/", "fixtures/"],
        "whatever": 1,
    }
    file.write_text(json.dumps(text))
    file.with_name(".indexignore").write_text("*.snap\n")
    return file


def test_semantic_search_mcp(everfind: Run, semantic_search_config: Path, user_config: Path, home: Path) -> None:
    written = imported(everfind, "semantic-search-mcp")
    assert written["source"] == str(semantic_search_config)
    settings = tomllib.loads(user_config.read_text())
    assert [folder["path"] for folder in settings.pop("folders")] == [str(home / "code/api"), str(home / "notes")]
    assert settings == {
        "limit": 5, "chunk_tokens": 180, "chunk_overlap": 35, "mode": "semantic", "rrf_k": 40, "max_file_bytes": 300000,
    }  # fmt: skip
    assert user_config.with_name(".indexignore").read_text() == "fixtures/\n*.snap\n"
    assert left_out(written) == {
        "storeBackend": "there is one store",
        "modelName": "it is the default model here, too",
        "whatever": "everfind knows no such key",
        "chunk.hardTokenLimit": "the model's window is the limit",
        "/gone": "it is no directory on this machine",
    }
    assert [folder["name"] for folder in json.loads(everfind("list", "--json").out)["folders"]] == ["api", "notes"]


def test_what_is_there_already_stays(
    everfind: Run, semantic_search_config: Path, user_config: Path, home: Path
) -> None:
    user_config.write_text("# mine\nlimit = 7\n")
    user_config.with_name(".indexignore").write_text("mine\n")
    everfind("add", home / "notes", "--name", "own")
    written = imported(everfind, "semantic-search-mcp", semantic_search_config)
    assert user_config.read_text().startswith("# mine\nlimit = 7\n")
    assert user_config.with_name(".indexignore").read_text() == "mine\n"
    why = left_out(written)
    assert why["limit"] == f"{user_config} has it already, as 7"
    assert why[str(home / "notes")] == "it is added already"
    assert why[".indexignore"].endswith("add to it by hand: fixtures/, *.snap")
    again = everfind("import-config", "semantic-search-mcp", "--yes")
    assert (again.code, again.err) == (0, "there is nothing to take over\n")


def test_the_object_is_the_one_that_is_documented(everfind: Run, semantic_search_config: Path) -> None:
    page = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    shown = json.loads(page.split("## import-config\n\n```json\n")[1].split("```")[0])
    made = json.loads(everfind("import-config", "semantic-search-mcp", "--json").out)
    assert made.keys() == shown.keys()
    assert made["folders"][0].keys() == shown["folders"][0].keys()
    assert made["left_out"][0].keys() == shown["left_out"][0].keys()


def test_nothing_is_written_without_consent(everfind: Run, semantic_search_config: Path, user_config: Path) -> None:
    ended = everfind("import-config", "semantic-search-mcp")
    assert (ended.code, ended.err) == (0, "nothing is written; --yes writes it\n")
    assert "  setting  mode = semantic\n" in ended.out
    assert not user_config.exists()
    assert json.loads(everfind("import-config", "semantic-search-mcp", "--json").out)["written"] is False
    assert not user_config.exists()


def docs_rag_config(project: Path, **more: object) -> Path:
    (project / "docs").mkdir(parents=True, exist_ok=True)
    file = project / ".rag" / "config.json"
    file.parent.mkdir(exist_ok=True)
    text = {
        "vaultPath": "..",
        "indexPath": "index.db",
        "defaultExclude": ["archive", "plans"],
        "pathBoosts": {"reference/": 1.15},
        "minScore": 0.55,
        "relativeCutoff": 0.88,
        "lexicalMaxDocFreq": 0.01,
        "serverName": "proj-docs",
        "toolDescription": "The decisions of proj",
    }
    file.write_text(json.dumps(text | more))
    return file


def test_docs_rag_mcp(everfind: Run, home: Path, user_config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    docs_rag_config(home / "proj", include=["**/docs/**/*.md"])
    monkeypatch.chdir(home / "proj" / "docs")
    written = imported(everfind, "docs-rag-mcp")
    assert tomllib.loads(user_config.read_text()) == {
        "mcp_name": "proj-docs",
        "mcp_description": "The decisions of proj",
        "folders": [
            {
                "name": "proj",
                "path": str(home / "proj"),
                "include": ["**/docs/**/*.md"],
                "default_exclude": ["archive", "plans"],
                "path_boosts": {"reference/": 1.15},
            }
        ],
    }
    why = left_out(written)
    assert why["minScore"] == "it was measured for another model; `everfind calibrate` measures this one"
    assert why.keys() == {"minScore", "relativeCutoff", "indexPath", "lexicalMaxDocFreq"}
    assert everfind("config", "mcp_name").out.startswith("mcp_name           proj-docs")


def test_a_vault_that_is_the_whole_machine_is_left_out(everfind: Run, home: Path, user_config: Path) -> None:
    config = docs_rag_config(home / "proj", vaultPath="/")
    written = imported(everfind, "docs-rag-mcp", config)
    assert left_out(written)["/"].startswith("it is everything on this machine")
    assert "folders" not in tomllib.loads(user_config.read_text())


def test_a_named_model_comes_with_its_floor_and_two_vaults_keep_their_own_rules(
    everfind: Run, home: Path, user_config: Path
) -> None:
    first = docs_rag_config(home / "one", embedModel="bge-m3", ollamaUrl="http://localhost:11434")
    second = docs_rag_config(home / "two", pathBoosts={"adr/": 1.3}, defaultExclude="old")
    imported(everfind, "docs-rag-mcp", first)
    written = imported(everfind, "docs-rag-mcp", second)
    settings = tomllib.loads(user_config.read_text())
    assert (settings["model"], settings["model_endpoint"]) == ("ollama:bge-m3", "http://localhost:11434")
    assert (settings["min_score"], settings["relative_cutoff"]) == (0.55, 0.88)
    one, two = settings["folders"]
    assert (one["include"], one["path_boosts"], one["default_exclude"]) == (
        ["*.md"], {"reference/": 1.15}, ["archive", "plans"],
    )  # fmt: skip
    assert (two["path_boosts"], two["default_exclude"]) == ({"adr/": 1.3}, ["old"])
    assert left_out(written)["mcp_name"] == f"{user_config} has it already, as 'proj-docs'"


def test_a_model_that_is_no_text_is_left_out_with_its_floor(everfind: Run, home: Path, user_config: Path) -> None:
    written = imported(everfind, "docs-rag-mcp", docs_rag_config(home / "one", embedModel={"name": "bge-m3"}))
    assert tomllib.loads(user_config.read_text()).keys().isdisjoint({"model", "min_score"})
    why = left_out(written)
    assert why["embedModel"] == "it is no text"
    assert "minScore" in why


def test_a_project_takes_only_what_it_may(everfind: Run, project: Path, user_config: Path) -> None:
    ours = project / ".everfind" / "config.toml"
    ours.write_text("folders = []\n")
    source = docs_rag_config(project)
    ended = everfind("--config", project, "import-config", "docs-rag-mcp", source, "--yes", "--json")
    written = json.loads(ended.out)
    assert tomllib.loads(ours.read_text())["folders"][0]["path"] == "."
    assert left_out(written)["mcp_name"] == "a project's file must not set it: import into your own settings"
    assert not user_config.exists()


ENV = """
# keys
VOYAGE_API_KEY="secret-key"  # mine
export SCM_EMBED_MODEL=voyage-code-3
SCM_RERANK_BACKEND='voyage'
SCM_RERANK_MIN_INTERVAL=6.2
SCM_TOP_N=12
SCM_TOP_K=50
SCM_WATCH=0
SCM_NEW_THING=1
DATABASE_URL=postgres://elsewhere
"""


def test_semantic_code_mcp_from_its_env_file(everfind: Run, user_config: Path) -> None:
    Path(".env").write_text(ENV)
    written = imported(everfind, "semantic-code-mcp")
    assert tomllib.loads(user_config.read_text()) == {
        "model": "voyage:voyage-code-3", "reranker": "voyage:rerank-2.5", "rerank": True, "reranker_interval": 6.2,
        "limit": 12, "watch": False,
    }  # fmt: skip
    why = left_out(written)
    assert why.keys() == {"folders", "VOYAGE_API_KEY", "SCM_TOP_K", "SCM_NEW_THING"}
    assert "secret-key" not in json.dumps(written) + user_config.read_text()


def test_semantic_code_mcp_from_a_registration(everfind: Run, user_config: Path) -> None:
    server = {"command": "uvx", "args": ["semcode-mcp"], "env": {"VOYAGE_API_KEY": "k", "SCM_TOP_N": "20"}}
    other = {"command": "other", "env": {"SCM_TOP_N": "99"}}
    Path(".mcp.json").write_text(json.dumps({"mcpServers": {"semantic-code": server, "other": other}}))
    written = imported(everfind, "semantic-code-mcp")
    assert tomllib.loads(user_config.read_text()) == {"limit": 20}
    assert "runs here and sends nothing" in left_out(written)["SCM_EMBED_MODEL"]


def test_the_local_mode_of_semantic_code_mcp_names_a_model_to_choose(everfind: Run) -> None:
    Path(".env").write_text("SCM_EMBED_BACKEND=local\nSCM_RERANK_BACKEND=off\nSCM_TOP_N=many\n")
    ended = everfind("import-config", "semantic-code-mcp", "--yes")
    assert (ended.code, ended.err) == (0, "there is nothing to take over\n")
    assert "Qwen/Qwen3-Embedding-0.6B" in ended.out
    assert "  not      limit: 'many' cannot be used:" in ended.out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("docs-rag-mcp",), 3, "no configuration of docs-rag-mcp is where it usually is"),
        (("docs-rag-mcp", "gone.json"), 3, "cannot read"),
        (("docs-rag-mcp", "broken.json"), 3, "broken.json is no JSON object"),
        (("semantic-code-mcp", "empty.env"), 3, "holds no variable of semantic-code-mcp"),
        (("grep",), 2, "SYSTEM: 'grep' is not one of"),
    ],
)
def test_what_cannot_be_read_is_said(everfind: Run, arguments: tuple[str, ...], code: int, message: str) -> None:
    Path("broken.json").write_text("{")
    Path("empty.env").write_text("A=1\n")
    ended = everfind("import-config", *arguments)
    assert (ended.code, ended.out) == (code, "")
    assert message in ended.err


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
KEYS = [
    "defaultRoots", "defaultRoot", "chunk", "modelName", "hybridSearch", "defaultTopK", "defaultIgnorePatterns",
    "vaultPath", "include", "defaultExclude", "pathBoosts", "embedModel", "minScore", "mcpServers",
]  # fmt: skip


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(document=st.dictionaries(st.sampled_from(KEYS), JSON))
def test_whatever_stands_in_a_file_ends_in_a_plan_or_an_error(document: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(document))
    for importer in (semantic_search, docs_rag, semantic_code):
        with contextlib.suppress(ConfigError):
            checked = check(importer.read(file), load_settings())
            assert not checked.folders or checked.folders[0].path.startswith("/")
            SettingValues(**checked.settings)
