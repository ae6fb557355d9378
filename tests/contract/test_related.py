"""What is related to a symbol or a place, over every way to reach everfind."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from everfind_core.answers.json_form import related_json, search_json
from everfind_core.errors import EverfindError, FileNotIndexableError, FolderNotFoundError, InvalidRequestError
from everfind_core.index.watch_state import WatchState, following, write_watch_state
from everfind_core.model import (
    Filters,
    IndexRequest,
    ProvenanceLabel,
    RelatedAnswer,
    RelatedRequest,
    Relation,
    SearchRequest,
)
from everfind_core.ports import Embedder, Searcher
from tests.contract.conftest import Engines, open_engines, store_of
from tests.support.notes import Reach
from tests.support.serving import connected, serving

FILES = {
    "code/shop/cart.py": '''from shop.prices import total


class Cart:
    def __init__(self, store):
        self.items = []

    def checkout(self, user):
        """Pay for all items."""
        amount = total(self.items)
        self.clear()
        return charge(user, amount)

    def clear(self):
        self.items = []


class GiftCart(Cart):
    pass


def charge(user, amount):
    return user.pay(amount)
''',
    "code/shop/prices.py": '''def total(items):
    """The sum of what all items cost."""
    return sum(item.price for item in items)
''',
    "code/shop/web.py": """from shop.cart import Cart


def buy(request):
    cart = Cart(request.store)
    return cart.checkout(request.user)
""",
    "docs/other/report.py": """def total(rows):
    return len(rows)


def summary(rows):
    return total(rows)
""",
}


@dataclass(frozen=True)
class Shop:
    engines: Engines
    searcher: Searcher


@pytest.fixture(scope="module", params=["direct", "aio", "sqlite"])
def shop(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, embedder: Embedder
) -> Iterator[Shop]:
    with contextlib.ExitStack() as stack:
        engines = stack.enter_context(open_engines(tmp_path_factory.mktemp("shop"), embedder, store_of(request.param)))
        for name, text in FILES.items():
            write(engines.base, name, text)
        engines.indexer.index(IndexRequest(), lambda _event: None)
        searcher = engines.searcher
        if request.param == "aio":
            searcher = stack.enter_context(connected(stack.enter_context(serving(engines.services())))).searcher
        yield Shop(engines, searcher)


def write(base: Path, name: str, text: str) -> None:
    path = base / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def listed(answer: RelatedAnswer) -> list[tuple[str, str, int, str, float]]:
    """Relation, path, line, symbol and confidence of each related hit."""
    return [
        (one.relation.value, one.hit.path, one.line, one.symbol, round(one.confidence, 2)) for one in answer.related
    ]


def callers(symbol: str, *relations: Relation) -> RelatedRequest:
    return RelatedRequest(symbol=symbol, relations=relations or (Relation.CALLER,))


def test_callers_of_a_method_by_the_type_that_the_file_constructs(shop: Shop) -> None:
    answer = shop.searcher.related(callers("Cart.checkout"))
    assert listed(answer) == [("caller", "shop/web.py", 6, "buy", 0.95)]
    (target,) = answer.targets
    assert (target.path, target.symbol, target.kind) == ("shop/cart.py", "Cart.checkout", "method")
    assert (target.start_line, target.end_line) == (8, 12)
    assert target.text.split("\n") == FILES["code/shop/cart.py"].split("\n")[7:12]
    (one,) = answer.related
    assert (one.hit.relation, one.hit.relation_to, one.hit.relation_path) == (
        *(Relation.CALLER, target.chunk_id),
        "shop/cart.py",
    )
    assert one.hit.label == "graph caller"
    assert one.hit.score == one.confidence
    assert answer.coverage.files > 4
    assert answer.warnings == ()


def test_an_ambiguous_symbol_names_its_meanings_and_each_caller_belongs_to_one(shop: Shop) -> None:
    answer = shop.searcher.related(callers("total"))
    assert [(t.folder, t.path) for t in answer.targets] == [("code", "shop/prices.py"), ("docs", "other/report.py")]
    assert listed(answer) == [
        ("caller", "shop/cart.py", 10, "Cart.checkout", 0.95),
        ("caller", "other/report.py", 6, "summary", 0.95),
    ]
    assert [one.hit.relation_path for one in answer.related] == ["shop/prices.py", "other/report.py"]
    assert answer.warnings == ("2 definitions are called so: name one by its scope or place",)


def test_a_qualifier_or_a_folder_says_which_is_meant(shop: Shop) -> None:
    for request in (callers("prices.total"), replace(callers("total"), folder="code"), callers("shop::prices::total")):
        answer = shop.searcher.related(request)
        assert [t.path for t in answer.targets] == ["shop/prices.py"]
        assert listed(answer)[0] == ("caller", "shop/cart.py", 10, "Cart.checkout", 0.95)
        assert all(confidence < 0.05 for *_, confidence in listed(answer)[1:])


def test_callees_of_the_definition_around_a_line(shop: Shop) -> None:
    place = RelatedRequest(folder="code", path="shop/cart.py", line=10, relations=(Relation.CALLEE,))
    answer = shop.searcher.related(place)
    assert [t.symbol for t in answer.targets] == ["Cart.checkout"]
    assert listed(answer) == [
        ("callee", "shop/cart.py", 14, "Cart.clear", 0.95),
        ("callee", "shop/cart.py", 22, "charge", 0.95),
        ("callee", "shop/prices.py", 1, "total", 0.95),
    ]


def test_references_are_no_calls(shop: Shop) -> None:
    answer = shop.searcher.related(callers("Cart", Relation.REFERENCE))
    assert listed(answer) == [("reference", "shop/cart.py", 18, "GiftCart", 0.95)]
    assert listed(shop.searcher.related(callers("Cart"))) == [("caller", "shop/web.py", 5, "buy", 0.95)]


def test_what_no_file_defines_still_has_callers(shop: Shop) -> None:
    answer = shop.searcher.related(callers("pay"))
    assert listed(answer) == [("caller", "shop/cart.py", 23, "charge", 0.5)]
    assert answer.targets == ()
    assert answer.warnings == ("no indexed file defines 'pay', these use the name",)
    assert shop.searcher.related(callers("user.pay")).related == answer.related
    assert shop.searcher.related(callers("nobody.pay")).related == ()


def test_all_relations_take_turns_and_pages_follow(shop: Shop) -> None:
    whole = shop.searcher.related(RelatedRequest(symbol="charge", limit=100))
    relations = [one.relation for one in whole.related]
    assert relations[:2] == [Relation.CALLER, Relation.SIMILAR]
    assert whole.next_cursor == ""
    paged, cursor = list[str](), ""
    while True:
        page = shop.searcher.related(RelatedRequest(symbol="charge", limit=3, cursor=cursor))
        paged += [one.hit.chunk_id for one in page.related]
        cursor = page.next_cursor
        if not cursor:
            break
        assert page.left_out == len(whole.related) - len(paged)
    assert paged == [one.hit.chunk_id for one in whole.related]


def test_similar_is_nearest_by_vector_and_never_the_target(shop: Shop) -> None:
    answer = shop.searcher.related(RelatedRequest(symbol="prices.total", relations=(Relation.SIMILAR,)))
    cosines = [one.confidence for one in answer.related]
    assert cosines == sorted(cosines, reverse=True)
    assert all(one.line == 0 and one.symbol == "" for one in answer.related)
    assert answer.targets[0].chunk_id not in {one.hit.chunk_id for one in answer.related}


def test_filters_limit_what_is_returned_and_not_how_sure_it_is(shop: Shop) -> None:
    request = replace(callers("total"), filters=Filters(include=("*/cart.py",)))
    assert listed(shop.searcher.related(request)) == [("caller", "shop/cart.py", 10, "Cart.checkout", 0.95)]
    only_docs = replace(callers("total"), filters=Filters(folders=("docs",)))
    answer = shop.searcher.related(only_docs)
    assert [t.folder for t in answer.targets] == ["docs"]
    assert {one.hit.folder for one in answer.related} == {"docs"}


def test_a_changed_file_changes_its_calls_with_its_text(shop: Shop) -> None:
    base, indexer = shop.engines.base, shop.engines.indexer
    write(base, "code/shop/late.py", "from shop.prices import total\n\n\ndef late():\n    return total([])\n")
    indexer.index(IndexRequest(), lambda _event: None)
    assert ("caller", "shop/late.py", 5, "late", 0.95) in listed(shop.searcher.related(callers("prices.total")))
    write(base, "code/shop/late.py", "def late():\n    return 0\n")
    indexer.index(IndexRequest(), lambda _event: None)
    assert "shop/late.py" not in {path for _, path, *_ in listed(shop.searcher.related(callers("prices.total")))}
    (base / "code/shop/late.py").unlink()
    indexer.index(IndexRequest(), lambda _event: None)
    assert shop.searcher.related(callers("late")).targets == ()


def test_one_hop_comes_after_the_hits_and_changes_none(shop: Shop) -> None:
    plain = shop.searcher.search(SearchRequest("pay for all items of a cart", limit=1))
    hopped = shop.searcher.search(SearchRequest("pay for all items of a cart", limit=1, graph_hops=1))
    assert hopped.hits[:1] == plain.hits
    assert (hopped.left_out, hopped.abstained) == (plain.left_out, plain.abstained)
    (added,) = hopped.hits[1:]
    assert plain.hits[0].path == "shop/cart.py"
    assert added.provenance.label is ProvenanceLabel.GRAPH
    assert added.label in ("graph caller", "graph callee")
    assert (added.relation_to, added.relation_path) == (plain.hits[0].chunk_id, "shop/cart.py")
    assert hopped.tokens == plain.tokens + added.tokens


def test_one_hop_finds_callers_and_callees_once_and_keeps_the_order_by_score(shop: Shop) -> None:
    request = SearchRequest("the sum of what all items cost", limit=2, filters=Filters(include=("shop/*.py",)))
    plain, hopped = shop.searcher.search(request), shop.searcher.search(replace(request, graph_hops=1))
    assert hopped.hits[:2] == plain.hits
    assert [hit.score for hit in hopped.hits] == sorted((hit.score for hit in hopped.hits), reverse=True)
    assert len({hit.chunk_id for hit in hopped.hits}) == len(hopped.hits)
    assert all(hit.relation_to in {one.chunk_id for one in plain.hits} for hit in hopped.hits[2:])
    assert len(hopped.hits) == 3
    form = search_json(hopped)
    assert form == search_json(shop.engines.searcher.search(replace(request, graph_hops=1)))
    referred = {one["chunk_id"] for one in form["hits"] if "chunk_id" in one}
    assert referred == {one["relation_to"] for one in form["hits"] if "relation_to" in one} != set()


def test_a_hop_keeps_to_filters_and_to_the_token_budget(shop: Shop) -> None:
    request = SearchRequest("pay for all items of a cart", limit=1, graph_hops=1)
    only = replace(request, filters=Filters(include=("*/cart.py",)))
    assert {hit.path for hit in shop.searcher.search(only).hits} == {"shop/cart.py"}
    wide = replace(request, max_tokens=10_000)
    plain, hopped = shop.searcher.search(replace(wide, graph_hops=0)), shop.searcher.search(wide)
    assert len(hopped.hits) == 2
    some = 20  # the page cursor is of other tokens for each budget
    for budget, expected in (
        (plain.tokens + some, plain),
        (hopped.tokens - some, plain),
        (hopped.tokens + some, hopped),
    ):
        tight = shop.searcher.search(replace(request, max_tokens=budget))
        assert [hit.path for hit in tight.hits] == [hit.path for hit in expected.hits]
        assert tight.tokens <= budget


def test_a_hop_from_prose_adds_nothing(shop: Shop) -> None:
    request = SearchRequest("capybara", limit=1, filters=Filters(folders=("docs",), include=("*.md",)))
    assert shop.searcher.search(replace(request, graph_hops=1)).hits == shop.searcher.search(request).hits


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (RelatedRequest(), "symbol"),
        (RelatedRequest(symbol="a", folder="code", path="b", line=1), "symbol"),
        (RelatedRequest(symbol="a b"), "symbol"),
        (RelatedRequest(symbol="::"), "symbol"),
        (RelatedRequest(symbol="a" * 1_001), "symbol"),
        (RelatedRequest(symbol="a", line=3), "line"),
        (RelatedRequest(path="shop/cart.py", line=3), "folder"),
        (RelatedRequest(folder="code", path="shop/cart.py"), "line"),
        (RelatedRequest(folder="code", path="shop/cart.py", line=999), "line"),
        (RelatedRequest(symbol="a", relations=(Relation.SUCCESSOR,)), "relations"),
        (RelatedRequest(symbol="a", limit=0), "limit"),
        (RelatedRequest(symbol="a", limit=101), "limit"),
        (RelatedRequest(symbol="a", cursor="bm9uc2Vuc2U="), "cursor"),
        (RelatedRequest(symbol="a", filters=Filters(folders=("nope",))), "filters.folders"),
    ],
)
def test_what_cannot_be_answered_names_the_field(shop: Shop, request_: RelatedRequest, field: str) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        shop.searcher.related(request_)
    assert caught.value.violations[0].field == field


def test_a_place_outside_the_index_is_an_error(shop: Shop) -> None:
    with pytest.raises(FileNotIndexableError, match=r"no file shop/nope\.py in code"):
        shop.searcher.related(RelatedRequest(folder="code", path="shop/nope.py", line=1))
    for request in (RelatedRequest(folder="nope", path="a.py", line=1), RelatedRequest(symbol="a", folder="nope")):
        with pytest.raises(FolderNotFoundError, match="no folder is called 'nope'; there are code, docs"):
            shop.searcher.related(request)


def test_both_sides_give_the_same_json(shop: Shop) -> None:
    for request in (
        RelatedRequest(symbol="total", limit=100),
        RelatedRequest(folder="code", path="shop/web.py", line=1, limit=100),
        RelatedRequest(folder="docs", path="auth.md", line=3),
        RelatedRequest(symbol="nothing"),
    ):
        direct = related_json(shop.engines.searcher.related(request))
        assert related_json(shop.searcher.related(request)) == direct


def test_errors_are_the_same_on_both_sides(shop: Shop) -> None:
    for request in (RelatedRequest(), RelatedRequest(folder="code", path="x", line=1)):
        errors = []
        for searcher in (shop.engines.searcher, shop.searcher):
            with pytest.raises(EverfindError) as caught:
                searcher.related(request)
            errors.append((type(caught.value), caught.value.message, caught.value.hint))
        assert errors[0] == errors[1]


def test_changes_that_wait_are_told_as_a_search_tells_them(notes: Reach) -> None:
    opened = notes()
    opened.write("a.py", "def wombat():\n    return 1\n")
    opened.run()
    request = RelatedRequest(symbol="wombat")
    assert not opened.searcher.related(request).staleness.stale
    with following(opened.base / "index"):
        write_watch_state(opened.base / "index", WatchState({"notes": 2}))
        related, found = opened.searcher.related(request), opened.searcher.search(SearchRequest("wombat"))
        assert (related.staleness.stale, related.staleness.pending, related.coverage.pending) == (True, 2, 2)
        assert (related.staleness, related.coverage) == (found.staleness, found.coverage)
    assert not opened.searcher.related(request).staleness.stale
