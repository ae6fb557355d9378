"""Several workspaces, here and on one server: each call answers from the one that it names, and from nothing else."""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import pytest

from everfind.indexer.v1 import indexer_service_pb2 as pb
from everfind.indexer.v1.indexer_service_pb2_grpc import IndexerServiceStub
from everfind_core.answers.json_form import gather_json, grep_json, related_json, search_json, status_json
from everfind_core.cancellation import Cancellation
from everfind_core.errors import (
    ConfigError,
    EverfindError,
    FileNotIndexableError,
    FolderNotFoundError,
    IndexMissingError,
    InvalidRequestError,
    UnauthenticatedError,
    WorkspaceNotFoundError,
)
from everfind_core.model import (
    GatherRequest,
    GrepRequest,
    IndexRequest,
    InputKind,
    OpenWorkspace,
    ReadFileRequest,
    RelatedRequest,
    SearchRequest,
    Severity,
    Vectors,
)
from everfind_core.ports import Indexer, Searcher, TokenIds
from everfind_gateway.config.folders import add_folders
from everfind_gateway.config.named_workspaces import named_workspace
from everfind_gateway.config.settings import Settings, load_settings
from everfind_gateway.scaffold import project
from everfind_gateway.server import serving as gateway_serving
from everfind_gateway.server.open_workspaces import OpenWorkspaces
from everfind_gateway.server.serving import open_serving
from everfind_gateway.wiring import local
from everfind_gateway.wiring.running import running_server
from everfind_rpc.auth import Scope, TokenFile
from everfind_rpc.clients.calls import Calls
from everfind_rpc.clients.indexer import RemoteIndexer
from everfind_rpc.clients.searcher import RemoteSearcher
from everfind_rpc.serving.server import ServerSettings
from tests.support.fakes import FakeEmbedder
from tests.support.serving import connected, serving

OWN_TOKEN = "own"
SECONDS = 60.0
WORDS = {"": "aardvark", "lib": "badger", "alpha": "capybara", "beta": "dormouse"}
"""What each workspace alone speaks of, in its folder ``docs``; the server's own, a named one and two projects."""


@dataclass(frozen=True)
class Reached:
    """The ports of one workspace."""

    indexer: Indexer
    searcher: Searcher


@dataclass
class Spaces:
    """Workspaces below ``base``, and the ways to them: here, or through a server at ``address``."""

    base: Path
    embedder: FakeEmbedder
    address: str = ""
    tokens: TokenFile | None = None
    stack: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def asked(self, name: str) -> str:
        """How a caller names it: the projects by a directory in them."""
        return f"{self.base}/src/{name}/docs" if name in ("alpha", "beta") else name

    def opened(self) -> Sequence[OpenWorkspace]:
        """Those of a server besides its own."""
        return self.reach("").indexer.status().open_workspaces[1:]

    def reach(self, name: str, token: str = OWN_TOKEN) -> Reached:
        if not self.address:
            workspace = self.stack.enter_context(local.open_local(load_settings(workspace=self.asked(name))))
            return Reached(workspace.indexer, workspace.searcher)
        remote = self.stack.enter_context(connected(self.address, token))
        asked = self.asked(name)
        return Reached(RemoteIndexer(remote.connection, asked), RemoteSearcher(remote.connection, asked))


def write(root: Path, word: str) -> None:
    (root / "docs").mkdir(parents=True)
    text = f"# The {word}\n\nAn animal called {word} sleeps.\n"
    (root / "docs" / "animal.md").write_text(text, encoding="utf-8")
    (root / "docs" / f"{word}.py").write_text(f"def find_{word}():\n    return 1\n", encoding="utf-8")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Four workspaces, none indexed yet."""
    base = tmp_path_factory.mktemp("spaces")
    with pytest.MonkeyPatch.context() as patch:
        for kind in ("CONFIG", "DATA", "CACHE", "STATE"):
            patch.setenv(f"XDG_{kind}_HOME", str(base / kind.lower()))
        patch.setenv("HOME", str(base))
        patch.setenv("EVERFIND_WATCH", "false")  # runs are those of the tests alone, whatever time these take
        patch.chdir(base)
        write(base / "own", WORDS[""])
        add_folders(load_settings().files.folders_file, [f"{base}/own/docs"])
        write(base / "lib", WORDS["lib"])
        lib = named_workspace("lib", may_be_missing=True)
        add_folders(lib.file, [f"{base}/lib/docs"], index_dir=lib.index_dir)
        for name in ("alpha", "beta"):
            write(base / "src" / name, WORDS[name])
            config = base / "src" / name / ".everfind" / "config.toml"
            config.parent.mkdir()
            config.write_text('[[folders]]\npath = "docs"\n', encoding="utf-8")
        yield base


@pytest.fixture(scope="module")
def embedder() -> FakeEmbedder:
    return FakeEmbedder()


@contextlib.contextmanager
def served(base: Path, embedder: FakeEmbedder, **flags: object) -> Iterator[Spaces]:
    """A server of them all, as `everfind serve lib src/` makes one."""
    settings = load_settings(flags={"workspaces": ["lib", f"{base}/src"], **flags})
    tokens = TokenFile(base / "tokens.json", own=OWN_TOKEN)
    serving_at = ServerSettings("127.0.0.1:0", tokens, drain_seconds=0.0, grace_seconds=5.0)
    with contextlib.ExitStack() as stack:
        opened = stack.enter_context(open_serving(settings, OWN_TOKEN))
        address = stack.enter_context(serving(opened.services, serving_at))
        opened.opener.address = address
        yield Spaces(base, embedder, address, tokens, stack)


@pytest.fixture(scope="module")
def own_model(embedder: FakeEmbedder) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local, "_open_embedder", lambda _settings: embedder)
        yield


@pytest.fixture(scope="module")
def indexed(base: Path, embedder: FakeEmbedder, own_model: None) -> Spaces:
    """All four, indexed, reached in this process."""
    with contextlib.ExitStack() as stack:
        found = Spaces(base, embedder, stack=stack)
        for name in WORDS:
            found.reach(name).indexer.index(IndexRequest(), lambda _event: None)
    return replace(found, stack=contextlib.ExitStack())


@pytest.fixture(scope="module")
def server(indexed: Spaces) -> Iterator[Spaces]:
    """The same through a server that has room for two besides its own."""
    with served(indexed.base, indexed.embedder, max_workspaces=2) as found:
        yield found


@pytest.fixture(params=["direct", "aio"])
def spaces(request: pytest.FixtureRequest, indexed: Spaces) -> Iterator[Spaces]:
    """Reached in each way."""
    if request.param == "aio":
        yield request.getfixturevalue("server")
        return
    with indexed.stack:
        yield indexed


CALLS: dict[str, Callable[[Reached, str], object]] = {
    "search": lambda w, _: search_json(w.searcher.search(SearchRequest("animal that sleeps", limit=100, min_score=-1))),
    "gather": lambda w, _: gather_json(w.searcher.gather(GatherRequest(SearchRequest("animal", limit=100)))),
    "related": lambda w, word: related_json(w.searcher.related(RelatedRequest(symbol=f"find_{word}"))),
    "grep": lambda w, _: grep_json(w.indexer.grep(GrepRequest("animal"))),
    "read": lambda w, _: w.indexer.read_file(ReadFileRequest("docs", "animal.md")).text,
    "status": lambda w, _: status_json(w.indexer.status(skipped_files=True)),
    "folders": lambda w, _: w.indexer.folders(),
    "files": lambda w, _: w.indexer.indexed_files(folder="docs"),
    "index": lambda w, _: w.indexer.index(IndexRequest(folders=("docs",)), lambda _event: None).unchanged,
}


@pytest.mark.parametrize("call", CALLS)
def test_each_call_answers_from_its_workspace_alone(spaces: Spaces, call: str) -> None:
    for name, word in WORDS.items():
        answer = str(CALLS[call](spaces.reach(name), word))
        mine = {"": "/own/", "lib": "/lib/"}.get(name, f"/src/{name}/")
        if call == "index":
            assert answer == "2"
            continue
        assert word in answer or mine in answer
        for other in WORDS.values():
            assert other == word or other not in answer


def test_pages_of_one_are_no_pages_of_another(spaces: Spaces) -> None:
    first = spaces.reach("alpha").searcher.search(SearchRequest("animal", limit=1, min_score=-1))
    following = SearchRequest("animal", limit=1, min_score=-1, cursor=first.next_cursor)
    answer = spaces.reach("beta").searcher.search(following)
    assert answer.hits
    assert all("dormouse" in hit.text for hit in answer.hits)


@pytest.mark.parametrize("asked", ["nope", "animal", "docs"])
def test_what_is_not_there_is_said_alike(spaces: Spaces, asked: str) -> None:
    with pytest.raises(WorkspaceNotFoundError, match=f"no workspace .*{asked}"):
        spaces.reach(asked).searcher.search(SearchRequest("animal"))


# --- of a server -----------------------------------------------------------------------------------------------------


def test_status_says_which_are_open(server: Spaces) -> None:
    for name in ("", "lib", "alpha", "beta"):
        server.reach(name).searcher.search(SearchRequest("animal"))
    status = server.reach("beta").indexer.status()
    alpha, beta = f"{server.base}/src/alpha", f"{server.base}/src/beta"
    assert status.workspace == beta
    assert [one.workspace for one in status.open_workspaces] == ["", beta, alpha]
    assert all(one.last_used > 0 and not one.indexing for one in status.open_workspaces)
    searcher = server.reach("").searcher
    assert isinstance(searcher, RemoteSearcher)
    assert [one.workspace for one in searcher.status().open_workspaces] == ["", beta, alpha]


def test_one_model_for_all(indexed: Spaces, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def open_embedder(settings: Settings) -> FakeEmbedder:
        opened.append(settings.display_name)
        return indexed.embedder

    monkeypatch.setattr(local, "_open_embedder", open_embedder)
    with served(indexed.base, indexed.embedder, max_workspaces=2) as server:
        for name, word in WORDS.items():
            assert word in server.reach(name).searcher.search(SearchRequest(word)).hits[0].text
    assert len(opened) == 1


class Held(FakeEmbedder):
    """A model that embeds when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = threading.Event()
        self.gate = threading.Event()

    def embed(self, texts: Sequence[str], kind: InputKind, *, cancel: Cancellation | None = None) -> Vectors:
        self.asked.set()
        assert self.gate.wait(SECONDS)
        return super().embed(texts, kind, cancel=cancel)

    def embed_tokens(self, sequences: Sequence[TokenIds], *, cancel: Cancellation | None = None) -> Vectors:
        self.asked.set()
        assert self.gate.wait(SECONDS)
        return super().embed_tokens(sequences, cancel=cancel)


def test_one_in_which_a_search_is_under_way_is_not_closed(indexed: Spaces, monkeypatch: pytest.MonkeyPatch) -> None:
    held = Held()
    monkeypatch.setattr(local, "_open_embedder", lambda _settings: held)
    monkeypatch.setattr(gateway_serving, "OpenWorkspaces", partial(OpenWorkspaces, patience=SECONDS))
    with served(indexed.base, held, max_workspaces=1) as server, ThreadPoolExecutor() as threads:
        alpha, beta = server.reach("alpha"), server.reach("beta")
        searching = threads.submit(alpha.searcher.search, SearchRequest("capybara"))
        assert held.asked.wait(SECONDS)
        waiting = threads.submit(beta.indexer.grep, GrepRequest("dormouse"))
        assert [one.workspace for one in server.opened()] == [f"{server.base}/src/alpha"]
        assert not waiting.done()
        held.gate.set()
        assert "capybara" in searching.result(SECONDS).hits[0].text
        assert waiting.result(SECONDS).matches
        assert [one.workspace for one in server.opened()] == [f"{server.base}/src/beta"]


def test_one_with_a_run_under_way_is_not_closed_and_its_runs_are_known_after_it(
    indexed: Spaces, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held()
    monkeypatch.setattr(local, "_open_embedder", lambda _settings: held)
    write(indexed.base / "src" / "delta", "tapir")
    project.write(indexed.base / "src" / "delta", project.Options(), ())
    with served(indexed.base, held, max_workspaces=1) as server, ThreadPoolExecutor() as threads:
        remote = server.stack.enter_context(connected(server.address, OWN_TOKEN))
        delta = RemoteIndexer(remote.connection, f"{server.base}/src/delta")
        calls = Calls(remote.connection, f"{server.base}/src/delta")
        stub = IndexerServiceStub(remote.connection.channel)

        def runs() -> list[str]:
            return [run.id for run in calls.unary(stub.ListIndexRuns, pb.ListIndexRunsRequest(), seconds=SECONDS).runs]

        request = IndexRequest(request_id="once")
        indexing = threads.submit(delta.index, request, lambda _event: None)
        assert held.asked.wait(SECONDS)
        (run,) = runs()
        assert [(one.workspace, one.indexing) for one in server.opened()] == [(f"{server.base}/src/delta", True)]
        held.gate.set()
        report = indexing.result(SECONDS)
        assert (report.errors, report.chunks_embedded > 0) == ((), True)
        assert server.reach("beta").indexer.grep(GrepRequest("dormouse")).matches
        assert [one.workspace for one in server.opened()] == [f"{server.base}/src/beta"]
        assert runs() == [run]
        assert delta.index(request, lambda _event: None) == report, "a replay is the same run"
        assert runs() == [run]


def test_folders_of_one_name_are_not_one_folder_for_a_token(server: Spaces) -> None:
    assert server.tokens is not None
    scopes = [Scope.SEARCH, Scope.INDEX]
    _, of_docs = server.tokens.create("docs", scopes, ["docs"])
    _, of_alpha = server.tokens.create("alpha", scopes, ["docs"], [f"{server.base}/src/alpha"])
    _, of_all = server.tokens.create("all", scopes)
    allowed = {of_docs: {""}, of_alpha: {"alpha"}, of_all: set(WORDS)}
    try:
        for token, names in allowed.items():
            for name, word in WORDS.items():
                reached = server.reach(name, token)
                calls = (c for n, c in CALLS.items() if n != "index")
                for call in calls:
                    with pytest.raises(WorkspaceNotFoundError) if name not in names else contextlib.nullcontext():
                        call(reached, word)
                with pytest.raises(WorkspaceNotFoundError) if name not in names else contextlib.nullcontext():
                    reached.indexer.index(IndexRequest(folders=("docs",)), lambda _event: None)
        opened = server.reach("alpha", of_alpha).indexer.status().open_workspaces
        assert [one.workspace for one in opened] == [f"{server.base}/src/alpha"]
        with pytest.raises(UnauthenticatedError):
            server.reach("alpha", "evf_nobody").indexer.status()
    finally:
        server.tokens.path.unlink()


def test_status_says_what_is_wrong_with_one_that_is_listed(indexed: Spaces) -> None:
    broken = indexed.base / "broken"
    (broken / ".everfind").mkdir(parents=True)
    (broken / ".everfind" / "config.toml").write_text("folders = [\n", encoding="utf-8")
    with served(indexed.base, indexed.embedder, workspaces=["lib", str(broken)]) as server:
        assert server.tokens is not None
        scopes = [Scope.SEARCH]
        _, of_lib = server.tokens.create("lib", scopes, [], ["lib"])
        try:
            (finding,) = server.reach("").indexer.status().findings
            assert (finding.check, finding.severity) == ("workspace", Severity.ERROR)
            assert finding.message.startswith(f"{broken}: {broken}/.everfind/config.toml:")
            assert server.reach("lib", of_lib).indexer.status().findings == ()
            assert server.reach("lib").searcher.search(SearchRequest("animal")).hits
            remote = server.stack.enter_context(connected(server.address, OWN_TOKEN))
            with pytest.raises(ConfigError, match=r"config\.toml:"):
                RemoteSearcher(remote.connection, str(broken)).search(SearchRequest("animal"))
        finally:
            server.tokens.path.unlink()


def test_errors_are_those_of_the_workspace(server: Spaces) -> None:
    alpha = server.reach("alpha")
    wrong: list[tuple[type[EverfindError], Callable[[], object]]] = [
        (InvalidRequestError, lambda: alpha.searcher.search(SearchRequest(""))),
        (FileNotIndexableError, lambda: alpha.indexer.read_file(ReadFileRequest("docs", "dormouse.py"))),
        (FolderNotFoundError, lambda: alpha.indexer.grep(GrepRequest("x", folders=("own",)))),
    ]
    for kind, call in wrong:
        with pytest.raises(kind):
            call()


def test_a_new_project_is_found_and_has_no_index_yet(server: Spaces) -> None:
    write(server.base / "src" / "gamma", "echidna")
    config = server.base / "src" / "gamma" / ".everfind" / "config.toml"
    config.parent.mkdir()
    config.write_text('[[folders]]\npath = "docs"\n', encoding="utf-8")
    reached = server.stack.enter_context(connected(server.address, OWN_TOKEN))
    gamma = RemoteSearcher(reached.connection, f"{server.base}/src/gamma")
    with pytest.raises(IndexMissingError):
        gamma.search(SearchRequest("animal"))
    assert not (config.parent / "index").exists(), "a question makes nothing"
    RemoteIndexer(reached.connection, f"{server.base}/src/gamma").index(IndexRequest(), lambda _event: None)
    assert "echidna" in gamma.search(SearchRequest("echidna")).hits[0].text


def test_a_command_in_the_project_finds_the_server_that_has_it_open(server: Spaces) -> None:
    server.reach("alpha").searcher.search(SearchRequest("animal"))
    settings = load_settings(workspace=server.asked("alpha"))
    found = running_server(settings.index_dir, settings.digest)
    assert found is not None
    assert (found.address, found.workspace) == (server.address, f"{server.base}/src/alpha")
    with local.open_local(settings) as workspace:
        assert "capybara" in workspace.searcher.search(SearchRequest("capybara")).hits[0].text


# --- worktrees --------------------------------------------------------------------------------------------------------


def git(where: Path, *arguments: str) -> None:
    author = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *author, *arguments], cwd=where, check=True, capture_output=True, timeout=60)


@pytest.mark.parametrize("place", ["beside", "inside"])
def test_worktrees_share_vectors_and_answer_from_their_own_files(
    base: Path, embedder: FakeEmbedder, own_model: None, place: str
) -> None:
    root = base / "src" / f"repo-{place}"
    root.mkdir()
    for number in range(20):
        (root / f"n{number}.md").write_text(f"# Note {number} {place}\n\nThe quokka of note {number} is kind.\n")
    project.write(root, project.Options(), ())
    git(root, "init")
    git(root, "add", ".")
    git(root, "commit", "-m", "notes")
    tree = root / "trees" / "w" if place == "inside" else base / "src" / "worktree"
    git(root, "worktree", "add", "-b", "topic", str(tree))
    (tree / "n3.md").write_text(f"# Note 3\n\nThe numbat of note 3 is new {place}.\n")

    with served(base, embedder) as spaces, connected(spaces.address, OWN_TOKEN) as remote:

        def ask(where: Path, word: str) -> list[tuple[str, str]]:
            answer = RemoteSearcher(remote.connection, str(where)).search(SearchRequest(word, limit=100))
            return [(hit.path, hit.absolute_path) for hit in answer.hits if word in hit.text]

        RemoteIndexer(remote.connection, str(root)).index(IndexRequest(), lambda _event: None)
        report = RemoteIndexer(remote.connection, str(tree)).index(IndexRequest(), lambda _event: None)
        assert report.chunks_embedded == 1, "the changed note alone"
        assert report.chunks_reused >= 19
        assert ask(tree, "numbat") == [("n3.md", f"{tree}/n3.md")]
        assert ask(root, "numbat") == []
        quokkas = [(f"n{n}.md", f"{root}/n{n}.md") for n in range(20)]
        assert sorted(ask(root, "quokka")) == sorted(quokkas)
        assert {place for _, place in ask(tree / "x", "quokka")} == {f"{tree}/n{n}.md" for n in range(20) if n != 3}

        git(root, "checkout", "-b", "other")
        git(root, "rm", "n4.md")
        report = RemoteIndexer(remote.connection, str(root)).index(IndexRequest(), lambda _event: None)
        assert (report.chunks_embedded, report.deleted) == (0, 1)
        git(root, "checkout", "-f", "main")
        git(root, "checkout", "HEAD", "--", ".")
        report = RemoteIndexer(remote.connection, str(root)).index(IndexRequest(), lambda _event: None)
        assert report.chunks_embedded == 0, "the branch's notes had vectors before"
        assert ("n4.md", f"{root}/n4.md") in ask(root, "quokka")
