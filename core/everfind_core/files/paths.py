"""The one string form of a file's path: reversible, the only one stored, sent, printed and accepted.

A path is bytes on disk. In its string form each byte that is not part of valid UTF-8 stands as ``%XX`` (upper-case
hex), and a literal ``%`` that two hex digits follow stands as ``%25``. Nothing is normalised: NFC and NFD names, and
names that differ in case only, stay different.
"""

from __future__ import annotations

import contextlib
import os
import re

from everfind_core.errors import InvalidRequestError

_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_ACTING = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, line ends, marks that change the direction of text, and surrogates."""
_LITERAL_PERCENT = re.compile(r"%(?=[0-9A-Fa-f]{2})")


def encode_path(raw: bytes) -> str:
    """The string form of the path ``raw`` (bytes as on disk, ``/`` between segments)."""
    decoded = _LITERAL_PERCENT.sub("%25", raw.decode("utf-8", "surrogateescape"))
    if decoded.isascii():
        return decoded
    return "".join(f"%{ord(c) - 0xDC00:02X}" if "\udc80" <= c <= "\udcff" else c for c in decoded)


def decode_path(path: str) -> bytes:
    """The bytes on disk for the string form ``path``.

    Raises:
        InvalidRequestError: ``path`` is not a form that :func:`encode_path` gives.
    """
    try:
        raw = _unescaped(path)
    except UnicodeEncodeError:
        raise InvalidRequestError.of("path", f"{path!r} holds a lone surrogate, which no path has") from None
    if encode_path(raw) != path:
        raise InvalidRequestError.of(
            "path",
            f"{path!r} is not a path as everfind prints it",
            hint=f"A % before two hex digits: if the name has it, write {encode_path(path.encode())!r}; if it stands "
            f"for a byte, write {encode_path(raw)!r}.",
        )
    return raw


def shown_path(path: str) -> str:
    """The string form ``path`` for a terminal or log: what would act on it or reorder it stands as ``%XX``, too."""
    return _ACTING.sub(lambda match: "".join(f"%{b:02X}" for b in match.group().encode("utf-8", "surrogatepass")), path)


def typed_path(given: str) -> str:
    """The string form that ``given`` means: itself, or what :func:`shown_path` showed, or else a name as on disk."""
    with contextlib.suppress(UnicodeEncodeError):
        raw = _unescaped(given)
        form = encode_path(raw)
        if b"\0" not in raw and given in (form, shown_path(form)):
            return form
    return encode_os_path(given)


def _unescaped(path: str) -> bytes:
    pieces: list[bytes] = []
    position = 0
    for match in _ESCAPE.finditer(path):
        pieces += [path[position : match.start()].encode(), bytes([int(match.group(1), 16)])]
        position = match.end()
    return b"".join([*pieces, path[position:].encode()])


def encode_os_path(path: str | os.PathLike[str]) -> str:
    """The string form of a path of the operating system (``str`` with surrogate escapes)."""
    return encode_path(os.fsencode(path))


def decode_os_path(path: str) -> str:
    """The operating system's path for the string form ``path``."""
    return os.fsdecode(decode_path(path))


def check_relative(path: str, *, field: str = "path") -> str:
    """``path`` itself, if it is a clean path relative to a folder.

    Raises:
        InvalidRequestError: it is empty, absolute, holds NUL, or has ``.``, ``..`` or empty segments.
    """
    raw = decode_path(path)
    segments = raw.split(b"/")
    if b"\0" in raw or not raw or any(s in (b"", b".", b"..") for s in segments):
        raise InvalidRequestError.of(
            field, f"{path!r} is not a path relative to a folder", hint="Use folder and path as a search prints them."
        )
    return path


def printable(text: str, *, keep: str = "") -> str:
    r"""``text`` for a terminal or log: what would act on it or reorder it is shown as ``\xNN``, but for ``keep``.

    Without ``keep`` it is one line.
    """
    return _ACTING.sub(lambda match: match.group() if match.group() in keep else _shown(match.group()), text)


def _shown(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
