"""Bearer tokens: random, kept as hashes, with scopes and perhaps limited to some folders."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

from everfind_core.errors import ConfigError, InvalidRequestError, UnauthenticatedError
from everfind_core.files.parsed_json import OTHER_SHAPE, convert, parse_json
from everfind_core.files.whole import FileStamp, file_stamp, replace_file

TOKEN_BYTES = 32
TOKEN_PREFIX = "evf_"  # noqa: S105 - what every token begins with, so that scanners of secrets know one
FORMAT = 1
_SCHEME = "bearer "
_DIGEST = re.compile("[0-9a-f]{64}")


class Scope(StrEnum):
    """What a token allows. ``admin`` allows everything."""

    SEARCH = "search"
    INDEX = "index"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Principal:
    """Who makes a call. ``folders`` are the only ones that exist for it; None is no limit.

    Likewise ``workspaces``: names, directories in which they lie, and the empty string for the server's own.
    """

    name: str
    scopes: frozenset[Scope]
    folders: frozenset[str] | None = None
    workspaces: frozenset[str] | None = None

    def may(self, scopes: frozenset[Scope]) -> bool:
        """Whether one of ``scopes`` is given."""
        return Scope.ADMIN in self.scopes or bool(self.scopes & scopes)


LOCAL = Principal("local", frozenset(Scope))
"""Who runs the server, by its own token; and any caller of one that asks for none, which listens on loopback only."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token as it is kept. ``sha256`` (hex) is of the whole token; a random one needs no salt or slow hash.

    ``folders`` and ``workspaces`` empty are no limit; ``created`` in seconds since the epoch.
    """

    id: str
    name: str
    sha256: str
    scopes: tuple[Scope, ...]
    folders: tuple[str, ...] = ()
    created: float = 0.0
    workspaces: tuple[str, ...] = ()

    @property
    def principal(self) -> Principal:
        """Who calls with this token. Folders are those of the server's own workspace, unless it names others."""
        folders, workspaces = frozenset(self.folders) or None, frozenset(self.workspaces) or None
        if folders and not workspaces:
            workspaces = frozenset({""})
        return Principal(self.name, frozenset(self.scopes), folders, workspaces)


class TokenFile:
    """The tokens of a server, in a file that is read again whenever it changes. Thread-safe.

    ``own`` is one more, which is in no such file: whoever knows it may do everything.
    """

    def __init__(self, path: Path, *, own: str = "") -> None:
        self.path = path
        self._own = _digest(own) if own else ""
        self._guard = threading.Lock()
        self._seen: FileStamp | None = None
        self._tokens: tuple[Token, ...] = ()

    def tokens(self) -> tuple[Token, ...]:
        """All tokens; none if there is no file.

        Raises:
            ConfigError: the file cannot be read.
        """
        with self._guard:
            seen = self._stamp()
            if seen != self._seen:
                self._tokens = _read(self.path) if seen else ()
                self._seen = seen
            return self._tokens

    def asked_for(self) -> bool:
        """Whether a caller must show a token: there is ``own``, or a file. One without tokens, too, lets nobody in."""
        return bool(self._own) or self._stamp() is not None

    def authenticate(self, header: str) -> Principal:
        """Who sent an ``authorization`` header.

        Raises:
            UnauthenticatedError: it holds no token, or an unknown one.
        """
        if header[: len(_SCHEME)].lower() != _SCHEME:
            raise UnauthenticatedError(
                "the call carries no token", hint="Set EVERFIND_SERVER_TOKEN to what `everfind token create` printed."
            )
        digest = _digest(header[len(_SCHEME) :].strip())
        if self._own and hmac.compare_digest(self._own, digest):
            return LOCAL
        found = [token for token in self.tokens() if hmac.compare_digest(token.sha256, digest)]
        if not found:
            raise UnauthenticatedError(
                "the token is unknown or was revoked", hint="Ask the server's operator for a new one."
            )
        return found[0].principal

    def create(
        self, name: str, scopes: Sequence[Scope], folders: Sequence[str] = (), workspaces: Sequence[str] = ()
    ) -> tuple[Token, str]:
        """Add a token. Gives it, and the secret, which is not kept.

        Raises:
            InvalidRequestError: there is no name, or no scope.
            ConfigError: the file cannot be read or written.
        """
        if not name.strip() or not name.isprintable():
            raise InvalidRequestError.of("name", "a token needs a name", hint="Such as the name of who will use it.")
        if not scopes:
            raise InvalidRequestError.of("scope", "a token needs a scope", hint="One or more of search, index, admin.")
        secret = TOKEN_PREFIX + secrets.token_urlsafe(TOKEN_BYTES)
        token = Token(
            id=secrets.token_hex(4),
            name=name,
            sha256=_digest(secret),
            scopes=tuple(dict.fromkeys(scopes)),
            folders=tuple(dict.fromkeys(folders)),
            created=time.time(),
            workspaces=tuple(dict.fromkeys(workspaces)),
        )
        _write(self.path, (*self.tokens(), token))
        return token, secret

    def revoke(self, wanted: str) -> Token:
        """Remove the token that has this id, or this name if it is the only one of it.

        Raises:
            InvalidRequestError: there is none, or several have the name.
            ConfigError: the file cannot be read or written.
        """
        tokens = self.tokens()
        found = [t for t in tokens if t.id == wanted] or [t for t in tokens if t.name == wanted]
        if len(found) != 1:
            what = f"{len(found)} tokens are called {wanted!r}" if found else f"no token has the id or name {wanted!r}"
            raise InvalidRequestError.of("token", what, hint="`everfind token list` shows the ids.")
        _write(self.path, [token for token in tokens if token is not found[0]])
        return found[0]

    def _stamp(self) -> FileStamp | None:
        try:
            return file_stamp(self.path)
        except OSError as error:
            raise _unusable(self.path, error.strerror or str(error)) from error


class SecretFile:
    """A file with one token, read again whenever it changes, so that a rotation needs no restart. Thread-safe."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._guard = threading.Lock()
        self._seen: FileStamp | None = None
        self._secret = ""

    def read(self) -> str:
        """The token.

        Raises:
            ConfigError: the file cannot be read.
        """
        with self._guard:
            try:
                seen = file_stamp(self._path)
                if seen is None or seen != self._seen:
                    self._secret = self._path.read_text(encoding="ascii").strip()
                    self._seen = seen
            except (OSError, UnicodeDecodeError) as error:
                raise ConfigError(
                    f"the token file {self._path} cannot be read", hint="Check its owner and mode."
                ) from error
            return self._secret


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _read(path: Path) -> tuple[Token, ...]:
    try:
        listed = parse_json(path.read_text(encoding="utf-8"))["tokens"]
        _check_keys(listed)
        return _with_digests(convert(listed, tuple[Token, ...]))
    except OSError as error:
        raise _unusable(path, error.strerror or str(error)) from error
    except OTHER_SHAPE as error:
        raise _unusable(path, "it is not what `everfind token create` writes") from error


def _check_keys(listed: Any) -> None:
    """A key that nobody knows may be a limit that is misspelt or of a later version: without it a token opens more."""
    known = {one.name for one in fields(Token)}
    if any(key not in known for entry in listed for key in entry):
        raise ValueError("a token has a key that is unknown")


def _with_digests(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """The same. One that is no digest matches no token, and text beyond ASCII cannot even be compared."""
    if not all(_DIGEST.fullmatch(token.sha256) for token in tokens):
        raise ValueError("a token's digest is none")
    return tokens


def _entry(token: Token) -> dict[str, Any]:
    """A token as the file has it: one without a limit of workspaces can be read by an everfind that knows none."""
    return {key: value for key, value in asdict(token).items() if key != "workspaces" or value}


def _write(path: Path, tokens: Iterable[Token]) -> None:
    content = {"format": FORMAT, "tokens": [_entry(token) for token in tokens]}
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        replace_file(path, json.dumps(content, indent=2) + "\n")
    except OSError as error:
        raise _unusable(path, error.strerror or str(error)) from error


def _unusable(path: Path, why: str) -> ConfigError:
    return ConfigError(
        f"the token file {path} cannot be used: {why}",
        hint="Check its owner and mode, or set `token_file` to another one.",
        details={"path": str(path)},
    )
