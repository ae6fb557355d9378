"""A server's files where they lie on this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from everfind_core.model import Folder, GatherRequest, GrepRequest, ReadFileRequest, SearchRequest
from everfind_gateway.config.settings import load_settings
from everfind_gateway.target_requests import file_reference
from everfind_gateway.wiring.checkouts import CheckedOutIndexer, CheckedOutSearcher, Checkouts
from tests.support.gateway import FakeEngines, make_hit

HERE = Checkouts({"api": "/home/me/src/api"})


def test_hits_and_files_lie_here() -> None:
    engines = FakeEngines(hits=(make_hit("src/a.py"), make_hit("b.py", folder="web", absolute_path="/srv/web/b.py")))
    searcher, indexer = CheckedOutSearcher(engines, HERE), CheckedOutIndexer(engines, HERE)
    places = ["/home/me/src/api/src/a.py", "/srv/web/b.py"]
    assert [hit.absolute_path for hit in searcher.search(SearchRequest("x")).hits] == places
    gathered = searcher.gather(GatherRequest(SearchRequest("x")))
    assert [passage.hit.absolute_path for passage in gathered.passages] == places
    assert indexer.read_file(ReadFileRequest("api", "a.py")).absolute_path == "/home/me/src/api/a.py"
    assert indexer.grep(GrepRequest("x")).matches[0].absolute_path == "/home/me/src/api/a.py"


def test_a_path_of_this_machine_means_the_servers_file() -> None:
    folders = HERE.folders([Folder("api", "/srv/api"), Folder("web", "/srv/web")])
    assert [folder.root for folder in folders] == ["/home/me/src/api", "/srv/web"]
    reference = file_reference(folders, "/home/me/src/api/src/a.py")
    assert (reference.folder, reference.path) == ("api", "src/a.py")


def test_the_setting_is_a_table_of_paths(user_config: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user_config.write_text('[checkouts]\napi = "~/src/api"\nweb = "../web"\n')
    assert load_settings().checkouts == {"api": home / "src" / "api", "web": home / "config" / "web"}
    monkeypatch.setenv("EVERFIND_CHECKOUTS", "api=~/a,web=/w")
    assert load_settings().checkouts == {"api": home / "a", "web": Path("/w")}
