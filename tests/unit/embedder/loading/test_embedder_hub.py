from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from everfind_core.errors import ConfigError, ModelUnusableError, StorageError, UnavailableError
from everfind_core.model import InputKind, ModelSource
from everfind_embedder import EmbedderSettings, open_embedder
from everfind_embedder.loading.hub import Hub

COMMIT = "0123456789abcdef0123456789abcdef01234567"
LARGE = "onnx/model.onnx"
Write = Callable[..., Path]
Model = dict[str, Any]


class StandIn:
    """A hub with one model, and the faults that a test asks for."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.requests: list[str] = []
        self.ranges: list[str] = []
        self.break_after = 0
        self.corrupt = ""
        self.status = 0
        self.listing: dict[str, Any] | None = None
        self.url = ""

    def files(self) -> list[dict[str, Any]]:
        return [
            self._entry(path.relative_to(self.directory).as_posix(), path.read_bytes())
            for path in sorted(self.directory.rglob("*"))
            if path.is_file()
        ]

    def _entry(self, name: str, content: bytes) -> dict[str, Any]:
        entry: dict[str, Any] = {"rfilename": name, "size": len(content)}
        if name == LARGE:
            return entry | {"blobId": "ignored", "lfs": {"sha256": hashlib.sha256(content).hexdigest()}}
        return entry | {"blobId": hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest()}

    def answer(self, path: str, start: int) -> tuple[int, bytes]:
        if self.status:
            return self.status, b""
        if path.startswith("/api/models/org/tiny/revision/"):
            listing = self.listing or {"sha": COMMIT, "siblings": self.files()}
            return 200, json.dumps(listing).encode()
        prefix = f"/org/tiny/resolve/{COMMIT}/"
        file = self.directory / path.removeprefix(prefix)
        if not path.startswith(prefix) or not file.is_file():
            return 404, b""
        content = file.read_bytes()
        if path.endswith(self.corrupt or "\0"):
            content = b"?" + content[1:]
        return (206 if start else 200), content[start:]


def handler_of(hub: StandIn) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = unquote(urlsplit(self.path).path)
            hub.requests.append(path)
            span = self.headers.get("Range", "")
            if span:
                hub.ranges.append(span)
            status, body = hub.answer(path, int(span.removeprefix("bytes=").rstrip("-") or 0))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if hub.break_after and path.endswith(LARGE):
                body, hub.break_after = body[: hub.break_after], 0
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
            pass

    return Handler


@pytest.fixture
def hub(tiny_model: Write) -> Iterator[StandIn]:
    stand_in = StandIn(tiny_model(files={"README.md": "not needed", "onnx/model_O4.onnx": "not needed"}))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(stand_in))
    stand_in.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield stand_in
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def test_a_hub_model_embeds(hub: StandIn, cache: Path) -> None:
    settings = EmbedderSettings(model="org/tiny@v1.0/x", hub_endpoint=hub.url + "/", cache_dir=cache)
    engine = open_embedder(settings)
    assert hub.requests == []
    assert engine.embed(["red"], InputKind.QUERY).shape == (1, 4)
    assert (engine.model().id, engine.model().source) == ("org/tiny", ModelSource.HUB)
    assert hub.requests[0] == "/api/models/org/tiny/revision/v1.0/x"


def test_only_needed_files_come_and_only_once(hub: StandIn, cache: Path) -> None:
    directory = Hub(hub.url, cache).fetch("org/tiny", "main")
    assert directory == cache / "org--tiny" / COMMIT
    assert sorted(p.relative_to(directory).as_posix() for p in directory.rglob("*") if p.is_file()) == [
        "1_Pooling/config.json",
        "modules.json",
        "onnx/model.onnx",
        "sentence_bert_config.json",
        "tokenizer.json",
    ]
    asked = len(hub.requests)
    hub.status = 500
    assert Hub(hub.url, cache).fetch("org/tiny", "main") == directory
    assert Hub("http://127.0.0.1:9", cache).fetch("org/tiny", COMMIT) == directory
    assert len(hub.requests) == asked


def test_another_name_for_a_cached_commit_downloads_nothing(hub: StandIn, cache: Path) -> None:
    Hub(hub.url, cache).fetch("org/tiny", "main")
    hub.requests.clear()
    Hub(hub.url, cache).fetch("org/tiny", "v1")
    assert hub.requests == ["/api/models/org/tiny/revision/v1"]


def test_external_data_comes_too(hub: StandIn, cache: Path, tiny_model: Write) -> None:
    tiny_model(external_data=True)
    directory = Hub(hub.url, cache).fetch("org/tiny", "main")
    assert (directory / "onnx/model.onnx_data").is_file()


def test_a_broken_connection_is_resumed(hub: StandIn, cache: Path) -> None:
    hub.break_after = 100
    directory = Hub(hub.url, cache).fetch("org/tiny", "main")
    assert hub.ranges == ["bytes=100-"]
    assert (directory / LARGE).read_bytes() == (hub.directory / LARGE).read_bytes()


def test_an_interrupted_download_goes_on_in_the_next_run(hub: StandIn, cache: Path) -> None:
    partial = cache / "org--tiny" / f"{COMMIT}.partial" / "onnx"
    partial.mkdir(parents=True)
    (partial / "model.onnx.part").write_bytes((hub.directory / LARGE).read_bytes()[:50])
    Hub(hub.url, cache).fetch("org/tiny", "main")
    assert hub.ranges == ["bytes=50-"]


@pytest.mark.parametrize("name", [LARGE, "tokenizer.json"])
def test_a_damaged_file_is_never_kept(hub: StandIn, cache: Path, name: str) -> None:
    hub.corrupt = name
    with pytest.raises(ModelUnusableError, match=f"{name} of the model org/tiny arrived damaged: its digest is"):
        Hub(hub.url, cache).fetch("org/tiny", "main")
    assert not (cache / "org--tiny" / COMMIT).exists()
    hub.corrupt = ""
    assert Hub(hub.url, cache).fetch("org/tiny", "main").is_dir()


@pytest.mark.parametrize("status", [401, 404])
def test_no_such_model(hub: StandIn, cache: Path, status: int) -> None:
    hub.status = status
    with pytest.raises(ModelUnusableError, match=f"no public model org/tiny at this revision .HTTP {status}"):
        Hub(hub.url, cache).fetch("org/tiny", "main")


def test_a_failing_hub(hub: StandIn, cache: Path) -> None:
    hub.status = 503
    with pytest.raises(UnavailableError, match="answered HTTP 503"):
        Hub(hub.url, cache).fetch("org/tiny", "main")


@pytest.mark.parametrize(
    "listing",
    [
        {"sha": COMMIT},
        {"sha": "../../etc", "siblings": []},
        {"sha": COMMIT, "siblings": [{"rfilename": "../../x"}]},
        {"sha": COMMIT, "siblings": ["x"]},
    ],
)
def test_a_hub_that_is_none(hub: StandIn, cache: Path, listing: dict[str, Any]) -> None:
    hub.listing = listing
    with pytest.raises(UnavailableError, match="did not answer"):
        Hub(hub.url, cache).fetch("org/tiny", "main")


def test_a_model_without_a_graph(hub: StandIn, cache: Path) -> None:
    (hub.directory / LARGE).unlink()
    with pytest.raises(ModelUnusableError, match="has no ONNX export"):
        Hub(hub.url, cache).fetch("org/tiny", "main")


def test_proxies_of_the_environment_are_used(hub: StandIn, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", hub.url)
    assert Hub("http://hub.invalid", cache).fetch("org/tiny", "main").is_dir()


def test_no_hub_at_all(cache: Path) -> None:
    with pytest.raises(UnavailableError, match=r"does not answer at http://127\.0\.0\.1:9/") as caught:
        Hub("http://127.0.0.1:9", cache).fetch("org/tiny", "main")
    assert "configure its directory" in caught.value.hint


def test_a_cache_that_cannot_be_written(hub: StandIn, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot be written: Not a directory"):
        Hub(hub.url, tmp_path / "file").fetch("org/tiny", "main")


@pytest.mark.parametrize("endpoint", ["ftp://host", "host", "file:///etc", ""])
def test_an_endpoint_must_be_http(cache: Path, endpoint: str) -> None:
    with pytest.raises(ConfigError, match="is not an http or https address"):
        Hub(endpoint, cache)


@pytest.mark.parametrize("model", ["", "minilm", "a/b/c", "org/na me", "org/name@", "-x/y", "org/name@../up"])
def test_a_name_of_no_model(model: str) -> None:
    with pytest.raises(ConfigError, match="names no model"):
        open_embedder(EmbedderSettings(model=model))


def test_negative_threads() -> None:
    with pytest.raises(ConfigError, match="threads: -1 is negative"):
        open_embedder(EmbedderSettings(threads=-1))
