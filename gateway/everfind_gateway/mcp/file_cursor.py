"""The cursor of a list of files: the last file before the page that it stands for.

A page so follows whatever the index has become meanwhile.
"""

from __future__ import annotations

from everfind_core.errors import InvalidRequestError
from everfind_core.model import FileRef
from everfind_rpc.serving.paging import file_of, token_of


def encoded(last: FileRef) -> str:
    """The cursor of the page behind ``last``."""
    return token_of((last.folder, last.path))


def decoded(cursor: str) -> FileRef | None:
    """The file that a cursor names; None for the empty one, which stands for the first page.

    Raises:
        InvalidRequestError: no page gave this cursor.
    """
    if not cursor:
        return None
    try:
        return file_of(cursor)
    except InvalidRequestError:
        raise InvalidRequestError.of(
            "cursor", "no page of this list gave it", hint="List again without a cursor."
        ) from None
