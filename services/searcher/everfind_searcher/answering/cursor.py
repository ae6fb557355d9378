"""Page cursors: an opaque string that names a place in one query's answer."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass, replace
from hashlib import blake2b

from everfind_core.errors import InvalidRequestError
from everfind_core.files.parsed_json import parse_json
from everfind_core.model import RelatedRequest, SearchRequest


@dataclass(frozen=True, slots=True)
class Cursor:
    """How many hits were given already, and by which generation."""

    offset: int = 0
    generation: int = 0


def encode_cursor(cursor: Cursor, request: SearchRequest | RelatedRequest) -> str:
    """The string for the next page of ``request``."""
    content = json.dumps([cursor.offset, cursor.generation, _digest(request)], separators=(",", ":"))
    return base64.urlsafe_b64encode(content.encode()).decode()


def decode_cursor(request: SearchRequest | RelatedRequest) -> Cursor | None:
    """The place that ``request.cursor`` names; None on the first page.

    Raises:
        InvalidRequestError: no answer of this query gave it.
    """
    if not request.cursor:
        return None
    try:
        offset, generation, digest = parse_json(base64.b64decode(request.cursor, altchars=b"-_", validate=True))
        if digest == _digest(request) and isinstance(offset, int) and isinstance(generation, int) and offset >= 0:
            return Cursor(offset, generation)
    except (binascii.Error, ValueError, TypeError):
        pass
    raise InvalidRequestError.of(
        "cursor",
        "it does not belong to this query",
        hint="Send the query that gave the cursor, unchanged but for `limit`.",
    )


def _digest(request: SearchRequest | RelatedRequest) -> str:
    same_answer: SearchRequest | RelatedRequest = replace(request, cursor="", limit=1)
    if isinstance(same_answer, SearchRequest):
        same_answer = replace(same_answer, explain=False, wait_seconds=0.0, further=0)
    return blake2b(repr(same_answer).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
