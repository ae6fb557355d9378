"""The formats that are read in a child process, and how a file shows that it is in one of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Format(StrEnum):
    """What the child process reads. ``PACKAGE``: a zip file that holds a document; the child sees of which kind."""

    PDF = "pdf"
    PACKAGE = "package"
    SHEETS = "sheets"
    HTML = "html"
    MAIL = "mail"
    NOTEBOOK = "notebook"


@dataclass(frozen=True, slots=True)
class Look:
    """How a format looks: its extensions (lower case, no dot), and how its files begin."""

    format: Format
    extensions: frozenset[str]
    beginning: bytes = b""


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
ZIP = b"PK\x03\x04"
PDF = b"%PDF-"

_OFFICE = "docx docm dotx dotm pptx pptm ppsx ppsm potx xlsx xlsm xltx xltm xlsb ods"

LOOKS = {
    look.format: look
    for look in (
        Look(Format.PDF, frozenset({"pdf"}), PDF),
        Look(Format.PACKAGE, frozenset(f"{_OFFICE} epub".split()), ZIP),
        Look(Format.SHEETS, frozenset({"xls"}), OLE),
        Look(Format.HTML, frozenset({"html", "htm", "xhtml"})),
        Look(Format.MAIL, frozenset({"eml"})),
        Look(Format.NOTEBOOK, frozenset({"ipynb"})),
    )
}
DOCUMENT_EXTENSIONS = frozenset().union(*(look.extensions for f, look in LOOKS.items() if f is not Format.HTML))
"""Of files that may be as large as ``max_document_bytes``: most of their bytes are no text."""

ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
"""Stands in the OLE file that an encrypted Office document is (MS-OFFCRYPTO 2.3.4.4)."""


def extension_of(path: str) -> str:
    """The extension of a path in lower case, without the dot; empty if it has none."""
    stem, dot, extension = path[path.rfind("/") + 1 :].lower().rpartition(".")
    return extension if dot and stem else ""


def is_document(path: str) -> bool:
    """Whether a file's name says that most of its bytes are no text."""
    return extension_of(path) in DOCUMENT_EXTENSIONS
