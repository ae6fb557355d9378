"""Servers that live long answer by the options before their command, too."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from everfind_gateway.cli import mcp
from everfind_gateway.cli.runtime import Runtime
from everfind_gateway.config.settings import Settings, load_settings
from tests.support.gateway import FakeEngines


@pytest.mark.parametrize(
    ("options", "server"),
    [({}, "team:50051"), ({"no_server": True}, ""), ({"server": "other:1"}, "other:1")],
)
def test_a_servers_workspace_is_that_of_the_options(
    user_config: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, object], server: str
) -> None:
    user_config.write_text('server = "team:50051"\n', encoding="utf-8")

    def open_fake(settings: Settings, _shared: object) -> AbstractContextManager[FakeEngines]:
        return nullcontext(FakeEngines())

    monkeypatch.setattr(mcp, "open_followed_workspace", open_fake)
    corpus = mcp.corpus_of(Runtime(**options), {})  # type: ignore[arg-type]  # its own fields
    with corpus.call() as opened:
        assert opened.settings.server == server
    corpus.close()


def test_a_directory_that_names_a_servers_workspace_is_taken_from_where_the_user_is(home: Path) -> None:
    def asked(given: str) -> str:
        return load_settings(flags={"server": "s", "server_workspace": given}, cwd=home / "desk").server_workspace

    assert asked("./p1") == f"{home}/desk/p1"
    assert asked("..") == f"{home}"
    assert asked("/srv/p1") == "/srv/p1"
    assert asked("notes") == "notes"
