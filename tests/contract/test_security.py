"""What a hostile client may try over the wire: paths, filters, messages, and folders that its token does not see."""

from __future__ import annotations

import contextlib
import random
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import grpc
import pytest

from everfind_core.errors import EverfindError, FileNotIndexableError, FolderUnusableError, InternalError
from everfind_core.model import (
    Filters,
    Folder,
    GatherRequest,
    GrepRequest,
    IndexRequest,
    ReadFileRequest,
    RelatedRequest,
    SearchRequest,
)
from everfind_core.ports import Embedder
from everfind_indexer.engine import IndexEngine
from everfind_indexer.settings import IndexerSettings
from everfind_indexer.store import open_writer
from everfind_indexer.syntax import SyntaxChunker
from everfind_rpc.auth import Scope, TokenFile
from everfind_rpc.channel import MAX_MESSAGE_BYTES
from everfind_rpc.serving.metrics import PrometheusMetrics
from everfind_rpc.serving.server import ServerSettings
from everfind_rpc.serving.service import Service, Unary
from everfind_searcher.engine import SearchEngine
from everfind_searcher.settings import SearcherSettings
from everfind_searcher.store import open_reader
from tests.contract.conftest import Engines
from tests.support.serving import Remote, connected, serving

FILES = {
    # the folder that the token sees
    "docs/old.md": "---\nstatus: superseded\nsuperseded_by: new.md\n---\n# Sessions\n\nA session ends after an hour.\n",
    "docs/new.md": "# Sessions\n\nA session ends after a day.\n",
    "docs/away.md": "---\nstatus: superseded\nsuperseded_by: ../zebra/there.md\n---\n# Logs\n\nLogs rotate weekly.\n",
    "docs/call.py": "def opening():\n    return shared_helper()\n\n\ndef shared_helper():\n    return 1\n",
    "docs/sub/deep.md": "# Deep\n\nThe capybara is the largest rodent.\n",
    # the one that it does not see: a narwhal in each file, and names that occur nowhere else
    "zebra/there.md": "# Logs\n\nLogs rotate daily. narwhal\n",
    "zebra/gone.md": "---\nstatus: superseded\nsuperseded_by: ../docs/new.md\n---\n# Sessions end. narwhal\n",
    "zebra/quagga.py": "def quagga_caller():\n    # narwhal\n    return shared_helper() + opening()\n",
    "zebra/gnu.py": "def shared_helper():\n    return gnu_only()  # narwhal\n\n\ndef gnu_only():\n    return 2\n",
    # no folder of everfind's; its path begins as the first one's
    "docs-private/walrus.md": "# Keys\n\nwalrus\n",
}
UNSEEN = ("narwhal", "walrus", "quagga", "gnu_only", "gone.md", "gnu.py")


@dataclass
class Site:
    base: Path
    address: str
    services: list[Service]
    metrics: PrometheusMetrics
    remote: Remote
    """A client whose token may do everything in ``docs``, and sees nothing else."""

    operator: Remote
    """One whose token sees everything."""

    secret: str


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Site]:
    base = tmp_path_factory.mktemp("site")
    for name, text in FILES.items():
        path = base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    folders = (Folder("docs", str(base / "docs")), Folder("zebra", str(base / "zebra")))
    indexer = IndexEngine(IndexerSettings(base / "index", folders), embedder, SyntaxChunker(), open_writer)
    indexer.index(IndexRequest(), lambda _event: None)
    searcher = SearchEngine(SearcherSettings(base / "index"), embedder, indexer, open_reader)
    services = Engines(embedder, indexer, searcher, base).services()
    tokens = TokenFile(base / "tokens.json")
    _, secret = tokens.create("guest", [Scope.SEARCH, Scope.INDEX], ["docs"])
    metrics = PrometheusMetrics()
    settings = ServerSettings("127.0.0.1:0", tokens, drain_seconds=0.0, grace_seconds=5.0)
    _, master = tokens.create("operator", [Scope.ADMIN])
    with (
        serving(services, settings, metrics) as address,
        connected(address, secret) as remote,
        connected(address, master) as operator,
    ):
        yield Site(base, address, services, metrics, remote, operator, secret)
    searcher.close()


Call = Callable[[Remote], object]


def outcome(call: Call, remote: Remote) -> str:
    """All that the caller gets to see. A fault of the server's own is no answer to bad input."""
    try:
        return repr(call(remote))
    except InternalError:
        raise
    except EverfindError as error:
        return f"{type(error).__name__} {error.message} {error.hint} {error.details} {error.violations}"


# --- folders that the token does not see ----------------------------------------------------------------------------

ALL = Filters(all_statuses=True)
LOOKS: dict[str, Call] = {
    "search": lambda r: r.searcher.search(SearchRequest("a session ends narwhal", limit=100)),
    "search replaced elsewhere": lambda r: r.searcher.search(SearchRequest("logs rotate weekly", limit=100)),
    "search all": lambda r: r.searcher.search(SearchRequest("logs rotate session ends", limit=100, filters=ALL)),
    "search explained": lambda r: r.searcher.search(SearchRequest("shared_helper narwhal", limit=100, explain=True)),
    "search with a hop": lambda r: r.searcher.search(SearchRequest("shared_helper opening", limit=100, graph_hops=1)),
    "gather": lambda r: r.searcher.gather(
        GatherRequest(SearchRequest("logs session narwhal", limit=100, filters=ALL), context_lines=100)
    ),
    "related symbol": lambda r: r.searcher.related(RelatedRequest(symbol="shared_helper", limit=100)),
    "related callers": lambda r: r.searcher.related(RelatedRequest(symbol="opening", limit=100)),
    "related to what is only there": lambda r: r.searcher.related(RelatedRequest(symbol="gnu_only", limit=100)),
    "related to a place": lambda r: r.searcher.related(RelatedRequest(folder="docs", path="call.py", line=2)),
    "status": lambda r: (r.searcher.status(), r.indexer.status(skipped_files=True), r.indexer.folders()),
    "grep": lambda r: r.indexer.grep(GrepRequest(".", regex=True)),
    "files": lambda r: (r.indexer.indexed_files(), r.indexer.indexed_files(globs=("*", "**/*.md"))),
    "index": lambda r: r.indexer.index(IndexRequest(force=True), lambda _event: None),
}
QUIET = ("related to what is only there", "status", "index")
"""Those that tell nobody the words of :data:`UNSEEN`."""


@pytest.mark.parametrize("name", LOOKS)
def test_no_answer_speaks_of_another_folder(site: Site, name: str) -> None:
    text = outcome(LOOKS[name], site.remote).replace("narwhal", "", _own_words(name))
    assert "Error" not in text.partition(" ")[0] or name == "related to what is only there"
    own = {"gnu_only"} if name == QUIET[0] else set()
    assert not [word for word in UNSEEN if word in text and word not in own]


@pytest.mark.parametrize("name", sorted(LOOKS.keys() - set(QUIET)))
def test_who_may_see_the_other_folder_sees_it_in_the_same_answer(site: Site, name: str) -> None:
    text = outcome(LOOKS[name], site.operator).replace("narwhal", "", _own_words(name))
    assert [word for word in (*UNSEEN, "there.md") if word in text]


def _own_words(name: str) -> int:
    """How often an answer repeats the word of its own question."""
    return {"search": 1, "search explained": 1, "gather": 1}.get(name, 0)


def _related(symbol: str, remote: Remote) -> object:
    return remote.searcher.related(RelatedRequest(symbol=symbol))


def test_a_symbol_of_another_folder_is_answered_as_one_that_is_nowhere(site: Site) -> None:
    there, nowhere = (
        outcome(partial(_related, symbol), site.remote).replace(symbol, "?") for symbol in ("gnu_only", "no_where")
    )
    assert there == nowhere


def test_only_what_is_hidden_in_the_own_folder_is_counted(site: Site) -> None:
    answer = site.remote.searcher.search(SearchRequest("when does a session end", limit=100, min_score=-1.0))
    assert dict(answer.hidden.by_rule) == {"superseded": 2}
    assert (answer.hidden.best_folder, answer.hidden.best_path) == ("docs", "old.md")
    assert {hit.folder for hit in answer.hits} == {"docs"}


def test_metrics_name_no_folder_path_or_question(site: Site) -> None:
    from prometheus_client import generate_latest

    outcome(lambda r: r.searcher.search(SearchRequest("narwhal", filters=Filters(folders=("zebra",)))), site.remote)
    text = generate_latest(site.metrics.registry).decode()
    assert 'call="everfind.searcher.v1.SearcherService/Search"' in text
    assert site.metrics.registry.get_sample_value("everfind_index_files") == len(FILES) - 1
    size = site.metrics.registry.get_sample_value("everfind_table_bytes")
    assert size is not None
    assert size > 0
    assert not [word for word in (*UNSEEN, "zebra", str(site.base), site.secret) if word in text]


# --- paths ----------------------------------------------------------------------------------------------------------

PATHS = (
    "..",
    "../docs-private/walrus.md",
    "../zebra/there.md",
    "sub/../../docs-private/walrus.md",
    "-private/walrus.md",
    "/etc/passwd",
    "//etc/passwd",
    "{base}/docs-private/walrus.md",
    "new.md\0../docs-private/walrus.md",
    "..\\docs-private\\walrus.md",
    "./../docs-private",
    "%2e%2e/docs-private/walrus.md",
    "~/walrus.md",
    "sub/" * 2_000,
    "\udcff",
)
BY_PATH: dict[str, Callable[[Remote, str], object]] = {
    "read": lambda r, p: r.indexer.read_file(ReadFileRequest("docs", p)),
    "related": lambda r, p: r.searcher.related(RelatedRequest(folder="docs", path=p, line=1)),
    "index below": lambda r, p: r.indexer.index(IndexRequest(folders=("docs",), below=p), lambda _event: None),
    "grep": lambda r, p: r.indexer.grep(GrepRequest("walrus", globs=(p,))),
    "search": lambda r, p: r.searcher.search(SearchRequest("keys", filters=Filters(include=(p,)))),
    "search without": lambda r, p: r.searcher.search(SearchRequest("keys", filters=Filters(exclude=(p,)))),
    "gather": lambda r, p: r.searcher.gather(GatherRequest(SearchRequest("keys", filters=Filters(include=(p,))))),
}


@pytest.mark.parametrize("name", BY_PATH)
@pytest.mark.parametrize("path", PATHS, ids=range(len(PATHS)))
def test_no_path_leads_out_of_its_folder(site: Site, name: str, path: str) -> None:
    asked = path.replace("{base}", str(site.base))
    try:
        text = repr(BY_PATH[name](site.remote, asked))
    except InternalError:
        raise
    except (EverfindError, UnicodeEncodeError):  # the latter is what a Python string says that no message can hold
        return
    assert "root:" not in text
    assert "# Keys" not in text
    assert "rotate daily" not in text
    assert name not in ("read", "related")
    assert not site.remote.indexer.grep(GrepRequest("walrus")).matches


@pytest.mark.parametrize("swapped", ["sub/deep.md", "sub"])
def test_links_that_come_between_check_and_open_are_not_followed(site: Site, swapped: str) -> None:
    place, outside = site.base / "docs" / swapped, site.base / "docs-private"
    link = site.base / "link"
    kept = site.base / "kept"
    target = outside if swapped == "sub" else outside / "walrus.md"
    if swapped == "sub":
        (outside / "deep.md").write_text("walrus\n")
    around = GatherRequest(SearchRequest("the largest rodent", limit=50, min_score=-1.0), context_lines=50)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            place.rename(kept)
            link.symlink_to(target)
            link.rename(place)
            place.unlink()
            kept.rename(place)

    swapping = threading.Thread(target=swap)
    swapping.start()
    seen = set()
    try:
        for _ in range(60):
            with contextlib.suppress(FileNotIndexableError):
                seen.add(site.remote.indexer.read_file(ReadFileRequest("docs", "sub/deep.md")).text)
            assert not site.remote.indexer.grep(GrepRequest("walrus")).matches
            with contextlib.suppress(FileNotIndexableError):
                assert "walrus" not in site.remote.searcher.gather(around).markdown
        with contextlib.suppress(FolderUnusableError):
            site.remote.indexer.index(IndexRequest(force=True), lambda _event: None)
        assert "walrus" not in repr(site.remote.searcher.search(around.search))
    finally:
        stop.set()
        swapping.join()
        (outside / "deep.md").unlink(missing_ok=True)
        site.remote.indexer.index(IndexRequest(), lambda _event: None)  # as it was, for other tests
    assert seen <= {FILES["docs/sub/deep.md"].rstrip("\n")}


# --- filters --------------------------------------------------------------------------------------------------------

INJECTIONS = ("' OR '1'='1", "x') OR (folder = 'zebra", 'x" OR "1"="1', "zebra' --", "%", "\\", "*", "{", "\0", "';\n")
FIELDS = ("folders", "include", "exclude", "languages", "kinds", "statuses", "exclude_statuses")


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("value", INJECTIONS)
def test_a_filters_value_is_only_a_value(site: Site, field: str, value: str) -> None:
    filters = Filters(**{field: (value,)})  # type: ignore[arg-type]  # all of FIELDS are lists of text
    search, related = (
        SearchRequest("logs rotate", 100, filters=filters),
        RelatedRequest("shared_helper", filters=filters),
    )
    for text in (
        outcome(lambda r: {hit.folder for hit in r.searcher.search(search).hits}, site.remote),
        outcome(lambda r: {one.hit.folder for one in r.searcher.related(related).related}, site.remote),
    ):
        assert "Error" in text or text in ("set()", "{'docs'}"), text


BOMBS = ("*a" * 40 + "b", "e/**/" * 60 + "b", "/".join(["*e*e*e*e*e"] * 8) + "/b")


@pytest.mark.parametrize("glob", BOMBS)
def test_no_glob_takes_the_server_with_it(site: Site, glob: str) -> None:
    place = site.base / "docs" / ("a" * 200 + ".md")
    place.write_text("# Long\n\nA long name.\n")
    try:
        site.remote.indexer.index(IndexRequest(), lambda _event: None)
        filters = Filters(include=(glob,), exclude=(glob,))
        assert site.remote.indexer.grep(GrepRequest("long", globs=(glob,))).matches == ()
        assert site.remote.indexer.indexed_files(globs=(glob,)) == []
        assert site.remote.searcher.search(SearchRequest("a long name", filters=filters)).hits == ()
    finally:
        place.unlink()
        site.remote.indexer.index(IndexRequest(), lambda _event: None)


# --- messages -------------------------------------------------------------------------------------------------------

REFUSALS = {
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.PERMISSION_DENIED,
}


def test_malformed_messages_are_refused_by_every_call(site: Site) -> None:
    noise = random.Random(4)
    for service in site.services:
        for name, method in service.methods.items():
            if not isinstance(method, Unary):
                continue
            if method.scopes == {Scope.ADMIN}:
                assert _code(site, f"{service.name}/{name}", b"\xff" * 40) is grpc.StatusCode.PERMISSION_DENIED
                continue
            for content in (b"\xff" * 40, b"\x0a\xff\xff\xff\xff\x0f", *(noise.randbytes(n) for n in (3, 30, 300))):
                assert _code(site, f"{service.name}/{name}", content) in {*REFUSALS, grpc.StatusCode.OK}, name
            assert _code(site, f"{service.name}/{name}", b"\xff" * 40) is grpc.StatusCode.INVALID_ARGUMENT
    assert site.remote.searcher.search(SearchRequest("session")).hits


def test_an_oversized_message_is_refused_and_the_server_goes_on(site: Site) -> None:
    code = _code(site, "everfind.searcher.v1.SearcherService/Search", b"\x12" + b"x" * MAX_MESSAGE_BYTES)
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert site.remote.searcher.search(SearchRequest("session")).hits


def _code(site: Site, name: str, content: bytes) -> grpc.StatusCode:
    channel = grpc.insecure_channel(site.address, [("grpc.max_send_message_length", -1)])
    with channel:
        method: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(f"/{name}")
        try:
            method(content, timeout=30, metadata=(("authorization", f"Bearer {site.secret}"),))
        except grpc.RpcError as error:
            code: grpc.StatusCode = error.code()
            return code
    return grpc.StatusCode.OK
