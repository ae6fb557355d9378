"""The command line: what each command asks of the engines, prints, and ends with."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from everfind_core.cancellation import Cancellation
from everfind_core.errors import (
    EXIT_CODES,
    ConfigError,
    EverfindError,
    IndexLockedError,
    IndexMissingError,
    PermissionDeniedError,
    WorkspaceNotFoundError,
    error_classes,
)
from everfind_core.index.directory import (
    FolderCoverage,
    IndexCoverage,
    create_index,
    make_current,
)
from everfind_core.index.manifest import Manifest, Recipe
from everfind_core.model import (
    AddFolderRequest,
    Coverage,
    Folder,
    HealthFinding,
    ModelInfo,
    Provenance,
    ProvenanceLabel,
    RemoveFolderRequest,
    SearchMode,
    Severity,
)
from everfind_gateway.cli import main
from everfind_gateway.cli.mcp import given_token
from tests.support.gateway import FakeEngines, Outcome, make_hit

Run = Callable[..., Outcome]


@pytest.fixture
def api(everfind: Run, engines: FakeEngines) -> Path:
    """An added folder named ``api``."""
    root = Path("api").absolute()
    (root / "sub").mkdir(parents=True)
    assert everfind("add", "api").code == 0
    return root


# --- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [*error_classes().values(), EverfindError], ids=lambda cls: cls.__name__)
def test_every_error_is_a_line_a_hint_and_its_code(
    everfind: Run, engines: FakeEngines, cls: type[EverfindError]
) -> None:
    engines.error = cls("this\nis\x1b[31m wrong", hint="do that")
    ended = everfind("search", "x")
    assert ended.out == ""
    assert ended.err == "everfind: this is\\x1b[31m wrong\n  hint: do that\n"
    assert ended.code == EXIT_CODES[cls.kind] != 0


def test_json_leaves_errors_on_stderr(everfind: Run, engines: FakeEngines) -> None:
    engines.error = IndexMissingError("there is no index")
    ended = everfind("search", "x", "--json")
    assert (ended.code, ended.out, ended.err) == (5, "", "everfind: there is no index\n")


def test_a_fault_is_one_sentence_and_a_traceback_only_on_request(
    everfind: Run, engines: FakeEngines, monkeypatch: pytest.MonkeyPatch
) -> None:
    engines.fault = RuntimeError("boom\nbang")
    ended = everfind("search", "x")
    assert ended.code == 1
    assert ended.err.startswith("everfind: unexpected RuntimeError: boom bang\n  hint: this is a fault of everfind")
    assert "Traceback" not in ended.err
    monkeypatch.setenv("EVERFIND_DEBUG", "1")
    assert "Traceback" in everfind("search", "x").err


def test_a_server_has_an_engine_of_its_own(everfind: Run, engines: FakeEngines) -> None:
    ended = everfind("--server", "search.example.org", "index", "--engine", "ray")
    assert ended.code == 2
    assert "engine: the server search.example.org has its own" in ended.err
    assert everfind("--server", "search.example.org", "index", "--engine", "local").code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "x", "-k", "abc"),
        ("search", "x", "-k", "0"),
        ("search", "x", "-k", "101"),
        ("search", "x", "--mode", "magic"),
        ("search",),
        ("search", "-x"),
        ("nonsense",),
        ("--nonsense",),
        ("index", "--max-files", "-1"),
        ("index", "--concurrency", "many"),
        ("gather", "x", "-C", "201"),
        ("add",),
        ("remove",),
        ("remove", "a", "b"),
        ("cat", "a", "--lines", "x"),
        ("cat", ""),
        ("cat", "a", "--lines", "9-2"),
        ("cat", "a", "--lines", "0"),
        ("add", "a", "b", "--name", "c"),
    ],
)
def test_usage_errors_end_with_2_and_print_no_data(everfind: Run, engines: FakeEngines, arguments: list[str]) -> None:
    ended = everfind(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("everfind: ")
    assert ended.err.count("\n") == 2
    assert not engines.searches


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("search", "x", "--limit", "1000"), "--limit: it must be at most 100"),
        (("search", "x", "--limit", "x"), "--limit: it needs a whole number"),
        (("search", "x", "--min-score", "2"), "--min-score: it must be at most 1"),
    ],
)
def test_a_value_that_is_out_of_bounds_is_told_in_our_words(
    everfind: Run, engines: FakeEngines, arguments: tuple[str, ...], said: str
) -> None:
    outcome = everfind(*arguments)
    assert (outcome.code, outcome.err.splitlines()[0]) == (2, f"everfind: {said}")


def test_an_unknown_option_says_where_dashes_go(everfind: Run, engines: FakeEngines) -> None:
    assert "Words that start with a dash go after `--`" in everfind("search", "-x").err


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["serch", "x"], "no command 'serch'; did you mean 'search'?", "`everfind search --help`"),
        (["token", "crate"], "no command 'crate'; did you mean 'create'?", "`everfind token create --help`"),
        (["qqqq"], "no command 'qqqq'", "`everfind --help` lists"),
        (["how does it work"], "no command 'how does it work'", '`everfind search "how does it work"`'),
        (["search", "x", "--limt", "3"], "no option '--limt'; did you mean '--limit'?", "`everfind search --help`"),
        (["search", "x", "--mode", "hybird"], "--mode: 'hybird' is not one of 'hybrid'", "`everfind search --help`"),
        (["config", "limt"], "config: 'limt' is no setting; did you mean 'limit'?", "`everfind config` prints all"),
        (["remove", "appi"], "no folder has the name or path 'appi'; did you mean 'api'?", "`everfind list`"),
        (["search", "x", "-f", "ap"], "no folder has the name or path 'ap'; did you mean 'api'?", "`everfind list`"),
    ],
)
def test_what_was_meant_is_named_and_what_to_type_next(
    everfind: Run, api: Path, arguments: list[str], message: str, hint: str
) -> None:
    said, advice = everfind(*arguments).err.splitlines()
    assert said.startswith(f"everfind: {message}")
    assert advice.startswith("  hint: ")
    assert hint in advice


def test_config_shows_the_settings_that_are_named(everfind: Run) -> None:
    assert (
        everfind("config", "limit", "mode").out
        == "limit              10  (default)\nmode               hybrid  (default)\n"
    )
    assert list(json.loads(everfind("config", "limit", "--json").out)["settings"]) == ["limit"]


def test_help_and_version(everfind: Run) -> None:
    for arguments in ((), ("--help",), ("-h",), ("search", "-h")):
        ended = everfind(*arguments)
        assert (ended.code, ended.err) == (0, "")
        assert ended.out.startswith("Usage: everfind")
    assert everfind("--version").out.startswith("everfind 0.")
    assert json.loads(everfind("version", "--json").out).keys() == {"version", "python", "platform"}


# --- folders and settings ---------------------------------------------------------------------------------------------


def test_add_list_remove(everfind: Run, engines: FakeEngines, home: Path) -> None:
    for name in ("api", "web"):
        (home / "work" / name).mkdir()
    ended = everfind("add", "api", "web", "--include", "*.md")
    assert ended.out == f"added api  {Path.cwd()}/api\nadded web  {Path.cwd()}/web\n"
    assert everfind("list").out == f"api  {Path.cwd()}/api  (*.md)\nweb  {Path.cwd()}/web  (*.md)\n"
    assert everfind("remove", "api").out == f"removed api  {Path.cwd()}/api  (3 files forgotten)\n"
    assert engines.removed == [RemoveFolderRequest("api")]
    listed = json.loads(everfind("list", "--json").out)
    folder = {"name": "web", "path": f"{Path.cwd()}/web", "include": ["*.md"], "usable": True}
    assert listed == {"display_name": "", "folders": [folder]}


def test_list_files(everfind: Run, engines: FakeEngines, api: Path) -> None:
    assert everfind("list", "--files").out == "api/a.py\n"
    file = {"folder": "api", "path": "a.py", "size": 120, "modified": 5.0, "chunks": 3, "tokens": 40, "redactions": 0}
    assert json.loads(everfind("list", "--files", "--folder", "api", "--json").out) == {"files": [file]}
    nothing = everfind("list", "--files", "--glob", "*.go")
    assert (nothing.code, nothing.out, nothing.err) == (0, "", "no indexed file matches\n")
    assert "Add --files" in everfind("list", "--glob", "*.go").err


@pytest.mark.parametrize("others", [("--files",), ("--folder", "api"), ("--glob", "*.go")])
def test_workspaces_are_not_listed_in_place_of_files(everfind: Run, others: tuple[str, ...]) -> None:
    ended = everfind("list", "--workspaces", *others)
    assert (ended.code, ended.out) == (2, "")
    assert "--workspace NAME list --files" in ended.err


def test_remove_by_path_and_keep_index(everfind: Run, engines: FakeEngines, api: Path) -> None:
    assert "its index is kept" in everfind("remove", api, "--keep-index").out
    assert engines.removed == [RemoveFolderRequest("api", keep_index=True)]
    assert everfind("list").out == ""


def test_a_folder_stays_when_its_index_cannot_be_changed(everfind: Run, engines: FakeEngines, api: Path) -> None:
    engines.error = IndexLockedError("process 7 writes")
    assert everfind("remove", "api").code == 6
    assert everfind("list").out.startswith("api ")


def test_folders_of_a_server(everfind: Run, engines: FakeEngines, home: Path) -> None:
    ended = everfind("--server", "search.example.org", "add", "/srv/api", "/srv/x%FF", "--include", "*.md")
    assert ended.out == "added api  /srv/api\nadded x%FF  /srv/x%FF\n"
    assert engines.added == [AddFolderRequest(f"/srv/{name}", include=("*.md",)) for name in ("api", "x%FF")]
    ended = everfind("--server", "search.example.org", "remove", "/srv/api", "--purge")
    assert ended.out == "removed /srv/api  /srv/api  (3 files forgotten)\n"
    assert engines.removed == [RemoveFolderRequest("/srv/api", purge=True)]


def test_a_server_gets_all_folders_or_none(
    everfind: Run, engines: FakeEngines, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_folder = engines.add_folder

    def add(request: AddFolderRequest) -> Folder:
        if request.root == "/etc":
            raise PermissionDeniedError("not below /srv")
        return add_folder(request)

    monkeypatch.setattr(engines, "add_folder", add)
    ended = everfind("--server", "search.example.org", "add", "/srv/api", "/etc")
    assert (ended.code, ended.out, ended.err) == (9, "", "everfind: not below /srv\n")
    assert engines.removed == [RemoveFolderRequest("api")]


@pytest.mark.parametrize(
    ("arguments", "code"), [(("add", "absent"), 4), (("add", "api"), 4), (("remove", "absent"), 4)]
)
def test_folder_errors(everfind: Run, api: Path, arguments: tuple[str, ...], code: int) -> None:
    assert everfind(*arguments).code == code


def test_config_says_where_each_value_came_from(
    everfind: Run, user_config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user_config.write_text("limit = 5\nlimti = 6\n")
    monkeypatch.setenv("EVERFIND_MODE", "lexical")
    ended = everfind("config")
    lines = {line.split()[0]: line for line in ended.out.splitlines() if line}
    assert lines["limit"].split(None, 1)[1] == f"5  (user {user_config})"
    assert lines["mode"].split(None, 1)[1] == "lexical  (environment EVERFIND_MODE)"
    assert lines["rrf_k"].split(None, 1)[1] == "60  (default)"
    assert lines["min_score"].split(None, 1)[1] == lines["server"].split(None, 1)[1] == "-  (default)"
    assert ended.err == (
        f"everfind: warning: {user_config}:2: unknown setting 'limti' is not used; did you mean 'limit'?\n"
    )
    shown = json.loads(everfind("config", "--json").out)
    assert shown["settings"]["limit"] == {"value": 5, "source": "user", "place": str(user_config)}
    assert shown["user_file"] == str(user_config)


def test_a_broken_file_ends_every_command_and_is_left_alone(
    everfind: Run, engines: FakeEngines, user_config: Path
) -> None:
    user_config.write_text("limit =\n")
    for arguments in (("config",), ("list",), ("search", "x"), ("add", "."), ("index",), ("status",)):
        ended = everfind(*arguments)
        assert (ended.code, ended.out) == (3, "")
        assert ended.err.startswith(f"everfind: {user_config}:1: not valid TOML")
    assert user_config.read_text() == "limit =\n"


def test_add_makes_the_file_that_config_names(everfind: Run, engines: FakeEngines, home: Path) -> None:
    assert everfind("--config", home / "mine.toml", "list").code == 3
    assert everfind("--config", home / "mine.toml", "add", ".").code == 0
    assert everfind("--config", home / "mine.toml", "list").out.startswith("work ")


# --- search -----------------------------------------------------------------------------------------------------------


def test_search_options_become_the_request(
    everfind: Run, engines: FakeEngines, api: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERFIND_DEFAULT_EXCLUDE", "archive")  # the searcher's to apply
    everfind(
        "search", "how", "does it", "-k", "3", "--mode", "lexical", "--folder", api, "--include", "*.py",
        "--exclude", "tests", "--language", "Python", "--kind", "function",
    )  # fmt: skip
    request = engines.searches[0]
    assert (request.query, request.limit, request.mode) == ("how does it", 3, SearchMode.LEXICAL)
    filters = request.filters
    assert (filters.folders, filters.include, filters.exclude) == (("api",), ("*.py",), ("tests",))
    assert (filters.languages, filters.kinds, filters.all_statuses) == (("python",), ("function",), False)
    everfind("search", "x", "--all")
    assert engines.searches[1].filters.exclude == ()
    assert engines.searches[1].filters.all_statuses


@pytest.mark.parametrize("query", ["-k", "--help", "-- x", "-1", '"quoted" OR', "日本語", "a\nb"])
def test_any_query_can_be_asked(everfind: Run, engines: FakeEngines, query: str) -> None:
    assert everfind("search", "--", query).code == 0
    assert engines.searches[0].query == query


def test_a_query_with_bytes_that_are_not_utf8(everfind: Run, engines: FakeEngines) -> None:
    assert everfind("search", "caf\udce9").code == 0
    assert engines.searches[0].query == "caf\ufffd"


def test_settings_are_the_defaults_of_a_search(everfind: Run, engines: FakeEngines, user_config: Path) -> None:
    user_config.write_text("limit = 4\nmode = 'semantic'\n")
    everfind("search", "x")
    assert (engines.searches[0].limit, engines.searches[0].mode) == (4, SearchMode.SEMANTIC)


def test_piped_hits_are_one_line_each(everfind: Run, engines: FakeEngines) -> None:
    engines.hits = (make_hit(), make_hit("odd\n\x1b[31m.py", heading="A > B", symbol=""))
    ended = everfind("search", "refresh token")
    assert ended.out.splitlines() == [
        "api/src/auth.py:42\t0.0328\t[both 0.712]\trefresh_token\tdef refresh_token(session):",
        "api/odd%0A%1B[31m.py:42\t0.0328\t[both 0.712]\tA > B\tdef refresh_token(session):",
    ]
    assert ended.err == ""


def test_no_hits_say_what_was_searched(everfind: Run, engines: FakeEngines) -> None:
    engines.hits = ()
    ended = everfind("search", "x")
    assert (ended.code, ended.out) == (0, "")
    assert ended.err == "no results: searched 1,203 files, 9,000 chunks; left out: 12 ignored, 3 binary\n"


def test_a_folder_that_was_removed_and_kept_can_be_searched(everfind: Run, engines: FakeEngines, home: Path) -> None:
    assert everfind("search", "x", "--folder", "old").code == 4
    index = home / "data" / "everfind" / "index"
    manifest = Manifest(Recipe("m", "c", "l", "e", "s"), ModelInfo("m", "1", 3, 8, "mean"), 1.0, "0.1.0")
    place = create_index(index, manifest)
    place.write_coverage(IndexCoverage((FolderCoverage(Folder("old", "/old"), Coverage(1, 1, {})),)))
    make_current(index, place)
    assert everfind("search", "x", "--folder", "old").code == 0
    assert engines.searches[0].filters.folders == ("old",)


def test_gather(everfind: Run, engines: FakeEngines) -> None:
    assert everfind("gather", "x", "-C", "3").out == "### [1/1] api\n"
    assert engines.gathers[0].context_lines == 3
    assert json.loads(everfind("gather", "x", "--json").out).keys() == {"answer", "passages", "markdown"}


# --- index ------------------------------------------------------------------------------------------------------------


def test_index_shows_each_folder_and_the_totals(everfind: Run, engines: FakeEngines, api: Path) -> None:
    ended = everfind("index")
    assert ended.out.splitlines()[:-1] == [
        "[1/2] api  /srv/api  ─────────────────────────────────────────────",
        "  1 indexed  1,203 unchanged  0 deleted  1 skipped  8 chunks  4.1s",
        "[2/2] web  /srv/web  ─────────────────────────────────────────────",
        "  0 indexed  5 unchanged  2 deleted  0 skipped  0 chunks  0.2s",
        "──────────────────────────────────────────────────────────────────",
    ]
    total = "total  1 indexed  1,208 unchanged  2 deleted  1 skipped  8 chunks (6 embedded)  "
    assert ended.out.splitlines()[-1].startswith(total)
    assert ended.err == "  left out api/bad%1B[31m.txt  (unreadable: permission denied)\n"
    assert "  indexed  api/a.py  (8 chunks, 8 embedded)\n" in everfind("index", "--verbose").err


def test_index_json_is_one_object(everfind: Run, engines: FakeEngines, api: Path) -> None:
    ended = everfind("index", "--json")
    assert json.loads(ended.out)["files"] == {
        "indexed": 1, "unchanged": 1208, "deleted": 2, "skipped": {"unreadable": 1},
    }  # fmt: skip
    assert ended.out.count("\n") == 1


def test_index_targets(everfind: Run, engines: FakeEngines, api: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    everfind("index", "--force", "--rebuild", "--max-files", "9", "--concurrency", "2", "--no-wait")
    run = engines.runs.pop()
    assert (run.folders, run.below, run.force, run.rebuild, run.max_files) == ((), "", True, True, 9)
    assert (run.concurrency, run.wait) == (2, False)
    everfind("index", "api")
    assert (engines.runs[-1].folders, engines.runs[-1].below) == (("api",), "")
    everfind("index", api / "sub")
    assert (engines.runs[-1].folders, engines.runs[-1].below) == (("api",), "sub")
    monkeypatch.chdir(api)
    everfind("index", "gone/../was here.txt", "sub")
    assert [(run.folders, run.below) for run in engines.runs[-2:]] == [(("api",), "was here.txt"), (("api",), "sub")]
    everfind("index", ".", "sub")
    assert [(run.folders, run.below) for run in engines.runs[-1:]] == [(("api",), "")]
    assert everfind("index", "/nowhere").code == 4


def test_runs_below_several_paths_are_told_as_one(everfind: Run, engines: FakeEngines, api: Path) -> None:
    (api / "more").mkdir()
    report = json.loads(everfind("index", api / "sub", api / "more", "--json").out)
    assert report["files"]["indexed"] == 2
    assert report["seconds"] == {"embed": 7.0, "total": 8.6}
    assert len(report["errors"]) == 2


def test_index_waits_for_another_writer_and_names_it(everfind: Run, engines: FakeEngines, api: Path) -> None:
    engines.locked_by = "process 7"
    ended = everfind("index")
    assert ended.code == 0
    assert ended.err.startswith("the index is being written by process 7; waiting for it to end\n")
    assert [run.wait for run in engines.runs] == [True]
    assert everfind("index", "--no-wait").code == 6


def test_index_without_folders(everfind: Run, engines: FakeEngines) -> None:
    ended = everfind("index")
    assert ended.code == 4
    assert "everfind add DIR" in ended.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ctrl_c_keeps_what_is_done(everfind: Run, engines: FakeEngines, api: Path, number: signal.Signals) -> None:
    def interrupt(cancel: Cancellation | None) -> None:
        os.kill(os.getpid(), number)

    engines.on_run = interrupt
    before = signal.getsignal(number)
    ended = everfind("index")
    assert ended.code == 130
    assert ended.err == (
        "everfind: interrupted; 1 file of this run is indexed and kept\n  hint: `everfind index` goes on from there.\n"
    )
    assert signal.getsignal(number) is before


def test_a_lost_terminal_ends_no_run_under_nohup(everfind: Run, engines: FakeEngines, api: Path) -> None:
    engines.on_run = lambda _cancel: os.kill(os.getpid(), signal.SIGHUP)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert everfind("index").code == 0
    finally:
        signal.signal(signal.SIGHUP, before)


def test_ctrl_c_elsewhere_is_one_line(everfind: Run, engines: FakeEngines) -> None:
    engines.fault = KeyboardInterrupt()
    ended = everfind("search", "x")
    assert (ended.code, ended.err) == (130, "everfind: interrupted\n")


# --- files, status and doctor -----------------------------------------------------------------------------------------


def test_grep(everfind: Run, engines: FakeEngines, api: Path) -> None:
    ended = everfind("grep", "-E", "-i", "x =", "--folder", "api", "--include", "*.py", "-m", "5")
    assert ended.out == "api/a.py:3:x = \\x1b[31m1\n"
    request = engines.greps[0]
    assert (request.pattern, request.regex, request.case_sensitive, request.max_results) == ("x =", True, False, 5)
    assert (request.folders, request.globs) == (("api",), ("*.py",))


def test_cat_takes_what_search_prints_and_paths(everfind: Run, engines: FakeEngines, api: Path) -> None:
    engines.files = {"src/a.py", "100%2541", "x:12", "line\nend"}
    given = {
        "api/src/a.py": ("src/a.py", 1, 0),
        "api/src/a.py:42": ("src/a.py", 42, 0),
        "api/src/a.py:42-60": ("src/a.py", 42, 60),
        str(api / "src/a.py"): ("src/a.py", 1, 0),
        f"{api}/100%2541": ("100%2541", 1, 0),
        f"{api}/100%41": ("100%2541", 1, 0),
        "api/100%41": ("100%2541", 1, 0),
        "api/100%2541:7": ("100%2541", 7, 0),
        "api/x:12": ("x:12", 1, 0),
        "api/x:12:3": ("x:12", 3, 0),
        "api/line%0Aend:2": ("line\nend", 2, 0),
    }
    for file in given:
        assert everfind("cat", file).out == "one\ntwo\n"
    assert [(r.path, r.start_line, r.end_line) for r in engines.reads] == list(given.values())
    engines.files = None
    everfind("cat", "api/odd:7", "--lines", "2-3")
    assert (engines.reads[-1].path, engines.reads[-1].start_line, engines.reads[-1].end_line) == ("odd:7", 2, 3)
    assert everfind("cat", "/etc/passwd").code == 4
    engines.files = set()
    absent = everfind("cat", "api/absent:12")
    assert absent.code == 4
    assert "absent " in absent.err


def test_search_takes_the_cursor_that_json_gave(everfind: Run, engines: FakeEngines) -> None:
    engines.next_cursor = "page-2"
    cursor = json.loads(everfind("search", "token", "--json").out)["next_cursor"]
    everfind("search", "token", "--cursor", cursor)
    assert [request.cursor for request in engines.searches] == ["", "page-2"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("index", ""),
        ("remove", ""),
        ("remove", " "),
        ("search", "x", "--folder", ""),
        ("grep", "x", "--folder", ""),
        ("add", ""),
        ("eval", ""),
        ("eval", ".", "--results", ""),
        ("eval", ".", "--index-dir", ""),
        ("serve", "--tls-key", ""),
        ("mcp", "--token-file", ""),
        ("scaffold", ""),
        ("--config", "", "list"),
    ],
)
def test_an_empty_path_is_no_working_directory(
    everfind: Run, engines: FakeEngines, api: Path, arguments: tuple[str, ...]
) -> None:
    everfind("add", ".", "--name", "here")
    ended = everfind(*arguments)
    assert ended.code == 2
    assert "hint: " in ended.err
    assert (engines.runs, engines.removed, engines.searches) == ([], [], [])


def test_status(everfind: Run, engines: FakeEngines) -> None:
    ended = everfind("status", "--skipped")
    assert "21.0 MB" in ended.out
    assert "api  /srv/api  (not readable)\n  10 files, 80 chunks, 0 pending\n  only *.py\n" in ended.out
    assert ended.out.endswith("binary\tapi/logo.png\n")
    assert "skipped_files" not in json.loads(everfind("status", "--json").out)
    assert json.loads(everfind("status", "--json", "--skipped").out)["skipped_files"][0]["path"] == "logo.png"


def test_doctor_ends_by_the_worst_finding(everfind: Run, engines: FakeEngines, api: Path, user_config: Path) -> None:
    ended = everfind("doctor")
    assert ended.code == 0
    assert "ok       outgoing  nothing leaves this machine\n" in ended.out
    assert "ok       index     1,203 files, 9,000 chunks searchable\n" in ended.out
    engines.findings = (HealthFinding("store", Severity.ERROR, "broken", "mend it"),)
    ended = everfind("doctor")
    assert ended.code == 5
    assert "error    store     broken\n                   mend it\n" in ended.out
    checks = {finding["check"] for finding in json.loads(everfind("doctor", "--json").out)["findings"]}
    assert checks == {
        "settings",
        "folders",
        "git",
        "disk",
        "server",
        "index",
        "model",
        "floor",
        "store",
        "outgoing",
        "speed",
    }


def test_doctor_works_where_nothing_else_does(everfind: Run, engines: FakeEngines, user_config: Path) -> None:
    user_config.write_text("limit =\n")
    ended = everfind("doctor")
    assert (ended.code, ended.out.startswith("error    settings  ")) == (5, True)
    user_config.write_text("")
    engines.error = IndexMissingError("no model")
    assert "error    model     no model" in everfind("doctor").out


# --- as a process -----------------------------------------------------------------------------------------------------


def process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "everfind_gateway", *arguments]
    return subprocess.run(command, capture_output=True, env={**os.environ, **environment}, timeout=60, check=False)


def test_help_imports_nothing_heavy() -> None:
    heavy = {"numpy", "pydantic", "pydantic_settings", "rich", "lancedb", "lance", "pyarrow", "onnxruntime", "tomlkit"}
    script = (
        "import sys; from everfind_gateway.cli import main; code = main(['--help']); "
        "print(*sys.modules, file=sys.stderr); sys.exit(code)"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60, check=True)
    assert heavy.isdisjoint(ended.stderr.decode().split())


def test_config_imports_no_engine() -> None:
    script = (
        "import sys; from everfind_gateway.cli import main; code = main(['config']); "
        "print(*sys.modules, file=sys.stderr); sys.exit(code)"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60, check=True)
    assert {"rich", "lancedb", "lance", "pyarrow", "onnxruntime", "tokenizers"}.isdisjoint(
        ended.stderr.decode().split()
    )


def test_a_closed_pipe_is_quiet() -> None:
    shell = f"{sys.executable} -m everfind_gateway --help | head -c 1; echo ${{PIPESTATUS[0]}}"
    ended = subprocess.run(["bash", "-c", shell], capture_output=True, timeout=60, check=True)
    assert (ended.stdout, ended.stderr) == (b"U0\n", b"")


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_no_name_ends_a_command_on_any_terminal(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*arguments: str) -> tuple[int, str]:
        out, err = io.BytesIO(), io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding=encoding, errors="strict"))
        monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(err, encoding=encoding, errors="strict"))
        code = main(arguments)
        return code, out.getvalue().decode(encoding) + err.getvalue().decode(encoding)

    Path("日本 é 😀").mkdir()
    assert run("add", "日本 é 😀")[0] == 0
    assert run("list")[0] == 0
    assert json.loads(run("list", "--json")[1])["folders"][0]["name"] == "日本 é 😀"
    code, text = run("remove", "😀")
    assert (code, text.startswith("everfind: no folder has the name or path")) == (4, True)


def test_as_a_process_with_a_narrow_encoding() -> None:
    ended = process("remove", "😀", PYTHONIOENCODING="cp1252")
    assert ended.returncode == 4
    assert ended.stderr.startswith(b"everfind: no folder has the name or path '?'")


def test_labels_of_every_provenance(everfind: Run, engines: FakeEngines) -> None:
    engines.hits = tuple(make_hit(provenance=Provenance(label)) for label in ProvenanceLabel)
    labels = [line.split("\t")[2] for line in everfind("search", "x").out.splitlines()]
    assert labels == ["[semantic]", "[lexical]", "[both]", "[exact match]", "[graph]"]


def test_status_says_what_vectors_are_stored_in_where_that_is_not_the_usual(
    everfind: Run, engines: FakeEngines, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = engines.status()
    for stored, shown in (("half", False), ("int8", True)):
        monkeypatch.setattr(engines, "status", lambda stored=stored, **_: replace(told, vector_type=stored))
        [model] = [line for line in everfind("status").out.splitlines() if line.startswith("model ")]
        assert model.endswith(", vectors in int8)") is shown


def test_remove_names_the_writer_that_it_waits_for(
    everfind: Run, engines: FakeEngines, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "work" / "api").mkdir()
    everfind("add", str(home / "work" / "api"))
    idle = engines.status()
    monkeypatch.setattr(engines, "status", lambda: replace(idle, writer="process 7 on here"))
    ended = everfind("remove", "api")
    assert ended.code == 0
    assert "written by process 7 on here; waiting" in ended.err


def test_remove_may_be_told_not_to_wait(
    everfind: Run, engines: FakeEngines, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "work" / "api").mkdir()
    everfind("add", str(home / "work" / "api"))
    idle = engines.status()
    monkeypatch.setattr(engines, "status", lambda: replace(idle, writer="process 7 on here"))
    ended = everfind("remove", "api", "--no-wait")
    assert (ended.code, "waiting" in ended.err) == (0, False)
    assert engines.removed == [RemoveFolderRequest("api", wait=False)]


def test_an_output_that_is_full_is_no_fault_of_ours(home: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "everfind_gateway", "version"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 7
    assert done.stderr.startswith("everfind: cannot write to standard output: No space left")


@pytest.mark.parametrize(("closed", "code"), [("<&-", 0), (">&-", 7), ("2>&-", 0), ("<&- >&- 2>&-", 7)])
def test_streams_that_are_closed_are_no_fault_of_ours(home: Path, closed: str, code: int) -> None:
    command = f'exec "{sys.executable}" -m everfind_gateway version --json {closed}'
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False, cwd=home)
    assert done.returncode == code, done.stderr
    assert ("cannot write to standard output" in done.stderr) == (closed == ">&-")
    assert "unexpected" not in done.stderr


def test_no_file_takes_the_place_of_a_closed_stream(home: Path) -> None:
    program = "from everfind_gateway.render.streams import prepare; prepare(); print(open('/dev/null').fileno())"
    command = f'exec "{sys.executable}" -c "{program}" <&- 2>&-'
    done = subprocess.run(["/bin/sh", "-c", command], stdout=subprocess.PIPE, text=True, check=False, cwd=home)
    assert int(done.stdout) > 2


def test_a_token_file_that_cannot_be_read_is_told_in_words(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"/none: No such file or directory$"):
        given_token(tmp_path / "none", "EVERFIND_WEB_TOKEN")
    (tmp_path / "token").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(ConfigError, match=r"/token: it is not UTF-8$"):
        given_token(tmp_path / "token", "EVERFIND_WEB_TOKEN")


def test_doctor_says_a_cause_once_that_fails_several_checks(everfind: Run, engines: FakeEngines, api: Path) -> None:
    engines.error = WorkspaceNotFoundError("there is no workspace 'p1' here", hint="Name another.")
    ended = everfind("doctor")
    assert ended.code == 5
    assert [line.split()[1] for line in ended.out.splitlines() if "there is no workspace" in line] == ["index", "model"]


def test_a_path_in_a_folder_is_no_folder_and_the_way_to_say_it_is_named(everfind: Run, api: Path) -> None:
    (api / "docs").mkdir()
    for given in ("api/docs", str(api / "docs")):
        ended = everfind("search", "x", "--folder", given)
        assert ended.code == 4
        assert ended.err.startswith(f"everfind: {given!r} is no folder, but lies in 'api'\n")
        assert "`--folder api --include docs`" in ended.err


def test_a_printed_place_below_a_folder_can_be_indexed(everfind: Run, engines: FakeEngines, api: Path) -> None:
    for given in ("api/sub", str(api / "sub")):
        assert everfind("index", given).code == 0
    assert [(run.folders, run.below) for run in engines.runs] == [(("api",), "sub")] * 2
