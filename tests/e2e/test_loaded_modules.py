"""What each command loads: nobody waits for what the command does not use."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes import Home

HEAVY = {
    "boto3",
    "onnxruntime",
    "tokenizers",
    "tree_sitter",
    "lance",
    "lancedb",
    "pyarrow",
    "numpy",
    "grpc",
    "mcp",
    "rich",
}
PIPELINE = {"everfind_embedder", "everfind_indexer.running.pipeline", "everfind_indexer.syntax", "everfind_searcher"}

ENGINES = {
    "everfind_embedder",
    "everfind_indexer",
    "everfind_searcher",
    "everfind_core.chunking",
    "everfind_core.ranking",
}
OTHERS = {"everfind_gateway.cli.index", "everfind_gateway.cli.serve", "everfind_gateway.wiring.autostart", "tomlkit"}
OTHER_CALLS = {
    "everfind.embedder",
    "everfind.indexer",
    "everfind_core.answers.json_form",
    "everfind_core.index.directory",
    "everfind_core.model.chunks",
    "everfind_core.model.embedding",
    "everfind_core.model.files",
    "everfind_core.model.gathering",
    "everfind_core.model.indexing",
    "everfind_core.model.reading",
    "everfind_core.model.related",
    "everfind_core.model.status",
    "everfind_core.text.glossary",
    "everfind_gateway.places",
    "everfind_gateway.target_requests",
    "everfind_rpc.auth",
    "everfind_rpc.clients.call_errors",
    "everfind_rpc.converters.corpus",
    "everfind_rpc.converters.gathering",
    "everfind_rpc.converters.related",
    "everfind_rpc.errors",
    "everfind_rpc.tls",
    "grpc_status",
}
"""What other calls, errors, scripts and options need. Each takes a millisecond or a few of a fresh process."""

PROBE = """
import json, sys
from everfind_gateway.__main__ import main
code = main()
sys.stderr.write("\\n" + json.dumps([code, sorted(sys.modules)]))
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    base = tmp_path_factory.mktemp("home")
    (base / "notes").mkdir()
    (base / "notes" / "a.md").write_text("# Tokens\n\nThey are renewed for ten minutes.\n")
    home = Home(base)
    home.run("add", "notes")
    home.run("index")
    return home


def loaded(home: Home, *arguments: str, asked: set[str] = HEAVY | PIPELINE) -> tuple[int, set[str]]:
    """How a command ended, and which of the modules ``asked`` for it loaded."""
    probe = subprocess.run(
        [sys.executable, "-c", PROBE, *arguments], cwd=home.base, env=home.env, capture_output=True, text=True,
        timeout=120, check=True,
    )  # fmt: skip
    code, modules = json.loads(probe.stderr.splitlines()[-1])
    return code, asked.intersection(modules)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("version",),
        ("config",),
        ("list",),
        ("status", "--json"),
        ("cat", "notes/a.md"),
        ("grep", "renewed"),
        ("add", "notes"),
        ("token", "list"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_what_reads_files_or_settings_loads_no_engine(home: Home, arguments: tuple[str, ...]) -> None:
    code, modules = loaded(home, *arguments)
    assert code == (4 if arguments[0] == "add" else 0)
    assert modules == set()


def test_a_search_loads_what_answers_it_and_no_more(home: Home) -> None:
    assert loaded(home, "search", "renewed", "--json") == (
        0, {"everfind_embedder", "everfind_searcher", "lance", "numpy", "onnxruntime", "pyarrow", "tokenizers"},
    )  # fmt: skip


def test_beside_a_server_a_search_loads_the_client_alone(home: Home) -> None:
    server = home.start("serve", "--listen", "127.0.0.1:0")
    try:
        assert server.stderr is not None
        assert "serving on" in server.stderr.readline()
        asked = HEAVY | PIPELINE | ENGINES | OTHERS | OTHER_CALLS
        assert loaded(home, "search", "renewed", asked=asked) == (0, {"grpc"})
        assert loaded(home, "search", "renewed", "--json", asked=HEAVY | PIPELINE | ENGINES) == (0, {"grpc"})
    finally:
        server.terminate()
        server.communicate(timeout=60)


def test_a_client_of_a_server_loads_no_engine(home: Home, tmp_path: Path) -> None:
    code, modules = loaded(home, "--server", "127.0.0.1:1", "search", "renewed")
    assert code == 10
    assert modules == {"grpc"}


def test_a_program_that_imports_everfind_loads_what_it_uses() -> None:
    used = (
        "import json, sys, everfind_gateway; before = list(sys.modules); "
        "from everfind_gateway import open_async_corpus, open_corpus; "
        "sys.stdout.write(json.dumps([before, list(sys.modules)]))"
    )
    told = subprocess.run([sys.executable, "-c", used], capture_output=True, text=True, timeout=120, check=True)
    before, after = map(set, json.loads(told.stdout))
    assert not before & (HEAVY | PIPELINE | {"anyio", "pydantic", "typer", "everfind_gateway.corpus"})
    assert after & (HEAVY | PIPELINE | {"typer"}) == set()
