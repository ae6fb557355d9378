from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everfind_core.text.lexical import MAX_QUERY_TERMS, MAX_TERM_LENGTH, document_terms, query_terms, written_terms

ANY_TEXT = st.text(max_size=300)
NAME = st.from_regex(r"[A-Za-z][A-Za-z0-9]{0,9}", fullmatch=True)
IDENTIFIER = st.one_of(
    NAME,
    st.lists(NAME, min_size=2, max_size=4).map("_".join),
    st.lists(NAME, min_size=2, max_size=4).map("-".join),
    st.lists(NAME, min_size=2, max_size=4).map(".".join),
    st.lists(NAME, min_size=2, max_size=4).map("/".join),
    st.lists(st.integers(0, 99).map(str), min_size=2, max_size=4).map(".".join),
    st.text("一二三四用户登录サーバー서버", min_size=1, max_size=8),
)
WORDS = st.lists(IDENTIFIER, min_size=1, max_size=12)


def terms_of(text: str) -> set[str]:
    return set(document_terms(text, path="x").split())


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("getUserName", {"get", "user", "nam", "getusername"}),
        ("get_user_name", {"get", "user", "nam", "getusername"}),
        ("get-user-name", {"get", "user", "nam", "getusername"}),
        ("user.name", {"user", "nam", "user.name"}),
        ("ERR_TOKEN_EXPIRED", {"err", "token", "expir", "errtokenexpired"}),
        ("HTTPServer2", {"http", "server", "2", "httpserver2", "server2"}),
        ("GraphQLSchema", {"graph", "ql", "schema", "graphqlschema", "graphql", "qlschema"}),
        ("OAuth2Client", {"o", "auth", "2", "client", "oauth2client", "oauth", "auth2", "2client"}),
        ("URLs", {"url"}),
        ("1.0.21", {"1", "0", "21", "1.0", "0.21"}),
        ("std::vec::Vec", {"std", "vec", "std.vec", "vec.vec"}),
        ("obj->field", {"obj", "field", "obj.field"}),
        ("src/auth/login.py", {"src", "auth", "login", "py", "src.auth", "auth.login", "login.py"}),
        ("__init__", {"init"}),
        ("__.map", {"map"}),
        ("aGVsbG8gd29ybGQ", {"agvsbg8gd29ybgq"}),
        ("Café naïve ŒUVRE Łódź", {"caf", "naiv", "oeuvr", "lodz"}),
        ("Straße", {"strass"}),
        ("ﬁle Ｔｅｓｔ", {"fil", "test"}),
        ("用户登录", {"用", "户", "登", "录", "用户", "户登", "登录"}),
        ("ガード", {"ガ", "ー", "ド", "ガー", "ード"}),
        ("서버", {"서", "버", "서버"}),
        ("调用getUser方法", {"调", "用", "调用", "get", "user", "getuser", "方", "法", "方法"}),
        ("हिन्दी", {"हिन्दी"}),
        ("ship it 🚀", {"ship", "it", "🚀"}),
    ],
)
def test_terms_of_a_text(text: str, terms: set[str]) -> None:
    assert terms_of(text) - {"x"} == terms


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("how to parse the query", ["how", "pars", "queri"]),
        ("to the", ["to", "the"]),
        ("user User USER", ["user"]),
        ("用户登录", ["用户", "户登", "登录"]),
        ("锁", ["锁"]),
        ("锁 用户", ["锁", "用户"]),
        ("", []),
        ('"" -- && || \\ * ?', []),
        ("' OR 1=1 --", ["or", "1"]),
        ("-v", ["v"]),
        ("a\0b", ["b"]),
    ],
)
def test_terms_of_a_query(query: str, terms: list[str]) -> None:
    assert written_terms(query) == terms


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("锁", ["锁", "lock"]),
        ("用户登录 API", ["用户", "户登", "登录", "api", "user", "login"]),
        ("合并到 main", ["合并", "并到", "main", "merg"]),
        ("茉莉", ["茉莉"]),
        ("user login", ["user", "login"]),
    ],
)
def test_a_query_also_has_terms_of_english_words_for_chinese_ones(query: str, terms: list[str]) -> None:
    assert query_terms(query) == terms


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("user name", "getUserName()"),
        ("graphql", "class GraphQLSchema:"),
        ("utf8", "decode_utf8"),
        ("user.name", "self.user.name = 1"),
        ("auth/login.py", "see src/auth/login.py"),
        ("1.0.21", "released 1.0.21-beta"),
        ("登录", "用户登录失败"),
        ("录", "登录"),
        ("cafe", "Café"),
        ("café", "cafe"),
        ("cafe\u0301", "caf\u00e9"),
        ("naming files", "the name of a file"),
    ],
)
def test_a_query_finds_the_text(query: str, text: str) -> None:
    assert set(written_terms(query)) <= terms_of(text)


def test_fields_are_searchable_and_the_file_name_weighs_most() -> None:
    terms = document_terms(
        "body", path="src/auth/token_store.py", symbol="Store.load", heading="Auth > Refresh"
    ).split()
    assert {"bodi", "src", "auth", "refresh", "py", "tokenstore", "store.load"} <= set(terms)
    counts = {term: terms.count(term) for term in ("token", "load", "refresh", "src", "bodi")}
    assert counts == {"token": 5, "load": 2, "refresh": 2, "src": 1, "bodi": 1}


def test_a_file_without_an_extension_has_a_name() -> None:
    assert set(document_terms("", path=".gitignore").split()) == {"gitignor"}
    assert "makefil" in document_terms("", path="a/Makefile")


@given(WORDS, st.data())
@settings(deadline=None)
def test_what_stands_in_a_text_is_found_in_it(words: list[str], data: st.DataObject) -> None:
    text = " ".join(words)
    start = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(start + 1, len(words)))
    assert set(written_terms(" ".join(words[start:end]))) <= terms_of(text)


@given(st.lists(NAME, min_size=2, max_size=7), st.data())
@settings(deadline=None)
def test_a_part_of_a_dotted_name_is_found_in_it(names: list[str], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(names) - 1))
    assert set(query_terms(".".join(names[start:]))) <= terms_of(".".join(names))


@given(st.lists(st.from_regex("[a-z]{1,12}", fullmatch=True), min_size=1, max_size=8))
@settings(deadline=None)
def test_case_does_not_matter(words: list[str]) -> None:
    plain = query_terms(" ".join(words))
    assert plain == query_terms(" ".join(words).upper()) == query_terms(" ".join(words).title())


@given(ANY_TEXT, ANY_TEXT)
@settings(max_examples=300, deadline=None)
def test_any_text_gives_clean_terms(text: str, path: str) -> None:
    joined = document_terms(text, path=path, symbol=text[:20], heading=path[:20])
    terms = joined.split(" ") if joined else []
    assert all(term and term.split() == [term] and len(term) <= MAX_TERM_LENGTH for term in terms)
    found = query_terms(text)
    assert len(found) == len(set(found)) <= MAX_QUERY_TERMS
    assert set(written_terms(text)) <= terms_of(text)


@given(st.text(st.characters(), max_size=100))
@settings(deadline=None)
def test_lone_surrogates_and_controls_are_harmless(text: str) -> None:
    assert set(written_terms(text)) <= terms_of(text)


@pytest.mark.parametrize("unit", ["a", "A1", "_", "-", "a-", "a.", "aB", "用", "用a", "\u0301", "\u0e33", "🚀", "हि"])
def test_huge_input_is_bounded_in_time_and_size(unit: str) -> None:
    text = unit * (400_000 // len(unit))
    started = time.process_time()
    terms = document_terms(text, path="x")
    assert time.process_time() - started < 5
    assert len(terms) < 10 * len(text)
    assert len(query_terms(text[:10_000])) <= MAX_QUERY_TERMS


def test_a_long_query_keeps_its_first_terms() -> None:
    terms = query_terms(" ".join(f"w{n}" for n in range(1000)))
    assert len(terms) == MAX_QUERY_TERMS
    assert terms[0] == "w"
