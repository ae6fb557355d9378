"""Bytes to text: byte-order marks, UTF-8, legacy encodings by detection; line ends become line feeds."""

from __future__ import annotations

import codecs
import re

from everfind_core.model import SkipReason
from everfind_core.ports import NotExtractedError

# UTF-32 first: its little-endian mark begins with UTF-16's.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

_HEAD_BYTES = 8_000
"""How much git looks at to tell binary from text (buffer_is_binary)."""

# Control characters that text files hold: tab, line ends, form feed, backspace (overstriking), escape (colours).
_NOT_CONTROL = bytes(set(range(256)) - (set(range(32)) - set(b"\t\n\x0b\x0c\r\b\x1b")) - {0x7F})
_MOST_CONTROL_SHARE = 0.05

# What people's files are in, from common to rare; the detector also knows encodings that only mainframes use.
_LEGACY = (
    "cp1252", "cp1251", "gb18030", "cp932", "euc_jp", "big5", "cp949", "koi8_r", "cp1250", "iso8859_2", "cp1253",
    "iso8859_7", "cp1254", "cp1255", "cp1256", "cp866", "cp1257", "iso8859_15", "mac_roman", "cp437", "cp850",
    "tis_620",
)  # fmt: skip
_SAMPLE_BYTES = 16_384
_NON_ASCII_LINE = re.compile(rb"[^\r\n]*[\x80-\xff][^\r\n]*[\r\n]*")


def decode(raw: bytes) -> str:
    """The text in ``raw``, without byte-order mark, every line end as a line feed. Invalid bytes become U+FFFD.

    Raises:
        NotExtractedError: BINARY, judged by the first 8,000 bytes.
    """
    for mark, encoding in _MARKS:
        if raw.startswith(mark):
            text = raw[len(mark) :].decode(encoding, "replace")
            if "\0" in text[:_HEAD_BYTES]:
                raise NotExtractedError(SkipReason.BINARY)
            return unify_line_ends(text)
    if is_binary(raw):
        raise NotExtractedError(SkipReason.BINARY)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = _decode_legacy(raw)
    return unify_line_ends(text)


def is_binary(raw: bytes) -> bool:
    """Whether the beginning holds a NUL, or more control characters than text does. Not for UTF-16 or UTF-32."""
    head = raw[:_HEAD_BYTES]
    return b"\0" in head or len(head.translate(None, _NOT_CONTROL)) > _MOST_CONTROL_SHARE * len(head)


def unify_line_ends(text: str) -> str:
    """CRLF and CR as line feeds. Nothing else ends a line: a form feed or U+2028 stays where it is."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _decode_legacy(raw: bytes) -> str:
    damaged = raw.decode("utf-8", "replace")
    wrong = damaged.count("\ufffd")
    right = sum(map(len, re.findall(r"[^\x00-\x7f\ufffd]+", damaged)))
    if right > wrong:
        # UTF-8 with a broken place in it: bytes of another encoding are seldom valid UTF-8 by chance.
        return damaged
    encoding = _detect(raw)
    return raw.decode(encoding, "replace") if encoding else damaged


def _detect(raw: bytes) -> str | None:
    """The encoding that a sample of the lines with non-ASCII bytes is most likely in."""
    from charset_normalizer import from_bytes

    sample = bytearray()
    for line in _NON_ASCII_LINE.finditer(raw):
        sample += line.group()
        if len(sample) > _SAMPLE_BYTES:
            break
    matches = from_bytes(bytes(sample[: 2 * _SAMPLE_BYTES]), cp_isolation=list(_LEGACY))
    # A short text often fits several encodings equally well; then the most common of them is the likeliest.
    ranked = [
        (match.chaos, -match.coherence, _LEGACY.index(encoding))
        for match in matches
        for encoding in match.could_be_from_charset
        if encoding in _LEGACY
    ]
    return _LEGACY[min(ranked)[2]] if ranked else None
