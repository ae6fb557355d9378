"""JSON that was read from a file or came from a client: whatever is wrong with it is one kind of error."""

from __future__ import annotations

import json
from typing import Any


def parse_json(text: str | bytes | bytearray) -> Any:
    """What ``text`` says. The library's own parser meets deep nesting with a RecursionError, which nobody expects.

    Raises:
        ValueError: it is no JSON, not UTF-8, or nested too deeply.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
