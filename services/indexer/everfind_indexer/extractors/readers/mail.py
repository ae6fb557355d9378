"""Mail (.eml): subject, people, date, body, and the names of what is attached."""

from __future__ import annotations

import email
import email.policy
from collections.abc import Iterator
from email.message import EmailMessage

from bs4 import BeautifulSoup

from everfind_core.model import SkipReason
from everfind_core.ports import NotExtractedError
from everfind_indexer.extractors.decoding import unify_line_ends
from everfind_indexer.extractors.readers.page import markdown_of
from everfind_indexer.extractors.wire import Extracted

_HEADERS = ("From", "To", "Cc", "Date")
_DEEPEST = 5


def read(raw: bytes) -> Extracted:
    """The text of a message, forwarded ones in it included."""
    message = email.message_from_bytes(raw, policy=email.policy.default)
    if not isinstance(message, EmailMessage) or not any(name in message for name in ("From", "Subject", "Date", "To")):
        raise NotExtractedError(SkipReason.EXTRACTION_FAILED, "it is no mail message")
    return Extracted("\n".join(_message(message, 1)), "email")


def _message(message: EmailMessage, level: int) -> Iterator[str]:
    subject = " ".join(str(message.get("Subject", "")).split())
    yield f"{'#' * level} {subject or 'No subject'}"
    yield ""
    for name in _HEADERS:
        if value := " ".join(str(message.get(name, "")).split()):
            yield f"{name}: {value}"
    yield ""
    yield from _body(message).split("\n")
    names: list[str] = []
    for part in message.iter_attachments():
        inner = part.get_payload(0) if part.get_content_type() == "message/rfc822" and part.is_multipart() else None
        if isinstance(inner, EmailMessage) and level < _DEEPEST:
            yield from _message(inner, level + 1)
        elif attached := part.get_filename():
            names.append(attached)
    if names:
        yield f"Attached: {', '.join(names)}"
        yield ""


def _body(message: EmailMessage) -> str:
    body = message.get_body(("plain", "html"))
    if body is None:
        return ""
    try:
        content = body.get_content()
    except (LookupError, UnicodeError):
        payload = body.get_payload(decode=True)
        content = payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""
    if body.get_content_type() == "text/html":
        return markdown_of(BeautifulSoup(str(content), "lxml"))
    return unify_line_ends(str(content))
