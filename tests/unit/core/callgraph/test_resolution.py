"""How sure it is that a use means a definition of its name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfind_core.callgraph.resolution import (
    CONTRADICTED,
    FREE,
    IMPORTED,
    IN_FILE,
    METHOD,
    NEAR,
    TYPED,
    UNLIKELY,
    Known,
    Place,
    address,
    confidences,
    fit,
    segments,
)
from everfind_core.model import FileRef
from everfind_core.model.symbols import Definition, Use


def known(path: str, scope: str = "", kind: str = "", language: str = "python", name: str = "save") -> Known:
    kind = kind or ("method" if scope else "function")
    return Known(Definition(name, kind, 1, 9, scope), Place(FileRef("app", path), language))


def use(receiver: str = "", origin: str = "", within: str = "") -> Use:
    return Use("save", (3,), receiver, origin, within)


def place(path: str = "src/web/views.py", language: str = "python") -> Place:
    return Place(FileRef("app", path), language)


@pytest.mark.parametrize(
    ("used", "definition", "expected"),
    [
        # imports
        (use(origin="web.store"), known("src/web/store.py"), IMPORTED),
        (use(origin="web.store"), known("src/web/store/__init__.py"), IMPORTED),
        (use(origin=".store"), known("src/web/store.py"), IMPORTED),
        (use(origin="."), known("src/web/store.py"), IMPORTED),
        (use(origin="."), known("src/other/store.py"), CONTRADICTED),
        (use(origin="web"), known("src/web/store.py"), IMPORTED),
        (use(origin="django.db"), known("src/web/store.py"), CONTRADICTED),
        (use("db", origin="other.web.store"), known("src/web/store.py"), TYPED),
        (use("db", origin="other.store"), known("src/web/store.py"), NEAR),
        # types
        (use("user", origin="User"), known("src/models.py", "User"), IMPORTED),
        (use("user", origin="shop.User"), known("src/models.py", "User"), TYPED),
        (use("user", origin="Person"), known("src/models.py", "User"), CONTRADICTED),
        (use("user"), known("src/models.py", "User"), TYPED),
        (use("User"), known("src/models.py", "User"), TYPED),
        (use("repo", origin="IStore"), known("src/models.py", "Store"), NEAR),
        (use("repo", origin="shop.Store"), known("src/models.py", "StoreImpl"), NEAR),
        # the object itself
        (use("self", within="View.post"), known("src/web/views.py", "View"), IMPORTED),
        (use("self", within="View.post"), known("src/base.py", "Base"), METHOD),
        (use("super", within="View.post"), known("src/base.py", "Base"), METHOD),
        # nothing is known of the receiver
        (use("x"), known("src/models.py", "User"), METHOD),
        (use("x"), known("src/web/views.py", "User"), IN_FILE),
        (use("x"), known("src/models.py"), UNLIKELY),
        (use("models"), known("src/models.py"), TYPED),
        # bare names
        (use(), known("src/web/views.py"), IMPORTED),
        (use(), known("src/web/store.py"), NEAR),
        (use(), known("src/other.py"), FREE),
        (use(), known("src/other.py", "User"), UNLIKELY),
        (use(), known("src/other.go", language="go"), 0.0),
    ],
)
def test_the_best_rule_counts(used: Use, definition: Known, expected: float) -> None:
    assert fit(used, place(), definition) == expected


@pytest.mark.parametrize(
    ("within", "path", "scope", "expected"),
    [
        ("Store.run", "src/Store.java", "Store", IMPORTED),
        ("Shop.run", "src/Store.java", "Store", METHOD),
        ("Shop.run", "src/Other.java", "Store", UNLIKELY),
        ("Store.run", "src/Other.java", "Store", TYPED),
    ],
)
def test_some_languages_leave_the_object_out(within: str, path: str, scope: str, expected: float) -> None:
    at = place("src/Store.java", "java")
    assert fit(use(within=within), at, known(path, scope, language="java")) == expected


def test_an_import_outweighs_any_number_of_equal_names() -> None:
    others = [known(f"src/other{n}.py", "Other") for n in range(9)]
    found = confidences(use(origin="web.store"), place(), [known("src/web/store.py"), *others])
    assert found[0] == IMPORTED
    assert found[1:] == [pytest.approx((1 - IMPORTED) * CONTRADICTED / 9)] * 9


def test_equal_fits_share() -> None:
    found = confidences(use("x"), place(), [known(f"src/m{n}.py", "Model") for n in range(4)])
    assert found == [METHOD / 4] * 4


def test_overloads_and_constructors_count_once() -> None:
    twice = [known("src/a.py"), known("src/a.py"), known("src/b.py")]
    assert confidences(use(), place(), twice) == [FREE / 2] * 3
    made = Use("User", (1,))
    type_and_constructor = [
        known("m/User.java", kind="class", language="java", name="User"),
        known("m/User.java", "User", language="java", name="User"),
    ]
    assert confidences(made, place("m/App.java", "java"), type_and_constructor) == [NEAR, NEAR]


def test_the_only_one_of_its_name_is_likelier() -> None:
    assert confidences(use(), place(), [known("x/other.py")]) == [pytest.approx(0.7)]
    assert confidences(use("x"), place(), [known("x/other.py", "User")]) == [pytest.approx(0.56)]
    assert confidences(use(origin="django"), place(), [known("x/other.py")]) == [CONTRADICTED]


def test_origins_and_addresses() -> None:
    assert segments("crate::auth::token") == ("auth", "token")
    assert segments("../models/user") == ("models", "user")
    assert segments("App\\Models\\User") == ("App", "Models", "User")
    assert segments("..") == ()
    assert address(FileRef("f", "src/auth/__init__.py"), "Outer.Inner") == ("src", "auth", "Outer", "Inner")
    assert address(FileRef("f", "main.go"), "") == ()


PATHS = st.sampled_from(["a.py", "b/a.py", "b/c.py", "a.go", "b/mod.rs", "x/index.ts"])
TEXTS = st.sampled_from(["", "a", "b.c", ".", "..x", "self", "C", "crate::b"])


@given(TEXTS, TEXTS, TEXTS, PATHS, st.lists(st.tuples(PATHS, TEXTS), max_size=5), st.sampled_from(["python", "go"]))
def test_confidences_are_shares(
    receiver: str, origin: str, within: str, path: str, definitions: list[tuple[str, str]], language: str
) -> None:
    candidates = [known(where, scope, language=language) for where, scope in definitions]
    found = confidences(use(receiver, origin, within), place(path), candidates)
    assert all(0 <= one <= 1 for one in found)
    best = {one.identity: value for one, value in zip(candidates, found, strict=True)}
    assert sum(best.values()) <= 1.0 + 1e-9
