"""Tokens: kept as hashes, found by comparing in constant time, changed under a running server."""

from __future__ import annotations

import hashlib
import hmac
import json
import stat
from pathlib import Path
from typing import Any

import pytest

from everfind_core.errors import ConfigError, InvalidRequestError, UnauthenticatedError
from everfind_indexer.servicer import indexer_service
from everfind_rpc.auth import Principal, Scope, TokenFile
from everfind_rpc.channel import Connection, Endpoint
from everfind_rpc.clients.indexer import SERVICE, RemoteIndexer
from everfind_rpc.serving.server import ServerSettings
from tests.support.gateway import FakeEngines
from tests.support.serving import serving


@pytest.fixture
def tokens(tmp_path: Path) -> TokenFile:
    return TokenFile(tmp_path / "deep" / "tokens.json")


@pytest.mark.parametrize("limit", ["folder", "Folders", "limits"])
def test_a_limit_that_nobody_knows_lets_nobody_in(tokens: TokenFile, limit: str) -> None:
    _, secret = tokens.create("ci", [Scope.SEARCH], ["docs"])
    content = json.loads(tokens.path.read_text())
    content["tokens"][0][limit] = content["tokens"][0].pop("folders")
    tokens.path.write_text(json.dumps(content))
    with pytest.raises(ConfigError, match="not what `everfind token create` writes"):
        tokens.authenticate(f"Bearer {secret}")


@pytest.mark.parametrize("digest", ["", "é" * 64, "\ud800", "A" * 64, "0" * 63])
def test_a_digest_that_is_none_is_told(tokens: TokenFile, digest: str) -> None:
    _, secret = tokens.create("ci", [Scope.SEARCH])
    content = json.loads(tokens.path.read_text())
    content["tokens"].append({**content["tokens"][0], "sha256": digest})
    tokens.path.write_text(json.dumps(content))
    with pytest.raises(ConfigError, match="not what `everfind token create` writes"):
        tokens.authenticate(f"Bearer {secret}")


def test_a_token_is_shown_once_and_kept_as_its_hash(tokens: TokenFile) -> None:
    token, secret = tokens.create("ci", [Scope.SEARCH, Scope.INDEX, Scope.SEARCH], ["docs"])
    assert secret.startswith("evf_")
    assert len(secret) == 4 + 43  # 256 bits in base64
    content = tokens.path.read_text()
    assert secret not in content
    assert hashlib.sha256(secret.encode()).hexdigest() in content
    assert stat.S_IMODE(tokens.path.stat().st_mode) == 0o600
    assert TokenFile(tokens.path).tokens() == (token,)
    assert tokens.authenticate(f"Bearer {secret}") == Principal(
        "ci", frozenset({Scope.SEARCH, Scope.INDEX}), frozenset({"docs"}), frozenset({""})
    )
    assert tokens.authenticate(f"bearer  {secret} ").name == "ci"


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer ", "Basic abc", "Bearer evf_x", "\ud800", "Bearer \ud800"])
def test_what_is_no_known_token_is_refused(tokens: TokenFile, header: str) -> None:
    tokens.create("ci", [Scope.SEARCH])
    with pytest.raises(UnauthenticatedError):
        tokens.authenticate(header)


def test_the_hash_of_a_token_is_no_token(tokens: TokenFile) -> None:
    token, _ = tokens.create("ci", [Scope.SEARCH])
    with pytest.raises(UnauthenticatedError):
        tokens.authenticate(f"Bearer {token.sha256}")


def test_every_token_is_compared_in_constant_time(tokens: TokenFile, monkeypatch: pytest.MonkeyPatch) -> None:
    _, first = tokens.create("first", [Scope.SEARCH])
    for n in range(4):
        tokens.create(str(n), [Scope.SEARCH])
    compared: list[str] = []
    real = hmac.compare_digest

    def compare(one: Any, other: Any) -> bool:
        compared.append(one)
        return real(one, other)

    monkeypatch.setattr(hmac, "compare_digest", compare)
    assert tokens.authenticate(f"Bearer {first}").name == "first"
    assert len(compared) == 5


def test_another_process_changes_the_tokens_of_a_running_server(tokens: TokenFile) -> None:
    assert tokens.tokens() == ()
    token, secret = TokenFile(tokens.path).create("new", [Scope.ADMIN])
    assert tokens.authenticate(f"Bearer {secret}").may(frozenset({Scope.INDEX}))
    assert TokenFile(tokens.path).revoke("new") == token
    with pytest.raises(UnauthenticatedError):
        tokens.authenticate(f"Bearer {secret}")


def test_revoking_needs_exactly_one(tokens: TokenFile) -> None:
    kept, _ = tokens.create("twin", [Scope.SEARCH])
    other, _ = tokens.create("twin", [Scope.SEARCH])
    for wanted, why in (("twin", "2 tokens"), ("nobody", "no token")):
        with pytest.raises(InvalidRequestError, match=why):
            tokens.revoke(wanted)
    tokens.revoke(other.id)
    assert tokens.tokens() == (kept,)


@pytest.mark.parametrize(("name", "scopes"), [("", [Scope.SEARCH]), ("a\nb", [Scope.SEARCH]), ("a", [])])
def test_a_token_needs_a_name_and_a_scope(tokens: TokenFile, name: str, scopes: list[Scope]) -> None:
    with pytest.raises(InvalidRequestError):
        tokens.create(name, scopes)


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"tokens": [{}]}', '{"tokens": [{"id": 1, "scope": "x"}]}', "\0"])
def test_a_file_that_is_none_is_named_and_left_alone(tmp_path: Path, content: str) -> None:
    path = tmp_path / "tokens.json"
    path.write_text(content)
    with pytest.raises(ConfigError, match=r"tokens\.json"):
        TokenFile(path).create("x", [Scope.SEARCH])
    assert path.read_text() == content


def test_an_unknown_scope_in_the_file_is_refused(tokens: TokenFile) -> None:
    tokens.create("x", [Scope.SEARCH])
    content = json.loads(tokens.path.read_text())
    content["tokens"][0]["scopes"] = ["everything"]
    tokens.path.write_text(json.dumps(content))
    with pytest.raises(ConfigError):
        TokenFile(tokens.path).tokens()


def test_beyond_loopback_a_lost_token_file_lets_nobody_in(tokens: TokenFile) -> None:
    _, secret = tokens.create("x", [Scope.SEARCH])
    settings = ServerSettings("0.0.0.0:0", tokens, drain_seconds=0.0, grace_seconds=1.0)
    engines = FakeEngines()
    with (
        serving([indexer_service(engines)], settings) as address,
        Connection(Endpoint(address, secret), [SERVICE]) as known,
        Connection(Endpoint(address), [SERVICE]) as nobody,
    ):
        assert RemoteIndexer(known).folders() == []
        tokens.path.unlink()
        for connection in (known, nobody):
            with pytest.raises(UnauthenticatedError):
                RemoteIndexer(connection).folders()


def test_a_file_without_tokens_lets_nobody_in(tokens: TokenFile) -> None:
    token, _ = tokens.create("x", [Scope.SEARCH])
    settings = ServerSettings("127.0.0.1:0", tokens, drain_seconds=0.0, grace_seconds=1.0)
    with (
        serving([indexer_service(FakeEngines())], settings) as address,
        Connection(Endpoint(address), [SERVICE]) as nobody,
    ):
        tokens.revoke(token.id)
        with pytest.raises(UnauthenticatedError):
            RemoteIndexer(nobody).folders()
