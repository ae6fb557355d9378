"""Pages of a list: a token is the key of the last item given, so that changes in between move nothing."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from typing import TypeVar

from everfind_core.errors import InvalidRequestError
from everfind_core.files.parsed_json import parse_json
from everfind_core.model import FileRef

T = TypeVar("T")


def page(
    items: Sequence[T], key: Callable[[T], tuple[str | int, ...]], *, size: int, token: str, most: int
) -> tuple[list[T], str]:
    """Items after the one that ``token`` names, in the order of their keys, and the next page's token.

    ``size`` 0 is ``most``. The next token is empty after the last page.

    Raises:
        InvalidRequestError: the size is negative, or no page gave the token.
    """
    limit = page_size(size, most)
    ordered = sorted(items, key=key)
    if token:
        after = key_of(token)
        try:
            ordered = [item for item in ordered if key(item) > after]
        except TypeError:
            raise _no_page() from None
    found = ordered[:limit]
    return found, token_of(key(found[-1])) if len(ordered) > limit else ""


def page_size(asked: int, most: int) -> int:
    """How many items a page gets.

    Raises:
        InvalidRequestError: ``asked`` is negative.
    """
    if asked < 0:
        raise InvalidRequestError.of("page_size", f"{asked} is negative; 0 leaves it to the server")
    return min(asked or most, most)


def key_of(token: str) -> tuple[str | int, ...]:
    """The key of the last item before the page that ``token`` asks for.

    Raises:
        InvalidRequestError: no page gave the token.
    """
    try:
        return _decoded(token)
    except (binascii.Error, ValueError, TypeError):
        raise _no_page() from None


def token_of(key: tuple[str | int, ...]) -> str:
    """The token of the page after the item of this key."""
    return base64.urlsafe_b64encode(json.dumps(key, separators=(",", ":")).encode()).decode()


def file_of(token: str) -> FileRef:
    """The file whose key (folder, path) a token holds; raises as :func:`key_of`."""
    match key_of(token):
        case (str(folder), str(path)):
            return FileRef(folder, path)
    raise _no_page()


def _no_page() -> InvalidRequestError:
    return InvalidRequestError.of("page_token", "no page gave it", hint="Begin without a token.")


def _decoded(token: str) -> tuple[str | int, ...]:
    decoded = parse_json(base64.b64decode(token, altchars=b"-_", validate=True))
    if not isinstance(decoded, list):
        raise TypeError(token)
    json.dumps(decoded, ensure_ascii=False).encode()  # half a character, which JSON can hold, is in no key
    return tuple(decoded)
