"""The configuration of semantic-code-mcp: variables, in an ``.env`` file or in an MCP host's registration."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from everfind_core.errors import ConfigError
from everfind_gateway.migration.plan import Plan, read_object, read_text

NAME = "semantic-code-mcp"
_PROGRAMS = ("semcode-mcp", "semantic_code_mcp", "semantic-code-mcp")
_OURS = re.compile(r"SCM_[A-Z_]+|VOYAGE_API_KEY|COHERE_API_KEY|HTTPS_PROXY")
_LINE = re.compile(r"""\s*(?:export\s+)?([A-Z][A-Z0-9_]*)\s*=\s*("[^"]*"|'[^']*'|[^#]*)""")

_NUMBERS = {
    "SCM_TOP_N": "limit",
    "SCM_EMBED_CONCURRENCY": "concurrency",
    "SCM_RERANK_MIN_INTERVAL": "reranker_interval",
}
_NO_COUNTERPART = {
    "SCM_EMBED_DTYPE": "vectors are stored as 8-bit numbers with a factor",
    "SCM_EMBED_MAX_RETRIES": "a provider is asked again as its answer says",
    "SCM_EMBED_MIN_INTERVAL": "a provider is asked as fast as it allows",
    "SCM_EMBED_CHAR_BUDGET": "batches follow the texts' lengths",
    "SCM_DB_DIR": "everfind makes an index of its own",
    "SCM_TOP_K": "the arms are searched as deep as it takes",
    "SCM_MAX_WORKSPACES": "one index holds all folders",
    "SCM_QUERY_EXPANSION": "set `expansion_endpoint` and `expansion_model`, if you want it",
    "HTTPS_PROXY": "the variable counts here, too: keep it in the environment",
    "VOYAGE_API_KEY": "a key is not copied: keep it in EVERFIND_MODEL_KEY and EVERFIND_RERANKER_KEY, or in a key file",
    "COHERE_API_KEY": "a key is not copied: keep it in EVERFIND_RERANKER_KEY, or in `reranker_key_file`",
}
_RERANKERS = {"voyage": "rerank-2.5", "cohere": "rerank-v3.5"}
_LOCAL_MODEL = "Qwen/Qwen3-Embedding-0.6B"


def places(environment: Mapping[str, str], home: Path, cwd: Path) -> list[Path]:
    """Where its variables usually are."""
    del environment
    return [
        cwd / ".env",
        cwd / ".mcp.json",
        cwd / ".cursor" / "mcp.json",
        home / ".claude.json",
        home / ".cursor" / "mcp.json",
    ]


def read(path: Path) -> Plan:
    """What of ``path`` is taken over.

    Raises:
        ConfigError: it cannot be read, or holds none of its variables.
    """
    given = _variables(path)
    if not given:
        raise ConfigError(
            f"{path} holds no variable of {NAME}", hint="Name its .env, or the MCP host's file that registers it."
        )
    plan = Plan(path)
    plan.leave("folders", "it was told of them in each call: `everfind add DIR` for each")
    _take_model(plan, given)
    _take_reranker(plan, given)
    for name, value in given.items():
        if name in _NUMBERS:
            plan.settings[_NUMBERS[name]] = _number(value)
        elif name == "SCM_WATCH":
            plan.settings["watch"] = value not in ("0", "false", "off")
        elif name in _NO_COUNTERPART:
            plan.leave(name, _NO_COUNTERPART[name])
        elif name not in (
            "SCM_EMBED_MODEL",
            "SCM_EMBED_BACKEND",
            "SCM_LOCAL_EMBED_MODEL",
            "SCM_RERANK_BACKEND",
            "SCM_RERANK_MODEL",
        ):
            plan.leave(name, "everfind knows no such variable")
    return plan


def _variables(path: Path) -> dict[str, str]:
    found = _registered(read_object(path)) if path.suffix == ".json" else _lines(read_text(path))
    return {name: value for name, value in found.items() if _OURS.fullmatch(name) and value}


def _lines(text: str) -> dict[str, str]:
    matches = [match for match in map(_LINE.match, text.splitlines()) if match]
    return {match[1]: match[2].strip().strip("\"'") for match in matches}


def _registered(document: Mapping[str, Any]) -> dict[str, str]:
    """The variables of the registrations that start it, wherever they stand in a host's file."""
    found: dict[str, str] = {}
    servers = document.get("mcpServers")
    for entry in servers.values() if isinstance(servers, dict) else ():
        if not isinstance(entry, dict):
            continue
        started, variables = f"{entry.get('command')} {entry.get('args')}", entry.get("env")
        if isinstance(variables, dict) and any(program in started for program in _PROGRAMS):
            found |= {name: str(value) for name, value in variables.items()}
    return found


def _take_model(plan: Plan, given: Mapping[str, str]) -> None:
    if given.get("SCM_EMBED_BACKEND") == "local":
        plan.leave(
            "SCM_LOCAL_EMBED_MODEL",
            "the default model is local, too; `model` takes an ONNX export of "
            f"{given.get('SCM_LOCAL_EMBED_MODEL', _LOCAL_MODEL)}",
        )
    elif model := given.get("SCM_EMBED_MODEL"):
        plan.settings["model"] = f"voyage:{model}"
    else:
        plan.leave(
            "SCM_EMBED_MODEL",
            'the default model runs here and sends nothing; `model = "voyage:voyage-code-3"` is what it was',
        )


def _take_reranker(plan: Plan, given: Mapping[str, str]) -> None:
    backend, model = given.get("SCM_RERANK_BACKEND", "auto"), given.get("SCM_RERANK_MODEL", "")
    if backend in _RERANKERS:
        plan.settings["reranker"] = f"{backend}:{model or _RERANKERS[backend]}"
        plan.settings["rerank"] = True
    elif backend == "auto":
        plan.leave(
            "SCM_RERANK_BACKEND", 'nothing is reranked by default; `reranker = "voyage:rerank-2.5"` is what it was'
        )
    else:
        plan.leave("SCM_RERANK_BACKEND", "nothing is reranked by default")


def _number(value: str) -> Any:
    """The number that ``value`` is; itself if it is none, for the settings to refuse."""
    try:
        return int(value) if value.lstrip("-").isdigit() else float(value)
    except ValueError:
        return value
