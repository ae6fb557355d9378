"""`related`: what it asks of the searcher, and what it prints."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from everfind_core.model import Filters, RelatedRequest, Relation
from tests.support.gateway import FakeEngines, Outcome, make_hit

Run = Callable[..., Outcome]


@pytest.fixture
def api(everfind: Run, engines: FakeEngines) -> Path:
    """An added folder named ``api`` with a file."""
    root = Path("api").absolute()
    (root / "src").mkdir(parents=True)
    (root / "src" / "auth.py").write_text("x = 1\n")
    assert everfind("add", "api").code == 0
    return root


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["Session.refresh"], RelatedRequest(symbol="Session.refresh")),
        (["std::vector"], RelatedRequest(symbol="std::vector")),
        (["api/src/auth.py:42"], RelatedRequest(folder="api", path="src/auth.py", line=42)),
        (["api/src/auth.py:42-60"], RelatedRequest(folder="api", path="src/auth.py", line=42)),
        (["refresh", "--callers"], RelatedRequest(symbol="refresh", relations=(Relation.CALLER,))),
        (
            ["refresh", "--similar", "--callees", "--references", "-k", "3"],
            RelatedRequest(
                symbol="refresh", relations=(Relation.CALLEE, Relation.REFERENCE, Relation.SIMILAR), limit=3
            ),
        ),
        (
            ["refresh", "--folder", "api", "--include", "*.py", "--exclude", "tests", "--language", "Python"],
            RelatedRequest(
                symbol="refresh",
                filters=Filters(folders=("api",), include=("*.py",), exclude=("tests",), languages=("python",)),
            ),
        ),
    ],
)
def test_arguments_become_the_request(
    everfind: Run, engines: FakeEngines, api: Path, arguments: list[str], expected: RelatedRequest
) -> None:
    assert everfind("related", *arguments).code == 0
    assert engines.relations == [expected]


def test_a_place_can_be_a_path_of_the_system(everfind: Run, engines: FakeEngines, api: Path) -> None:
    assert everfind("related", f"{api}/src/auth.py:7").code == 0
    assert everfind("related", "/elsewhere/auth.py:7").code != 0
    assert engines.relations == [RelatedRequest(folder="api", path="src/auth.py", line=7)]


def test_piped_it_is_one_line_each_and_the_rest_goes_to_stderr(everfind: Run, engines: FakeEngines) -> None:
    engines.hits = (make_hit(), make_hit("odd\n.py"))
    ended = everfind("related", "refresh_token")
    assert ended.out.splitlines() == [
        "api/src/auth.py:43\t0.90\t[caller]\tOuter.caller\t",
        "api/odd%0A.py:43\t0.90\t[caller]\tOuter.caller\t",
    ]
    assert ended.err == "target: api/src/auth.py:42  refresh_token\n"


def test_nothing_related_says_what_was_searched(everfind: Run, engines: FakeEngines) -> None:
    engines.hits = ()
    ended = everfind("related", "x")
    assert (ended.code, ended.out) == (0, "")
    assert ended.err == "nothing is related: searched 1,203 files, 9,000 chunks\n"


def test_json(everfind: Run, engines: FakeEngines) -> None:
    form = json.loads(everfind("related", "refresh_token", "--json").out)
    assert list(form) == ["generation", "targets", "related", "coverage"]
    assert form["targets"][0]["chunk_id"] == "id-src/auth.py"
    assert {key: form["related"][0][key] for key in ("relation", "confidence", "line", "symbol")} == {
        "relation": "caller",
        "confidence": 0.9,
        "line": 43,
        "symbol": "Outer.caller",
    }


@pytest.mark.parametrize("command", ["search", "gather"])
def test_graph_asks_for_one_hop(everfind: Run, engines: FakeEngines, command: str) -> None:
    assert everfind(command, "x", "--graph").code == 0
    assert engines.searches[0].graph_hops == 1
