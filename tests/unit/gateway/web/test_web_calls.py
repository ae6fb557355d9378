"""The page's server: who is answered, what is answered, and what a wrong call is told."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import httpx2
import pytest

from everfind_core.answers.json_form import gather_json, status_json
from everfind_core.errors import ErrorKind, EverfindError, UnauthenticatedError, error_classes
from everfind_core.model import SearchMode
from everfind_gateway.mcp.corpora import Corpora
from everfind_gateway.server.http_server import HttpOptions, security
from everfind_gateway.server.served import Served as ServedWorkspaces
from everfind_gateway.web.app import HEADERS, HTTP_STATUS, MAX_BODY
from tests.support.agents import Served
from tests.support.gateway import FakeEngines
from tests.support.web import BEARER, ask, page_of
from tests.support.workspaces import Opening, write_projects


def call(served: Served, name: str, given: Any, **headers: str) -> httpx2.Response:
    return ask(page_of(served), "POST", f"/api/{name}", headers=BEARER | headers, content=json.dumps(given).encode())


def refusal(response: httpx2.Response) -> dict[str, str]:
    error: dict[str, str] = response.json()["error"]
    assert set(error) == {"reason", "message", "hint"}
    assert "\n" not in error["message"]
    return error


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": BEARER["Authorization"] + "x"}, 401),
        ({"Authorization": BEARER["Authorization"].replace("Bearer", "Basic")}, 401),
        (BEARER, 200),
        (BEARER | {"Origin": "http://127.0.0.1:8766"}, 200),
        (BEARER | {"Host": "search.example", "Origin": "https://search.example"}, 200),
        (BEARER | {"Host": "evil.example"}, 421),
        (BEARER | {"Host": "127.0.0.1.evil.example:80"}, 421),
        (BEARER | {"Origin": "http://evil.example"}, 403),
        (BEARER | {"Origin": "null"}, 403),
    ],
)
def test_only_those_with_the_token_and_from_here_are_answered(
    served: Served, headers: dict[str, str], status: int
) -> None:
    response = ask(page_of(served), "POST", "/api/status", headers=headers, content=b"{}")
    assert response.status_code == status
    assert ("folders" in response.text) == (status == 200)
    assert {name: response.headers[name] for name in HEADERS} == HEADERS


@pytest.mark.parametrize(
    ("path", "status"), [("/", 200), ("/everfind.js", 200), ("/nothing", 404), ("/api/status", 405)]
)
def test_every_response_has_the_headers(served: Served, path: str, status: int) -> None:
    response = ask(page_of(served), "GET", path)
    assert response.status_code == status
    assert {name: response.headers[name] for name in HEADERS} == HEADERS


def test_the_page_of_another_name_is_not_even_shown(served: Served) -> None:
    assert ask(page_of(served), "GET", "/", headers={"Host": "evil.example"}).status_code == 421


def test_gather_is_the_object_of_the_command(served: Served, engines: FakeEngines) -> None:
    given = {
        "query": "refresh the token", "limit": 3, "context_lines": 2, "folders": ["api"], "languages": ["Python"],
        "kinds": ["function"], "statuses": ["Accepted"], "include": ["*.py"], "exclude": ["tests"],
        "since": "2026-01-01", "before": "2026-12-31", "mode": "lexical", "include_hidden": True, "cursor": "page-2",
    }  # fmt: skip
    answer = call(served, "gather", given).json()
    request = engines.gathers[-1]
    assert answer["result"] == gather_json(engines.gather(request))
    filters = request.search.filters
    assert (request.context_lines, request.search.limit, request.search.mode) == (2, 3, SearchMode.LEXICAL)
    assert (filters.folders, filters.languages, filters.kinds) == (("api",), ("python",), ("function",))
    assert (filters.statuses, filters.include, filters.exclude) == (("accepted",), ("*.py",), ("tests",))
    assert (filters.since, filters.before, filters.all_statuses) == ("2026-01-01", "2026-12-31", True)
    assert request.search.cursor == "page-2"
    (pieces,) = answer["pieces"]
    assert "".join(pieces) == answer["result"]["passages"][0]["text"]
    assert pieces[1::2] == ["refresh", "token"]


def test_status_and_files_are_the_objects_of_the_commands(served: Served, engines: FakeEngines) -> None:
    assert call(served, "status", {}).json() == {"result": status_json(engines.status())}
    read = call(served, "cat_file", {"path": "api/src/a.py", "start_line": 1, "end_line": 2}).json()["result"]
    assert (read["path"], read["text"]) == ("src/a.py", "one\ntwo\n")


@pytest.mark.parametrize("cls", [*error_classes().values(), EverfindError], ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("name", ["gather", "status"])
def test_every_error_is_a_sentence(served: Served, engines: FakeEngines, cls: type[EverfindError], name: str) -> None:
    engines.error = cls("it is wrong here", hint="Do that.")
    response = call(served, name, {"query": "x"} if name == "gather" else {})
    assert response.status_code == HTTP_STATUS[cls.kind] != 401
    assert refusal(response) == {"reason": cls.reason, "message": "it is wrong here", "hint": "Do that."}


def test_every_kind_of_error_has_a_status_and_only_the_pages_token_has_401() -> None:
    assert set(HTTP_STATUS) == set(ErrorKind)
    assert 401 not in HTTP_STATUS.values()
    assert HTTP_STATUS[UnauthenticatedError.kind] == 403


def test_a_fault_is_a_short_sentence_and_the_log_has_the_rest(
    served: Served, engines: FakeEngines, caplog: pytest.LogCaptureFixture
) -> None:
    engines.fault = RuntimeError("secret detail")
    with caplog.at_level(logging.ERROR):
        response = call(served, "gather", {"query": "x"})
    assert response.status_code == 500
    expected = "a fault of everfind (RuntimeError); the server's log has the details"
    assert refusal(response) == {"reason": "INTERNAL", "message": expected, "hint": ""}
    assert "secret detail" in caplog.text


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "it is no JSON object"),
        (b"[]", "it is no JSON object"),
        (b'"x"', "it is no JSON object"),
        (b"\xff{}", "it is no JSON object"),
        (b"[" * MAX_BODY, "it is no JSON object"),
        (b'{"query": "' + b"x" * MAX_BODY + b'"}', "it is larger than 65,536 bytes"),
        (b"{}", "query: it is missing"),
        (b'{"query": ""}', 'query: "" cannot be used'),
        (b'{"query": "\\ud800"}', 'query: "\\ud800" cannot be used'),
        (b'{"query": 5}', "query: 5 cannot be used"),
        (b'{"query": "x", "limit": 500}', "limit: 500 cannot be used"),
        (b'{"query": "x", "querry": "y"}', "did you mean 'query'?"),
        (b'{"query": "x", "mode": "magic"}', "is not one of"),
        (b'{"query": "x", "folders": ["nowhere"]}', "the folders are: api"),
        (b'{"query": "x", "context_lines": -1}', "context_lines: -1 cannot be used"),
    ],
)
def test_bad_input_is_told(served: Served, body: bytes, said: str) -> None:
    response = ask(page_of(served), "POST", "/api/gather", headers=BEARER, content=body)
    assert response.status_code == 400
    assert said in refusal(response)["message"]


def test_a_call_is_answered_from_the_workspace_that_it_names(served: Served, tmp_path: Path) -> None:
    src = write_projects(tmp_path / "src", "a", "b")
    others = Corpora(ServedWorkspaces([str(src / "a"), str(src)]), Opening(), limit=2, own_index=tmp_path)
    page = page_of(served, others)

    def answer(name: str, workspace: str) -> Any:
        given = {"workspace": workspace, **({"query": "x"} if name == "gather" else {})}
        return ask(page, "POST", f"/api/{name}", headers=BEARER, content=json.dumps(given).encode()).json()

    for workspace, path in (("", "src/auth.py"), (f"{src}/a", "a.py"), (f"{src}/b/deep", "b.py")):
        assert [hit["path"] for hit in answer("gather", workspace)["result"]["answer"]["hits"]] == [path]
        assert answer("status", workspace)["workspaces"] == [f"{src}/a"], "those that were listed one by one"
    assert answer("gather", "/nowhere")["error"]["reason"] == "WORKSPACE_NOT_FOUND"
    assert answer("status", "nope")["error"]["reason"] == "WORKSPACE_NOT_FOUND"
    assert "there is no such argument" in refusal(call(served, "status", {"workspace": f"{src}/a"}))["message"]
    assert others.close()


@pytest.mark.parametrize("name", ["index", "grep", "__class__"])
def test_only_what_the_page_needs_can_be_called(served: Served, engines: FakeEngines, name: str) -> None:
    response = call(served, name, {})
    assert response.status_code == 400
    assert refusal(response)["message"].endswith("there are gather, cat_file, status")
    assert engines.runs == []


def test_pages_of_every_name_of_the_server_may_call_it() -> None:
    checks = security(HttpOptions(host="::1", hosts=("search.example",)), own_pages=True)
    assert {"https://search.example", "http://search.example:*", "http://[::1]:*"} <= set(checks.allowed_origins)
    assert {"search.example", "[::1]:*"} <= set(checks.allowed_hosts)
    assert "https://search.example" not in security(HttpOptions(hosts=("search.example",))).allowed_origins
