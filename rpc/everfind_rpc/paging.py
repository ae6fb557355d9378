"""Pages of a list: a token is the key of the last item given, so that changes in between move nothing."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from typing import TypeVar

from everfind_core.errors import InvalidRequestError

T = TypeVar("T")


def page(
    items: Sequence[T], key: Callable[[T], tuple[str | int, ...]], *, size: int, token: str, most: int
) -> tuple[list[T], str]:
    """Items after the one that ``token`` names, in the order of their keys, and the next page's token.

    ``size`` 0 is ``most``. The next token is empty after the last page.

    Raises:
        InvalidRequestError: the size is negative, or no page gave the token.
    """
    if size < 0:
        raise InvalidRequestError.of("page_size", f"{size} is negative; 0 leaves it to the server")
    ordered = sorted(items, key=key)
    if token:
        try:
            after = _decoded(token)
            ordered = [item for item in ordered if key(item) > after]
        except (binascii.Error, ValueError, TypeError):
            raise InvalidRequestError.of("page_token", "no page gave it", hint="Begin without a token.") from None
    limit = min(size or most, most)
    found = ordered[:limit]
    return found, _encoded(key(found[-1])) if len(ordered) > limit else ""


def _encoded(key: tuple[str | int, ...]) -> str:
    return base64.urlsafe_b64encode(json.dumps(key, separators=(",", ":")).encode()).decode()


def _decoded(token: str) -> tuple[str | int, ...]:
    decoded = json.loads(base64.b64decode(token, altchars=b"-_", validate=True))
    if not isinstance(decoded, list):
        raise TypeError(token)
    return tuple(decoded)
