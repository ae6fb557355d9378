"""Zip files that hold a document: what kind it is, and that it does not grow beyond all measure."""

from __future__ import annotations

import io
import zipfile

from everfind_core.causes import cause
from everfind_core.model import SkipReason
from everfind_core.ports import NotExtractedError

MAX_UNPACKED = 300_000_000
"""Bytes that all files in a package may have together, unpacked."""

_MAX_MEMBERS = 20_000
_KINDS = {"word/": "word", "ppt/": "slides", "xl/": "sheets"}
_ENCRYPTED_FLAG = 1


def kind_of(raw: bytes) -> str:
    """The reader that a package is for.

    Raises:
        NotExtractedError: ENCRYPTED, OVER_LIMIT, or EXTRACTION_FAILED where it is no document.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as package:
            members = package.infolist()
            kind = _MIME_KINDS.get(_mime_type(package), "")
    except (zipfile.BadZipFile, NotImplementedError, OSError, RuntimeError, ValueError) as error:
        raise NotExtractedError(SkipReason.EXTRACTION_FAILED, f"its zip package is broken: {cause(error)}") from error
    if len(members) > _MAX_MEMBERS or sum(member.file_size for member in members) > MAX_UNPACKED:
        raise NotExtractedError(SkipReason.OVER_LIMIT, f"it unpacks to more than {MAX_UNPACKED:,} bytes")
    if any(member.flag_bits & _ENCRYPTED_FLAG for member in members):
        raise NotExtractedError(SkipReason.ENCRYPTED, "its zip package is encrypted")
    names = [member.filename for member in members]
    kind = kind or next((k for start, k in _KINDS.items() if any(name.startswith(start) for name in names)), "")
    if not kind:
        raise NotExtractedError(SkipReason.EXTRACTION_FAILED, "it is a zip file, but no document that everfind reads")
    return kind


_MIME_KINDS = {
    b"application/epub+zip": "book",
    b"application/vnd.oasis.opendocument.spreadsheet": "sheets",
}


def _mime_type(package: zipfile.ZipFile) -> bytes:
    try:
        with package.open("mimetype") as member:
            return member.read(100).strip()
    except KeyError:
        return b""
