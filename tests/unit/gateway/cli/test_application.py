"""Only the command that was asked for is made; whatever a line names is found without making any."""

from __future__ import annotations

import gc

import pytest
from typer.main import get_command

from everfind_gateway.cli import main
from everfind_gateway.cli.app import BRIEF, COMMANDS, GROUPS, WITH_VALUE, application, command_of


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("search x", "search"),
        ("--no-server search index", "search"),
        ("--config index search x", "search"),
        ("--config=index search x", "search"),
        ("--workspace serve mcp install", "mcp"),
        ("--server far:1 token create me", "token"),
        ("--help", ""),
        ("serch x", ""),
        ("--config", ""),
        ("", ""),
    ],
)
def test_the_command_of_a_line(line: str, command: str) -> None:
    assert command_of(line.split()) == command


def test_the_options_with_a_value_are_those_of_the_application() -> None:
    options = get_command(application("version")).params
    assert {name for one in options if not getattr(one, "is_flag", False) for name in one.opts} == set(WITH_VALUE)


@pytest.mark.parametrize("name", [*COMMANDS, *GROUPS])
def test_each_can_be_made_alone(name: str) -> None:
    assert list(getattr(get_command(application(name)), "commands", {})) == [name]


@pytest.mark.parametrize(("line", "looked_for"), [("version", False), ("config", False), ("--help", True)])
def test_brief_commands_end_without_looking_for_garbage(line: str, looked_for: bool) -> None:
    gc.disable()
    try:
        main([line])
        assert gc.isenabled() is looked_for
    finally:
        gc.enable()


def test_brief_commands_are_commands() -> None:
    assert BRIEF.issubset(COMMANDS)
