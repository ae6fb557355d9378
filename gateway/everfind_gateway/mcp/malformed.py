"""Lines that are no message. The SDK drops them without a word, and whoever sent a request so would wait for ever."""

from __future__ import annotations

import json

import mcp_types as types
from pydantic import ValidationError

from everfind_core.files.parsed_json import parse_json


def refusal_of_line(line: str) -> str | None:
    """The error that answers ``line``, as JSON-RPC 2.0 (5.1) has it; None where it is a message.

    Empty for what wants no answer: an empty line, and a wrong answer to a request of ours.
    """
    try:
        types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return _refusal(line)
    return None


def _refusal(line: str) -> str:
    if not line.strip():
        return ""
    try:
        given = parse_json(line)  # takes lone surrogates, which the SDK does not, and so gives the request's id
    except ValueError:
        return _error(types.PARSE_ERROR, "the line is not JSON", None)
    if not isinstance(given, dict):
        return _error(types.INVALID_REQUEST, "the line is no JSON-RPC message: it is not one object", None)
    if "method" not in given and ("result" in given or "error" in given):
        return ""
    said = "it is no JSON-RPC request, or holds what is no text (a lone surrogate)"
    return _error(types.INVALID_REQUEST, said, given.get("id"))


def _error(code: int, message: str, request: object) -> str:
    known = isinstance(request, str | int) and not isinstance(request, bool)
    answer = {"jsonrpc": "2.0", "id": request if known else None, "error": {"code": code, "message": message}}
    return json.dumps(answer)
