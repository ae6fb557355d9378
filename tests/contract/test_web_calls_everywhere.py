"""The web page's calls give what the ports give, however the workspace is reached."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from everfind_core.answers.json_form import gather_json, status_json
from everfind_core.model import Filters, GatherRequest, SearchRequest
from tests.contract.conftest import Connected
from tests.support.agents import Served, write_config
from tests.support.web import BEARER, ask, page_of


def answer(workspace: Connected, base: Path, name: str, given: dict[str, Any]) -> Any:
    folders = {"code": workspace.base / "code", "docs": workspace.base / "docs"}
    config = write_config(base / "config.toml", folders=folders, index_dir=str(base / "index"))
    app = page_of(Served(config, lambda _settings: nullcontext(workspace)))
    response = ask(app, "POST", f"/api/{name}", headers=BEARER, content=json.dumps(given).encode())
    assert response.status_code == 200, response.text
    return response.json()


def test_gather_is_what_the_port_gives(workspace: Connected, tmp_path: Path) -> None:
    given = {
        "query": "token",
        "context_lines": 2,
        "limit": 3,
        "folders": ["docs"],
        "min_score": -1,
        "max_tokens": 0,
        "further": 0,
    }
    request = SearchRequest("token", limit=3, filters=Filters(folders=("docs",)), min_score=-1.0)
    expected = gather_json(workspace.searcher.gather(GatherRequest(request, 2)))
    found = answer(workspace, tmp_path, "gather", given)
    assert found["result"] == expected
    assert expected["passages"]
    assert ["".join(pieces) for pieces in found["pieces"]] == [passage["text"] for passage in expected["passages"]]


def test_a_hits_file_can_be_read_around_it(workspace: Connected, tmp_path: Path) -> None:
    request = SearchRequest("token", limit=1, min_score=-1)
    (hit,) = workspace.searcher.search(request).hits
    given = {"path": f"{hit.folder}/{hit.path}", "start_line": hit.start_line, "end_line": hit.end_line}
    assert answer(workspace, tmp_path, "cat_file", given)["result"]["text"].strip() == hit.text.strip()


def test_status_is_what_the_port_gives(workspace: Connected, tmp_path: Path) -> None:
    assert (
        answer(workspace, tmp_path, "status", {})["result"]["folders"]
        == status_json(workspace.indexer.status())["folders"]
    )
