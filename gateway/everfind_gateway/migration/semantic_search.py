"""The configuration of semantic-search-mcp: ``config.json`` with the folders, and an ``.indexignore`` beside it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from everfind_gateway.migration.plan import Plan, WantedFolder, read_object, read_text, texts

NAME = "semantic-search-mcp"
_SAME_MODEL = ("Xenova/all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2")
_BUILT_IN = frozenset({"node_modules/", ".git/", "dist/", "build/", "coverage/", "vendor/", ".next/", "__pycache__/"})
_RENAMED = {
    "defaultTopK": "limit",
    "rrfK": "rrf_k",
    "maxFileSizeBytes": "max_file_bytes",
    "chunk.targetTokens": "chunk_tokens",
    "chunk.overlapTokens": "chunk_overlap",
}
_NO_COUNTERPART = {
    "indexDir": "everfind makes an index of its own",
    "modelCacheDir": "the default model comes with the install",
    "storeBackend": "there is one store",
    "modelDtype": "the default model is int8 already",
    "vectorDim": "the model says it",
    "embedBatchSize": "batches follow the texts' lengths",
    "chunk.hardTokenLimit": "the model's window is the limit",
    "searchPoolMultiplier": "the arms are searched as deep as it takes",
    "searchPoolMin": "the arms are searched as deep as it takes",
    "lexicalBoostWeight": "the lexical arm has its own weight; `--explain` shows it",
    "binaryExtensions": "binary files are told by extension and content; name others in `.indexignore`",
    "ignoreFile": "the file is called `.indexignore`",
    "concurrency": "it follows the CPU quota",
}


def places(environment: Mapping[str, str], home: Path, cwd: Path) -> list[Path]:
    """Where it keeps its configuration, in the order in which it looks."""
    del cwd
    named = environment.get("SS_CONFIG_PATH", "")
    config = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    return [*([Path(named)] if named else []), config / "semantic-search" / "config.json"]


def read(path: Path) -> Plan:
    """What of ``path`` is taken over.

    Raises:
        ConfigError: it cannot be read, or is no such configuration.
    """
    plan = Plan(path)
    for key, value in _flat(read_object(path)).items():
        _take(plan, key, value)
    beside = path.with_name(".indexignore")
    if beside.is_file():
        plan.ignore += read_text(beside).splitlines()
    return plan


def _flat(document: Mapping[str, Any]) -> dict[str, Any]:
    chunk = document.get("chunk")
    inner = {f"chunk.{key}": value for key, value in chunk.items()} if isinstance(chunk, dict) else {}
    return {key: value for key, value in document.items() if key != "chunk" or not inner} | inner


def _take(plan: Plan, key: str, value: Any) -> None:
    if special := _SPECIAL.get(key):
        special(plan, key, value)
    elif key in _RENAMED:
        plan.settings[_RENAMED[key]] = value
    else:
        plan.leave(key, _NO_COUNTERPART.get(key, "everfind knows no such key"))


def _folders(plan: Plan, key: str, value: Any) -> None:
    roots = texts(value)
    if roots is None:
        plan.leave(key, "it is no list of paths")
    else:
        plan.folders += [WantedFolder(os.path.normpath(plan.source.parent / root)) for root in roots]


def _model(plan: Plan, key: str, value: Any) -> None:
    if value in _SAME_MODEL:
        plan.leave(key, "it is the default model here, too")
    else:
        plan.settings["model"] = value


def _hybrid(plan: Plan, key: str, value: Any) -> None:
    if value is False:
        plan.settings["mode"] = "semantic"
    else:
        plan.leave(key, "searches are hybrid by default")


def _ignored(plan: Plan, key: str, value: Any) -> None:
    patterns = texts(value)
    if patterns is None:
        plan.leave(key, "it is no list of patterns")
        return
    plan.ignore += [pattern for pattern in patterns if pattern not in _BUILT_IN]


_SPECIAL: dict[str, Callable[[Plan, str, Any], None]] = {
    "defaultRoots": _folders,
    "defaultRoot": _folders,
    "modelName": _model,
    "hybridSearch": _hybrid,
    "defaultIgnorePatterns": _ignored,
}
