from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfind_core.errors import InvalidRequestError
from everfind_core.files.paths import check_relative, decode_path, encode_path, printable, shown_path, typed_path

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


@pytest.mark.parametrize(
    ("text", "as_name", "as_byte"),
    [("a%20b", "'a%2520b'", "'a b'"), ("%e9", "'%25e9'", "'%E9'"), ("%C3%A9", "'%25C3%25A9'", "'é'")],
)
def test_another_spelling_is_refused_with_what_it_may_have_meant(text: str, as_name: str, as_byte: str) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        decode_path(text)
    assert as_name in caught.value.hint
    assert as_byte in caught.value.hint
    assert decode_path(as_name[1:-1]) == text.encode()


HARMFUL = st.sampled_from([b"\n", b"\x1b", b"\x7f", b"\xc2\x85", "\u202e".encode(), "\u2028".encode(), b"%0A", b"%1b"])


@given(st.lists(PIECES | HARMFUL, max_size=12).map(b"".join))
def test_what_is_shown_can_be_typed_again(raw: bytes) -> None:
    form = encode_path(raw)
    shown = shown_path(form)
    assert printable(shown) == shown
    assert typed_path(shown) == form
    assert typed_path(form) == form


@pytest.mark.parametrize(
    ("typed", "form"),
    [
        ("100%41.txt", "100%2541.txt"),
        ("100%2541.txt", "100%2541.txt"),
        ("caf%E9", "caf%E9"),
        ("caf\udce9", "caf%E9"),
        ("caf\udce9%41", "caf%E9%2541"),
        ("a%0Ab", "a\nb"),
        ("a%0ab", "a%250ab"),
        ("a%00b", "a%2500b"),
    ],
)
def test_a_name_as_on_disk_is_understood_too(typed: str, form: str) -> None:
    assert typed_path(typed) == form


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
