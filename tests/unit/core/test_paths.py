from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfind_core.errors import InvalidRequestError
from everfind_core.paths import check_relative, decode_path, encode_path, printable

PIECES = st.sampled_from(
    [b"%", b"2", b"5", b"A", b"f", b"\xff", b"\xc3", b"\xa9", "é".encode(), b"/", b"a b", b"\n", "😀".encode()]
)


@given(st.lists(PIECES, max_size=12).map(b"".join) | st.binary(max_size=40))
def test_every_byte_string_round_trips_through_valid_unicode(raw: bytes) -> None:
    encoded = encode_path(raw)
    encoded.encode()  # no surrogates: it can be stored, sent and printed
    assert decode_path(encoded) == raw


@given(st.binary(max_size=30), st.binary(max_size=30))
def test_different_paths_have_different_forms(one: bytes, other: bytes) -> None:
    assert (encode_path(one) == encode_path(other)) == (one == other)


@pytest.mark.parametrize(
    ("raw", "form"),
    [
        (b"src/a.py", "src/a.py"),
        (b"caf\xe9.txt", "caf%E9.txt"),
        (b"100%.md", "100%.md"),
        (b"a%20b", "a%2520b"),
        (b"%\xff", "%%FF"),
        ("é".encode(), "é"),
        ("e\u0301".encode(), "e\u0301"),
    ],
)
def test_forms(raw: bytes, form: str) -> None:
    assert encode_path(raw) == form
    assert decode_path(form) == raw


@pytest.mark.parametrize(("text", "right"), [("a%20b", "'a b'"), ("%e9", "'%E9'"), ("%C3%A9", "'é'")])
def test_another_spelling_is_refused_with_the_right_one(text: str, right: str) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        decode_path(text)
    assert right in caught.value.hint


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(InvalidRequestError, match="lone surrogate"):
        decode_path("a\udc80")


@pytest.mark.parametrize("path", ["", "/etc/passwd", "a//b", "../a", "a/../b", "./a", "a/", "a/.", "a\0b"])
def test_what_is_not_below_a_folder_is_refused(path: str) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        check_relative(path)
    assert caught.value.violations[0].field == "path"


@pytest.mark.parametrize("path", ["a", "a/b", "...", "a b/%20c".replace("%20", "%2520"), "-x", "a:b"])
def test_what_is_below_a_folder_is_taken(path: str) -> None:
    assert check_relative(path) == path


BIDIRECTIONAL_MARKS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


@given(st.text(max_size=50))
def test_printable_never_lets_a_control_character_through(text: str) -> None:
    shown = printable(text)
    assert [c for c in shown if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")] == []
    assert [c for c in shown if unicodedata.bidirectional(c) in BIDIRECTIONAL_MARKS] == []
    assert len(printable(text, keep="\n\t").splitlines()) <= text.count("\n") + 1


def test_printable_shows_what_it_hides() -> None:
    assert printable("a\x1b[31m\nb") == "a\\x1b[31m\\nb"
    assert printable("a\r\n\tb", keep="\n\t") == "a\\r\n\tb"
    assert printable("\u202egnp.exe \u200f \ud800") == "\\u202egnp.exe \\u200f \\ud800"


def test_printable_leaves_every_script_as_it_is() -> None:
    for text in ("né 😀", "全角\u3000空白", "a\u00a0b", "می\u200cخواهم", "👨\u200d👩"):
        assert printable(text) == text
