"""Bytes to text: byte-order marks, UTF-8, legacy encodings by detection; line ends become line feeds."""

from __future__ import annotations

import codecs
import re
import unicodedata

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

# What people's files are in; the detector also knows encodings that only mainframes and old Macs used.
_LEGACY = (
    "cp1252", "cp1251", "gb18030", "cp932", "euc-jp", "big5", "cp949", "koi8-r", "cp1250", "iso8859-2", "cp1253",
    "iso8859-7", "cp1254", "cp1255", "cp1256", "cp866", "cp1257", "iso8859-15", "cp437", "cp850",
    "tis-620",
)  # fmt: skip
_USUAL = "Windows-1252"
_USUAL_FACTOR, _SHORT_FACTOR = 1.2, 2.0
"""How much likelier than any other encoding the usual one is, before the text is looked at. The second, divided by the
number of bytes that are not ASCII, adds to it: a word or two say little about their language."""
_SAMPLE_BYTES = 16_384
_LOOKED_AT_BYTES = 2_048
_ASCII = bytes(range(128))
_CONTROL = re.compile(r"[\x7f-\x9f\ue000-\uf8ff]")
_NON_ASCII_WORD = re.compile(r"[^\W\d_]*[^\W\d_\x00-\x7f][^\W\d_]*")
_LONE_IDEOGRAPH = re.compile(r"[a-z][\u3400-\u9fff][a-z]")
_ALPHABETS = frozenset({"LATIN", "CYRILLIC", "GREEK", "HEBREW", "ARABIC", "THAI"})
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
    import chardet

    sample = bytearray()
    for line in _NON_ASCII_LINE.finditer(raw):
        sample += line.group()
        if len(sample) > _SAMPLE_BYTES:
            break
    telling = len(sample.translate(None, _ASCII))
    if telling == 1:
        return _USUAL
    factor = _USUAL_FACTOR + _SHORT_FACTOR / telling
    found = chardet.detect_all(bytes(sample[: 2 * _SAMPLE_BYTES]), ignore_threshold=True, include_encodings=_LEGACY)
    head = bytes(sample[:_LOOKED_AT_BYTES])
    ranked = [
        (one["confidence"] * (factor if encoding == _USUAL else 1.0), encoding)
        for one in found
        if (encoding := one["encoding"]) and _is_plausible(head, encoding)
    ]
    return max(ranked, key=lambda one: one[0])[1] if ranked else None


def _is_plausible(head: bytes, encoding: str) -> bool:
    """Whether nobody would say at once that it is wrong: no control characters, no two alphabets in one word."""
    text = head.decode(encoding, "replace")
    return not _CONTROL.search(text) and not any(_mixes_scripts(word) for word in _NON_ASCII_WORD.findall(text))


def _mixes_scripts(word: str) -> bool:
    scripts = {_script(letter) for letter in word}
    return len(scripts & _ALPHABETS) > 1 or bool(_LONE_IDEOGRAPH.search(word))


def _script(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]
