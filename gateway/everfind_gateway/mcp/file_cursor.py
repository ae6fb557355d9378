"""The cursor of a list of files: the last file before the page that it stands for.

A page so follows whatever the index has become meanwhile.
"""

from __future__ import annotations

import base64
import json

from everfind_core.errors import InvalidRequestError
from everfind_core.files.parsed_json import parse_json
from everfind_core.model import FileRef


def encoded(last: FileRef) -> str:
    """The cursor of the page behind ``last``."""
    return base64.urlsafe_b64encode(json.dumps((last.folder, last.path)).encode()).decode()


def decoded(cursor: str) -> FileRef | None:
    """The file that a cursor names; None for the empty one, which stands for the first page.

    Raises:
        InvalidRequestError: no page gave this cursor.
    """
    if not cursor:
        return None
    try:
        folder, path = parse_json(base64.b64decode(cursor, altchars=b"-_", validate=True))
    except (ValueError, TypeError):
        folder = path = None
    if not isinstance(folder, str) or not isinstance(path, str):
        raise InvalidRequestError.of("cursor", "no page of this list gave it", hint="List again without a cursor.")
    return FileRef(folder, path)
