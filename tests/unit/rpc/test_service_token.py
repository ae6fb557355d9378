"""The services' own token: made once, found again, rotated without an outage; and read again when it changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from everfind_core.errors import ConfigError, UnauthenticatedError
from everfind_rpc.auth import Scope, SecretFile, TokenFile
from everfind_rpc.service_token import ensure_service_token, main


@pytest.fixture
def tokens(tmp_path: Path) -> TokenFile:
    return TokenFile(tmp_path / "tokens.json")


def names(tokens: TokenFile) -> list[str]:
    return [token.name for token in tokens.tokens()]


def test_it_is_made_once_and_private(tokens: TokenFile, tmp_path: Path) -> None:
    secret = tmp_path / "services"
    ensure_service_token(tokens, secret)
    made = secret.read_text()
    assert secret.stat().st_mode & 0o777 == 0o600
    principal = tokens.authenticate(f"Bearer {made.strip()}")
    assert (principal.name, principal.scopes) == ("services", frozenset({Scope.SEARCH, Scope.INDEX}))
    ensure_service_token(tokens, secret)
    assert secret.read_text() == made
    assert names(tokens) == ["services"]


def test_a_lost_or_foreign_secret_is_made_again(tokens: TokenFile, tmp_path: Path) -> None:
    secret = tmp_path / "services"
    tokens.create("someone", [Scope.SEARCH])
    for content in ("", "evf_nonsense\n", "\udcff"):
        secret.write_bytes(content.encode("utf-8", "surrogateescape"))
        ensure_service_token(tokens, secret)
        assert tokens.authenticate(f"Bearer {secret.read_text().strip()}").name == "services"
    assert names(tokens).count("someone") == 1


def test_the_token_before_a_rotation_is_valid_until_the_next(tokens: TokenFile, tmp_path: Path) -> None:
    secret = tmp_path / "services"
    seen = []
    for _ in range(3):
        ensure_service_token(tokens, secret, rotate=True)
        seen.append(secret.read_text().strip())
    for valid in seen[1:]:
        assert tokens.authenticate(f"Bearer {valid}").name == "services"
    with pytest.raises(UnauthenticatedError):
        tokens.authenticate(f"Bearer {seen[0]}")


def test_as_a_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("EVERFIND_TOKEN_FILE", raising=False)
    assert main([str(tmp_path / "services")]) == 3
    assert "EVERFIND_TOKEN_FILE names no file" in capsys.readouterr().err
    monkeypatch.setenv("EVERFIND_TOKEN_FILE", str(tmp_path / "tokens.json"))
    assert main([str(tmp_path / "services")]) == 0
    assert main(["--rotate", str(tmp_path / "services")]) == 0
    assert main([str(tmp_path / "absent" / "services")]) == 3
    assert "cannot be written" in capsys.readouterr().err


def test_a_secret_file_is_read_again_when_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    with pytest.raises(ConfigError, match="cannot be read"):
        SecretFile(path).read()
    path.write_text("one\n")
    file = SecretFile(path)
    assert file.read() == "one"
    (tmp_path / "next").write_text("two\n")
    (tmp_path / "next").replace(path)
    assert file.read() == "two"
