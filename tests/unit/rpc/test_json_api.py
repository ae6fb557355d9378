"""Calls to a provider: what is sent where, which answers are tried again, and what errors say."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from everfind_core.cancellation import Cancellation
from everfind_core.errors import CancelledError, ConfigError, EverfindError, ModelUnusableError, UnavailableError
from everfind_rpc import json_api
from everfind_rpc.json_api import ATTEMPTS, ApiEndpoint, JsonApi, read_key
from tests.support.providers import Answer, serve


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_api, "FIRST_PAUSE", 0.01)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


def answers(*given: Answer) -> Iterator[Answer]:
    yield from given
    while True:
        yield given[-1]


def ask(*given: Answer, key: str = "k", **options: Any) -> tuple[Any, int]:
    """What the caller gets, and how often the provider was asked."""
    following = answers(*given)
    with serve(lambda _path, _body: next(following)) as provider:
        api = JsonApi(ApiEndpoint(provider.url, key))
        try:
            result = api.post("/x", {"a": 1}, **options)
        except EverfindError as error:
            return error, len(provider.bodies)
        finally:
            api.close()
        assert provider.paths == ["/x"] * len(provider.paths)
        assert provider.bodies[0] == {"a": 1}
        assert provider.keys[0] == f"Bearer {key}"
        return result, len(provider.bodies)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
def test_a_passing_trouble_is_tried_again(status: int) -> None:
    assert ask((status, "busy", {}), (200, {"b": 2}, {})) == ({"b": 2}, 2)


@pytest.mark.parametrize("body", ["no json", "[]"])
def test_an_odd_answer_is_tried_again_and_then_said(body: str) -> None:
    error, asked = ask((200, body, {}))
    assert isinstance(error, UnavailableError)
    assert asked == ATTEMPTS


@pytest.mark.parametrize(("status", "what"), [(401, "refuses the key"), (400, "refuses the request"), (301, "request")])
def test_a_refusal_is_not_tried_again(status: int, what: str) -> None:
    error, asked = ask((status, "no such\nmodel", {"Location": "http://127.0.0.1:1/"}))
    assert isinstance(error, ModelUnusableError)
    assert what in error.message
    assert "no such model" in error.message
    assert asked == 1


def test_the_key_is_never_shown() -> None:
    for status in (401, 400, 503):
        error, _ = ask((status, "the key s3cret is bad", {}), key="s3cret")
        assert isinstance(error, EverfindError)
        assert "s3cret" not in f"{error.message}{error.hint}{error.details}"
    assert "s3cret" not in repr(ApiEndpoint("https://a", "s3cret"))


def test_the_provider_says_how_long_to_wait() -> None:
    started = time.monotonic()
    assert ask((429, "", {"Retry-After": "1"}), (200, {}, {})) == ({}, 2)
    assert time.monotonic() - started >= 1


def test_a_budget_bounds_the_whole_call() -> None:
    started = time.monotonic()
    error, asked = ask((503, "", {"Retry-After": "120"}), budget=0.5)
    assert isinstance(error, UnavailableError)
    assert asked == 1
    assert time.monotonic() - started < 60


def test_nobody_there_is_said() -> None:
    api = JsonApi(ApiEndpoint("http://127.0.0.1:9", ""))
    with pytest.raises(UnavailableError, match=r"http://127\.0\.0\.1:9 does not answer"):
        api.post("/x", {})
    api.close()


def test_calls_keep_their_distance() -> None:
    with serve(lambda _path, _body: (200, {}, {})) as provider:
        api = JsonApi(ApiEndpoint(provider.url, "", interval=0.2))
        started = time.monotonic()
        threads = [threading.Thread(target=api.post, args=("/x", {})) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        api.close()
    assert time.monotonic() - started >= 0.4
    assert len(provider.bodies) == 3


def test_a_cancelled_call_stops_waiting() -> None:
    cancel = Cancellation()
    threading.Timer(0.2, cancel.cancel).start()
    with serve(lambda _path, _body: (503, "", {"Retry-After": "120"})) as provider:
        api = JsonApi(ApiEndpoint(provider.url))
        started = time.monotonic()
        with pytest.raises(CancelledError):
            api.post("/x", {}, cancel=cancel)
        api.close()
    assert time.monotonic() - started < 60


def test_the_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(lambda path, _body: (200, {"asked": path}, {})) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("NO_PROXY", "")
        api = JsonApi(ApiEndpoint("http://provider.invalid/v1"))
        assert api.post("/x", {}) == {"asked": "http://provider.invalid/v1/x"}
        api.close()


@pytest.mark.parametrize("url", ["", "host", "ftp://host", "https://", "https://host?x=1", "file:///etc/passwd"])
def test_an_endpoint_is_an_address(url: str) -> None:
    with pytest.raises(ConfigError, match="model_endpoint"):
        ApiEndpoint(url).checked("model_endpoint")


def test_a_key_goes_to_other_machines_over_tls_only() -> None:
    with pytest.raises(ConfigError, match="in the clear"):
        ApiEndpoint("http://far.example/v1", "k").checked("model_endpoint")
    for url in ("http://127.0.0.1:1/v1", "http://localhost:1", "http://[::1]:1", "https://far.example"):
        assert ApiEndpoint(url + "/", "k").checked("x").url == url
    assert ApiEndpoint("http://far.example").checked("x").key == ""


def test_a_key_comes_from_the_environment_or_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "key"
    file.write_text("abc\n", encoding="utf-8")
    assert read_key(None, "s") == ""
    assert read_key(file, "s") == "abc"
    monkeypatch.setenv("A_KEY", "def")
    assert read_key(file, "s", "A_KEY") == "def"
    for content in (b"", b"two words", b"\xff"):
        file.write_bytes(content)
        with pytest.raises(ConfigError):
            read_key(file, "s")
    with pytest.raises(ConfigError, match="key_file"):
        read_key(tmp_path / "none", "key_file")
