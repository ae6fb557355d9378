"""Settings: which source wins, what a project's file may say, and what a wrong file gets."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from everfind_core.errors import ConfigError, InvalidRequestError, UntrustedSettingError
from everfind_gateway.config.setting_values import project_settings, setting_fields
from everfind_gateway.config.settings import load_settings


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_defaults_follow_xdg(home: Path) -> None:
    settings = load_settings()
    assert settings.index_dir == home / "data" / "everfind" / "index"
    assert settings.model_cache_dir == home / "cache" / "everfind" / "models"
    assert settings.user_ignore == home / "config" / "everfind" / ".indexignore"
    assert (settings.limit, settings.mode, settings.rrf_k, settings.chunk_tokens) == (10, "hybrid", 60, 200)
    assert settings.folders == ()
    assert {origin.source for origin in settings.origins.values()} == {"default"}


def test_each_source_wins_over_the_ones_below(
    user_config: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(user_config, "limit = 1\nrrf_k = 11\nmode = 'lexical'\nthreads = 3\n")
    project_file = write(project / ".everfind" / "config.toml", "limit = 2\nrrf_k = 22\nmode = 'semantic'\n")
    monkeypatch.setenv("EVERFIND_LIMIT", "3")
    monkeypatch.setenv("EVERFIND_RRF_K", "33")
    settings = load_settings(cwd=project, flags={"limit": 4, "mode": None})
    assert (settings.limit, settings.rrf_k, settings.mode, settings.threads) == (4, 33, "semantic", 3)
    origins = {name: str(settings.origins[name]) for name in ("limit", "rrf_k", "mode", "threads", "fusion")}
    assert origins == {
        "limit": "flag --limit",
        "rrf_k": "environment EVERFIND_RRF_K",
        "mode": f"project {project_file}",
        "threads": f"user {user_config}",
        "fusion": "default",
    }


def test_an_empty_variable_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERFIND_LIMIT", "")
    assert load_settings().limit == 10


def test_globs_in_the_environment_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERFIND_DEFAULT_EXCLUDE", "archive, *.lock,")
    assert load_settings().default_exclude == ("archive", "*.lock")


def test_paths_start_where_their_source_is(user_config: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(user_config, 'index_dir = "idx"\nmodel_cache_dir = "~/m"\nmodel = "~/model"\n')
    settings = load_settings()
    assert settings.index_dir == user_config.parent / "idx"
    assert settings.model_cache_dir == home / "m"
    assert settings.model == str(home / "model")
    monkeypatch.setenv("EVERFIND_INDEX_DIR", "here")
    assert load_settings().index_dir == Path.cwd() / "here"


def test_project_is_found_from_below_and_by_claude(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project / ".everfind" / "config.toml", "limit = 7\n")
    below = project / "a" / "b"
    below.mkdir(parents=True)
    assert load_settings(cwd=below).limit == 7
    assert load_settings().limit == 10
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(below))
    assert load_settings().limit == 7


def test_config_selects_a_project_or_replaces_the_users_file(
    project: Path, user_config: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(user_config, "rrf_k = 11\n")
    file = write(project / ".everfind" / "config.toml", "limit = 7\n")
    for named in (project, project / ".everfind", file):
        settings = load_settings(named)
        assert (settings.limit, settings.rrf_k) == (7, 11)
    other = write(home / "other.toml", "max_file_bytes = 9\n")
    settings = load_settings(other, cwd=project)
    assert (settings.limit, settings.rrf_k, settings.max_file_bytes) == (10, 60, 9)
    monkeypatch.setenv("EVERFIND_CONFIG", str(file))
    assert load_settings().limit == 7
    with pytest.raises(ConfigError, match="does not exist"):
        load_settings(home / "absent.toml")


def test_a_project_with_folders_has_its_own_index(project: Path, user_config: Path) -> None:
    write(user_config, f'index_dir = "/elsewhere"\n[[folders]]\npath = "{user_config.parent}"\n')
    write(project / ".everfind" / "config.toml", '[[folders]]\nname = "docs"\npath = "docs"\n')
    settings = load_settings(cwd=project)
    assert settings.index_dir == project / ".everfind" / "index"
    assert [(f.name, f.root) for f in settings.folders] == [("docs", str(project / "docs"))]


def test_a_project_with_preferences_only_uses_the_users_folders(project: Path, user_config: Path) -> None:
    write(user_config, f'index_dir = "/elsewhere"\n[[folders]]\npath = "{user_config.parent}"\n')
    write(project / ".everfind" / "config.toml", "limit = 3\n")
    settings = load_settings(cwd=project)
    assert (settings.limit, settings.index_dir, len(settings.folders)) == (3, Path("/elsewhere"), 1)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('server = "dns:///evil:1"', "server"),
        ('server_address = "evil:1"', "server_address"),
        ('provider = "openai"', "provider"),
        ('embedding_endpoint = "https://evil"', "embedding_endpoint"),
        ('hub_endpoint = "https://evil"', "hub_endpoint"),
        ('model = "./weights"', "model"),
        ('model_path = "./weights"', "model_path"),
        ('model_cache_dir = "./cache"', "model_cache_dir"),
        ('token = "x"', "token"),
        ("redact_secrets = false", "redact_secrets"),
        ("max_file_bytes = 1000000000", "max_file_bytes"),
        ("threads = 64", "threads"),
        ("concurrency = 64", "concurrency"),
        ("max_query_bytes = 1", "max_query_bytes"),
        ('command = "sh"', "command"),
        ('workspace_roots = ["/"]', "workspace_roots"),
        ('[expansion]\nurl = "https://evil"', "expansion"),
        ('[[after]]\nrun = "sh"', "after"),
        ('"Server-URL" = "x"', "Server-URL"),
        ('index_dir = "../outside"', "index_dir"),
        ('index_dir = "/tmp/outside"', "index_dir"),
        ('index_dir = "~/outside"', "index_dir"),
        ('index_dir = "link/index"', "index_dir"),
        ('[[folders]]\npath = "/etc"', "folders"),
        ('[[folders]]\npath = ".."', "folders"),
        ('[[folders]]\npath = "link"', "folders"),
        ('[[folders]]\npath = "a/../../b"', "folders"),
    ],
)
def test_a_projects_file_is_refused_more_than_preferences(project: Path, home: Path, text: str, key: str) -> None:
    (project / "link").symlink_to(home)
    file = write(project / ".everfind" / "config.toml", f"# ours\n{text}\n")
    with pytest.raises(UntrustedSettingError) as caught:
        load_settings(cwd=project)
    assert str(caught.value).startswith(f"{file}:2: ")
    assert key in str(caught.value)
    assert caught.value.hint
    assert caught.value.details == {"file": str(file), "setting": key}


def test_the_users_own_file_may_say_what_a_project_may_not(user_config: Path) -> None:
    write(user_config, 'redact_secrets = false\nmax_file_bytes = 10\nmodel = "org/name"\n')
    settings = load_settings()
    assert (settings.redact_secrets, settings.max_file_bytes, settings.model) == (False, 10, "org/name")


def test_a_project_may_set_preferences(project: Path) -> None:
    text = 'display_name = "Ours"\nlimit = 5\nchunk_tokens = 100\ndefault_exclude = ["archive"]\nindex_dir = "idx"\n'
    write(project / ".everfind" / "config.toml", text)
    settings = load_settings(cwd=project)
    assert settings.display_name == "Ours"
    assert (settings.limit, settings.chunk_tokens, settings.default_exclude) == (5, 100, ("archive",))
    assert settings.index_dir == project / "idx"


def test_what_a_project_may_set_is_a_short_list() -> None:
    assert project_settings() == {
        "chunk_overlap", "chunk_tokens", "code_chunk_tokens", "default_exclude", "display_name", "fusion",
        "hidden_statuses", "index_dir", "lifecycle_words", "limit", "min_score", "mode", "path_boosts",
        "relative_cutoff", "rrf_k",
    }  # fmt: skip


def test_an_index_is_written_on_a_disk_and_published_at_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERFIND_PUBLISH_TO", "s3://bucket/team/")
    assert load_settings().publish_to == "s3://bucket/team"
    monkeypatch.setenv("EVERFIND_PUBLISH_TO", "bucket")
    with pytest.raises(
        ConfigError, match="cannot be used: 'bucket' is no s3://BUCKET/PREFIX with a bucket of 3 to 63 "
    ):
        load_settings()
    monkeypatch.setenv("EVERFIND_PUBLISH_TO", "")
    monkeypatch.setenv("EVERFIND_INDEX_DIR", "s3://bucket/team")
    with pytest.raises(ConfigError, match="an index is written on a disk; `publish_to` copies it"):
        load_settings()


def test_a_projects_file_that_links_elsewhere_is_refused(project: Path, home: Path) -> None:
    target = write(home / "mine.toml", "limit = 3\n")
    (project / ".everfind" / "config.toml").symlink_to(target)
    with pytest.raises(UntrustedSettingError, match="outside the project"):
        load_settings(cwd=project)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("limit = 5\nmode = \n", 2),
        ("limit = 5\n\n[folders\n", 3),
        ('name = "unclosed\n', 1),
        ("limit = 1\nlimit = 2\n", 2),
        ('text = """\nnever closed', 2),
    ],
)
def test_a_file_that_is_not_toml_names_its_line(user_config: Path, text: str, line: int) -> None:
    write(user_config, text)
    with pytest.raises(ConfigError) as caught:
        load_settings()
    assert str(caught.value).startswith(f"{user_config}:{line}: not valid TOML: ")


def test_bytes_that_are_not_utf8_name_their_line(user_config: Path) -> None:
    user_config.write_bytes(b"limit = 5\n# caf\xe9\n")
    with pytest.raises(ConfigError, match=r"config\.toml:2: not valid TOML: it is not UTF-8"):
        load_settings()


def test_deep_nesting_and_huge_files_end_in_an_error(user_config: Path) -> None:
    write(user_config, "a = " + "[" * 50_000)
    with pytest.raises(ConfigError, match="nested too deeply"):
        load_settings()
    write(user_config, "# " + "x" * (1 << 20))
    with pytest.raises(ConfigError, match="larger than"):
        load_settings()


def test_a_directory_or_an_unreadable_file_in_its_place(user_config: Path) -> None:
    user_config.mkdir()
    with pytest.raises(ConfigError, match="is not a file"):
        load_settings()
    user_config.rmdir()
    write(user_config, "limit = 5\n").chmod(0)
    if not os.access(user_config, os.R_OK):
        with pytest.raises(ConfigError, match="cannot read"):
            load_settings()


def test_a_byte_order_mark_and_crlf_are_fine(user_config: Path) -> None:
    user_config.write_bytes(b"\xef\xbb\xbflimit = 5\r\nmode = 'lexical'\r\n")
    assert (load_settings().limit, load_settings().mode) == (5, "lexical")


@pytest.mark.parametrize(
    "text",
    [
        *("limit = 0", "limit = 101", 'limit = "many"', 'mode = "magic"', "default_exclude = 3", "index_dir = 3"),
        *("limit = true", "threads = false", 'index_dir = ""', 'server_ca = " "', 'model_cache_dir = ""', 'model = ""'),
        'workspace_roots = [""]',
    ],
)
def test_a_value_that_cannot_be_used_names_file_line_and_key(user_config: Path, text: str) -> None:
    write(user_config, f"# mine\n{text}\n")
    with pytest.raises(ConfigError) as caught:
        load_settings()
    assert str(caught.value).startswith(f"{user_config}:2: {text.partition(' ')[0]} = ")
    assert "\n" not in str(caught.value)


def test_a_wrong_variable_and_a_wrong_flag_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidRequestError, match=r"limit: 500 cannot be used"):
        load_settings(flags={"limit": 500})
    monkeypatch.setenv("EVERFIND_LIMIT", "many")
    with pytest.raises(ConfigError, match=r'EVERFIND_LIMIT: limit = "many" cannot be used'):
        load_settings()


def test_unknown_keys_are_reported_with_a_suggestion(user_config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(user_config, 'limti = 5\n[[folders]]\npath = "/"\nlimit = 3\nincludes = []\n')
    monkeypatch.setenv("EVERFIND_MODDE", "lexical")
    warnings = load_settings().warnings
    assert f"{user_config}:1: unknown setting 'limti' is not used; did you mean 'limit'?" in warnings
    assert f"{user_config}: 'limit' under [[folders]] is not used; move it above the first [[folders]]" in warnings
    assert f"{user_config}: 'includes' under [[folders]] is not used; did you mean 'include'?" in warnings
    assert "the environment variable EVERFIND_MODDE is no setting; did you mean 'EVERFIND_MODE'?" in warnings


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("folders = 3", "folders must be tables"),
        ("[[folders]]\nname = 'a'", "a folder has no path"),
        ("[[folders]]\npath = '%2E'", "is not a path as everfind prints it"),
        ("[[folders]]\npath = '/a'\nname = 'a/b'", "looks like a path"),
        ("[[folders]]\npath = '/a'\nname = 3", "must be text"),
        ("[[folders]]\npath = '/a'\ninclude = '*.md'", "must be a list of globs"),
        ("[[folders]]\npath = '/a'\n[[folders]]\npath = '/b/../a'", "two folders have the directory"),
        ("[[folders]]\npath = '/a'\nname='x'\n[[folders]]\npath = '/b'\nname='x'", "two folders have the name"),
    ],
)
def test_wrong_folder_entries(user_config: Path, text: str, message: str) -> None:
    write(user_config, text)
    with pytest.raises(ConfigError, match=message):
        load_settings()


def test_the_digest_follows_what_shapes_answers(user_config: Path) -> None:
    before = load_settings().digest
    assert before == load_settings(flags={"limit": 3}).digest
    assert before != load_settings(flags={"rrf_k": 3}).digest
    write(user_config, '[[folders]]\npath = "/tmp"\n')
    assert before != load_settings().digest
    assert len(before) == 32


NOT_SHAPING = {
    "display_name", "index_dir", "concurrency", "threads", "hub_endpoint", "model_cache_dir",  # means, not meaning
    "resident_bytes", "store_backend", "publish_to",
    "watch", "wait_seconds", "vector_cache_dir", "vector_cache_days", "vector_cache_bytes",
    "model_key_file", "reranker_key_file", "expansion_key_file", "reranker_seconds", "reranker_interval",
    "limit", "mode", "rerank",  # each request says them
    "mcp_name", "mcp_description", "mcp_tools", "workspace_roots",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(setting_fields()))
def test_only_what_cannot_change_an_answer_is_left_out_of_the_digest(name: str) -> None:
    extra = setting_fields()[name].json_schema_extra
    assert isinstance(extra, dict)
    shapes = name not in NOT_SHAPING and extra["group"] != "Server"
    assert extra["shapes_answers"] == shapes, f"add {name} to the digest, or to what is left out of it"
    settings = load_settings()
    other = settings.model_copy(update={name: ("another",)})
    assert (settings.digest != other.digest) == shapes


def test_every_setting_is_described() -> None:
    groups = ("Index", "Model", "Chunks", "Search", "Documents", "Agents", "Server")
    for name, setting in setting_fields().items():
        assert setting.description, name
        assert isinstance(setting.json_schema_extra, dict)
        assert setting.json_schema_extra["group"] in groups, name


def test_a_project_whose_own_index_directory_is_a_link_outside_is_refused(project: Path, tmp_path: Path) -> None:
    (project / ".everfind" / "config.toml").write_text('[[folders]]\npath = "."\n')
    (tmp_path / "out").mkdir()
    (project / ".everfind" / "index").symlink_to(tmp_path / "out")
    with pytest.raises(UntrustedSettingError, match="outside the project"):
        load_settings(cwd=project)


def test_a_project_must_not_index_into_git(project: Path) -> None:
    (project / ".everfind" / "config.toml").write_text('index_dir = ".git/x"\n')
    with pytest.raises(ConfigError, match=r"\.git"):
        load_settings(cwd=project)


def test_a_worktree_inside_a_project_is_not_answered_from_the_project(project: Path, user_config: Path) -> None:
    (project / ".everfind" / "config.toml").write_text("folders = []\n")
    (project / ".git").mkdir()
    tree, module = project / "trees" / "w", project / "vendor" / "m"
    for place, linked in ((tree, "worktrees/w"), (module, "modules/m")):
        (place / "src").mkdir(parents=True)
        (place / ".git").write_text(f"gitdir: {project}/.git/{linked}\n")
    assert load_settings(cwd=module / "src").files.folders_file.root == project
    assert load_settings(cwd=tree / "src").files.project is None
    (tree / ".everfind").mkdir()
    (tree / ".everfind" / "config.toml").write_text("folders = []\n")
    assert load_settings(cwd=tree / "src").files.folders_file.root == tree
