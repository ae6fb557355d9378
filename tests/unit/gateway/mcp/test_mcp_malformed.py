"""Lines of the client that are no message."""

from __future__ import annotations

import json
import os
from typing import cast

import anyio
import pytest

from everfind_gateway.mcp.malformed import refusal_of_line
from everfind_gateway.mcp.server import Activity
from everfind_gateway.mcp.stdio import _Answers, _Lines

PING = '{"jsonrpc": "2.0", "id": 1, "method": "ping"}'


@pytest.mark.parametrize(
    ("line", "code", "request_id"),
    [
        ("hello\n", -32700, None),
        ("[" * 100_000, -32700, None),
        (PING[:-1], -32700, None),
        (f"[{PING}]", -32600, None),
        ("7", -32600, None),
        ('{"jsonrpc": "2.0", "id": 7, "method": "x", "params": {"query": "\\ud800 a"}}', -32600, 7),
        ('{"jsonrpc": "2.0", "id": "\\ud800", "method": "x"}', -32600, "\ud800"),
        ('{"jsonrpc": "2.0", "id": 7, "method": 3}', -32600, 7),
        ('{"jsonrpc": "2.0", "id": true, "method": 3}', -32600, None),
    ],
)
def test_a_line_that_is_no_message_is_answered(line: str, code: int, request_id: object) -> None:
    answer = json.loads(refusal_of_line(line) or "")
    assert (answer["jsonrpc"], answer["id"], answer["error"]["code"]) == ("2.0", request_id, code)


@pytest.mark.parametrize("line", ["\n", " ", '{"jsonrpc": "2.0", "id": 1, "result": 3}'])
def test_what_asks_for_nothing_is_not_answered(line: str) -> None:
    assert refusal_of_line(line) == ""


def test_a_message_is_passed_on() -> None:
    assert refusal_of_line(PING) is None


class _Idle:
    answerable = 0


def test_the_lines_that_are_messages_go_on_and_the_others_are_answered() -> None:
    incoming, client = os.pipe()
    os.write(client, f"nonsense\n\n{PING}\n".encode())
    os.close(client)
    reading, outgoing = os.pipe()

    async def served() -> list[str]:
        with os.fdopen(outgoing, "w", encoding="utf-8") as output:
            lines = _Lines(incoming, cast("Activity", _Idle()), _Answers(output))
            return [line async for line in lines]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("everfind_gateway.mcp.stdio.end_within", lambda _seconds, _code: None)
        passed = anyio.run(served)
    os.close(incoming)
    with os.fdopen(reading, encoding="utf-8") as answers:
        answered = [json.loads(line) for line in answers]
    assert passed == [PING + "\n"]
    assert [answer["error"]["code"] for answer in answered] == [-32700]
