"""The two stored forms of what a chunk defines and uses."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from everfind_core.callgraph.symbols import MAX_NAME, decode, defining, encode, is_name, tokens, using
from everfind_core.model.symbols import NO_SYMBOLS, Definition, Symbols, Use

NAMES = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=12).filter(is_name)
SCOPES = st.lists(NAMES, max_size=3).map(".".join).filter(lambda scope: not scope or is_name(scope))
LINES = st.sets(st.integers(1, 10**6), min_size=1, max_size=5).map(lambda found: tuple(sorted(found)))
DEFINITIONS = st.builds(
    Definition, NAMES, st.sampled_from(["function", "class"]), st.integers(1, 9), st.integers(9, 99), SCOPES
)
ORIGINS = st.text(st.characters(codec="ascii", exclude_categories=["C"]), max_size=20).filter(
    lambda text: text == text.strip()
)
USES = st.builds(Use, NAMES, LINES, st.one_of(st.just(""), NAMES), ORIGINS, SCOPES, st.booleans())


@given(st.lists(DEFINITIONS, max_size=4), st.lists(USES, max_size=6))
def test_what_is_written_is_read(definitions: list[Definition], uses: list[Use]) -> None:
    symbols = Symbols(tuple(definitions), tuple(sorted(uses, key=lambda use: use.within)))
    assert decode(encode(symbols)) == symbols
    assert set(tokens(symbols).split(" ")) - {""} == {defining(d.name) for d in definitions} | {
        using(use.name) for use in uses
    }


def test_the_forms() -> None:
    symbols = Symbols(
        (Definition("refresh", "method", 12, 20, "Session"),),
        (
            Use("print", (30,)),
            Use("now", (14, 19), "clock", "app.clock", "Session.refresh"),
            Use("Token", (13,), within="Session.refresh", called=False),
        ),
    )
    assert encode(symbols) == (
        "+method\t12\t20\tSession\trefresh\nprint\t30\n@Session.refresh\nnow\t14,5\tclock\tapp.clock\n~Token\t13"
    )
    assert tokens(symbols) == "+refresh -print -now -Token"
    assert symbols.definitions[0].qualified == "Session.refresh"


def test_nothing_takes_no_room() -> None:
    assert (encode(NO_SYMBOLS), tokens(NO_SYMBOLS), decode("")) == ("", "", NO_SYMBOLS)


def test_what_no_name_is() -> None:
    assert all(map(is_name, ("größe", "operator==", "save!", "a" * MAX_NAME)))
    assert not any(map(is_name, ("", "a b", "a\tb", "a\nb", "+a", "@a", "~a", "a" * (MAX_NAME + 1), "\ud800")))
