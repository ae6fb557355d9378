"""Bytes to text: encodings, binary or not, line ends."""

from __future__ import annotations

import codecs
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfind_core.model import SkipReason
from everfind_core.ports import NotExtractedError
from everfind_indexer.decoding import decode

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
@given(text=TEXTS)
def test_a_byte_order_mark_decides(mark: bytes, encoding: str, text: str) -> None:
    assert decode(mark + text.encode(encoding)) == reference_lines(text)


def reference_lines(text: str) -> str:
    return re.sub("\r\n|\r", "\n", text)


@given(st.lists(st.sampled_from(["a", "é", "漢", " ", "\n", "\r", "\r\n", "\f", "\x0b", "\u2028", "\u2029", "\x85"])))
def test_only_lf_cr_and_crlf_end_lines(pieces: list[str]) -> None:
    text = "".join(pieces)
    decoded = decode(b"start " + text.encode())
    assert decoded == "start " + reference_lines(text)
    assert decoded.count("\n") == len(re.findall("\r\n|\r|\n", text))


@given(st.binary())
def test_any_bytes_are_text_or_binary(raw: bytes) -> None:
    reason = SkipReason.BINARY
    try:
        decode(raw).encode()
    except NotExtractedError as refused:
        reason = refused.reason
    assert reason is SkipReason.BINARY


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "def f():\n    # Größe prüfen und Änderung zurückgeben\n"),
        ("cp1252", "año, señor, mañana\n"),
        ("cp1252", "x = 1  # é\n"),
        ("cp1251", "Привет, мир! Это простой текст на русском языке.\n"),
        ("koi8_r", "Привет, мир! Это простой текст на русском языке. Ещё немного слов.\n"),
        ("gb18030", "# 配置文件说明\nkey=value\n"),
        ("big5", "你好，世界。這是一個簡單的中文檔案，用於測試編碼偵測。\n"),
        ("cp932", "// 設定ファイルを読み込む\nint x;\n"),
        ("euc_jp", "こんにちは世界。これは日本語のテキストファイルです。\n"),
        ("cp949", "안녕하세요 세계. 이것은 한국어 텍스트 파일입니다.\n"),
        ("cp1250", "Příliš žluťoučký kůň úpěl ďábelské ódy\n"),
        ("cp1253", "Καλημέρα κόσμε, αυτό είναι ένα κείμενο\n"),
    ],
)
def test_legacy_encodings_are_detected(encoding: str, text: str) -> None:
    assert decode(text.encode(encoding)) == text


def test_utf8_with_a_broken_place_stays_utf8() -> None:
    raw = "Größe und Maße, naïve Ideen".encode()
    assert decode(raw[:-1] + b"\xff\n") == "Größe und Maße, naïve Idee\ufffd\n"
    assert decode("漢字かな".encode()[:-1]) == "漢字か\ufffd"


@pytest.mark.parametrize(
    "raw",
    [
        b"\x7fELF\x02\x01\x01\0\0\0",
        b"text before" + b"\0",
        "utf-16 without a mark".encode("utf-16-le"),
        bytes(range(1, 32)) * 4,
        codecs.BOM_UTF16_LE + b"\x12\x34\0\0\x56\x78",
    ],
)
def test_binary_by_content(raw: bytes) -> None:
    with pytest.raises(NotExtractedError) as caught:
        decode(raw)
    assert caught.value.reason is SkipReason.BINARY


@pytest.mark.parametrize(
    "raw",
    [
        b"plain",
        b"page one\n\x0cpage two\n",
        b"\x1b[31mred\x1b[0m and \x08overstruck",
        b"x" * 8_000 + b"\0",
        b"a\x01" + b"b" * 40,
    ],
)
def test_text_with_a_few_odd_bytes_is_text(raw: bytes) -> None:
    assert decode(raw) == raw.decode()


def test_detection_is_bounded_on_a_large_file() -> None:
    raw = b"x = 1\n" * 60_000 + "# Größe prüfen und Änderung\n".encode("cp1252") * 5_000
    decode("é und ä\n".encode("cp1252"))
    started = time.process_time()
    assert decode(raw).endswith("# Größe prüfen und Änderung\n")
    assert time.process_time() - started < 0.5
