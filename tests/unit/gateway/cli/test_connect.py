"""`connect` asks the server first, and changes only what says how to reach it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from everfind_core.errors import UnavailableError
from everfind_gateway.config.settings import load_settings
from tests.support.gateway import FakeEngines, Outcome

Run = Callable[..., Outcome]
BEFORE = '# mine\nlimit = 7\n\n[[folders]]\nname = "a"\npath = "/a"  # here\n'


def test_connecting_and_disconnecting_keeps_everything_else(
    everfind: Run, engines: FakeEngines, user_config: Path, home: Path
) -> None:
    user_config.write_text(BEFORE)
    (home / "work" / "token").write_text("evf_x")
    ended = everfind("connect", "db.example.org", "--token-file", "token", "--tls")
    assert ended.code == 0
    assert ended.out == (
        "connected to db.example.org, everfind of an unknown version\n"
        "folders     api\n"
        "searchable  10 files, 80 chunks\n"
    )  # fmt: skip
    settings = load_settings()
    assert (settings.server, settings.server_tls) == ("db.example.org", True)
    assert settings.server_token_file == home / "work" / "token"
    assert [folder.name for folder in settings.folders] == ["a"]
    assert everfind("connect", "other:1").code == 0
    assert (load_settings().server, load_settings().server_token_file) == ("other:1", None)
    assert everfind("connect", "--off").out == "no longer connected to other:1\n"
    assert user_config.read_text() == BEFORE


def test_a_server_that_does_not_answer_changes_nothing(everfind: Run, engines: FakeEngines, user_config: Path) -> None:
    user_config.write_text(BEFORE)
    engines.error = UnavailableError("no everfind answers at db:1")
    assert everfind("connect", "db:1").code == 10
    assert user_config.read_text() == BEFORE


@pytest.mark.parametrize("arguments", [(), ("db:1", "--off"), ("--off", "--tls"), ("",)])
def test_one_or_the_other(everfind: Run, engines: FakeEngines, arguments: tuple[str, ...]) -> None:
    assert everfind("connect", *arguments).code == 2


def test_no_server_means_none(everfind: Run, engines: FakeEngines, user_config: Path) -> None:
    user_config.write_text('server = "db:1"\n')
    assert everfind("--no-server", "remove", "x").code == 4
    assert everfind("token", "list").code == 2
    assert everfind("--no-server", "--server", "db:1", "list").code == 2
