"""The token that a team's services show each other: ``python -m everfind_rpc.service_token FILE``.

Makes one where there is none, in the token file that ``EVERFIND_TOKEN_FILE`` names, and keeps its secret in FILE.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from everfind_core.errors import ConfigError, EverfindError, UnauthenticatedError
from everfind_core.files.whole import replace_file
from everfind_rpc.auth import Scope, TokenFile

NAME = "services"
SCOPES = (Scope.SEARCH, Scope.INDEX)


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the token, or find that it is there; gives the exit code."""
    parser = argparse.ArgumentParser(prog="python -m everfind_rpc.service_token", description=__doc__)
    parser.add_argument("file", type=Path, help="file for the secret")
    parser.add_argument(
        "--rotate", action="store_true", help="make a new one; the one before stays valid until the next"
    )
    given = parser.parse_args(arguments)
    try:
        ensure_service_token(_token_file(), given.file, rotate=given.rotate)
    except EverfindError as error:
        sys.stderr.write(f"everfind: {error.message}\n  hint: {error.hint}\n")
        return error.exit_code
    return 0


def ensure_service_token(tokens: TokenFile, secret_file: Path, *, rotate: bool = False) -> None:
    """See that ``secret_file`` holds a token of ``tokens``.

    A rotation makes a new one and leaves the one before valid, for services read the file at their next call; the
    others of this name are revoked.

    Raises:
        ConfigError: a file cannot be read or written.
    """
    if not rotate and _is_known(tokens, secret_file):
        return
    before = [token.id for token in tokens.tokens() if token.name == NAME]
    _, secret = tokens.create(NAME, SCOPES)
    _write_private(secret_file, secret)
    for token_id in before[:-1]:
        tokens.revoke(token_id)


def _token_file() -> TokenFile:
    path = os.environ.get("EVERFIND_TOKEN_FILE")
    if not path:
        raise ConfigError("EVERFIND_TOKEN_FILE names no file", hint="Set it to the token file of the servers.")
    return TokenFile(Path(path))


def _is_known(tokens: TokenFile, secret_file: Path) -> bool:
    try:
        tokens.authenticate(f"Bearer {secret_file.read_text(encoding='ascii').strip()}")
    except (OSError, UnicodeDecodeError, UnauthenticatedError):
        return False
    return True


def _write_private(path: Path, secret: str) -> None:
    try:
        replace_file(path, secret + "\n")
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}", hint="Check its owner and mode.") from error


if __name__ == "__main__":
    sys.exit(main())
