from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfind_core.ranking.query import MAX_NAMES, Intent, Name, read_query


@pytest.mark.parametrize(
    ("text", "names", "coded"),
    [
        ("getUserName", [Name("getUserName")], True),
        ("where is get_user_name called", [Name("get_user_name")], True),
        ("LazyFile.close", [Name("close", "LazyFile")], True),
        ("std::vector::push_back grows", [Name("push_back", "vector")], True),
        ("Add support of `pathlib.Path` to `edit`", [Name("Path", "pathlib"), Name("edit")], True),
        ("stop edit() from blocking", [Name("edit")], True),
        ("HTTPServer startup", [Name("HTTPServer")], True),
        ("修复HttpUtil.urlEncode重复编码问题", [Name("urlEncode", "HttpUtil")], True),
        ("Context", [Name("Context")], False),
        ("atomic write", [Name("atomic"), Name("write")], False),
        ("how routes are grouped", [], False),
        ("a server in node.js", [], False),
        ("what package.json is for", [], False),
        ("1.0.21", [], False),
        ("登录鉴权", [], False),
    ],
)
def test_names_are_what_looks_like_code(text: str, names: list[Name], coded: bool) -> None:
    query = read_query(text)
    assert list(query.names) == names
    assert query.coded is coded


@pytest.mark.parametrize(
    ("text", "intents"),
    [
        ("getUserName", {Intent.IDENTIFIER}),
        ("Context", {Intent.IDENTIFIER}),
        ("tests of the parser", {Intent.TESTS}),
        ("the latest contest", set()),
        ("who calls the parser", {Intent.CALLERS}),
        ("how are settings read", {Intent.ARCHITECTURE, Intent.CONFIGURATION}),
        ("deprecated shims of v1", {Intent.LEGACY}),
        ("解析器的测试", {Intent.TESTS}),
        ("配置文件 vendored", {Intent.CONFIGURATION, Intent.GENERATED}),
        ("which licence", {Intent.RECORDS}),
        ("largest rodent", set()),
    ],
)
def test_intents_are_read_from_words(text: str, intents: set[Intent]) -> None:
    assert read_query(text).intents == intents


def test_words_subjects_and_scripts() -> None:
    query = read_query("How can't the Parser read UTF-8?")
    assert query.words == ("how", "can", "t", "the", "parser", "read", "utf", "8")
    assert query.subjects == 4
    assert not query.short
    assert query.cjk == 0
    assert read_query("茉莉 API").cjk == pytest.approx(2 / 5)
    assert read_query("登录 API").cjk == pytest.approx(1 / 5), "there are English words for it"


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ('where is "Token refresh window" set', ("token refresh window",)),
        ("“so that a reader” and «never sees»", ("so that a reader", "never sees")),
        ("「登录鉴权」在哪里", ("登录鉴权",)),
        ('an inch (") and a foot', ()),
        ("it's the user's token", ()),
        ('"..." is empty', ()),
        ('"one" "two" "three" "four" "five"', ("one", "two", "three", "four")),
    ],
)
def test_phrases_are_what_stands_in_quotation_marks(text: str, phrases: tuple[str, ...]) -> None:
    assert read_query(text).phrases == phrases


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    query = read_query(text)
    assert len(query.names) <= MAX_NAMES
    assert 0 <= query.cjk <= 1
    assert all(word == word.strip() and word for word in query.words)
