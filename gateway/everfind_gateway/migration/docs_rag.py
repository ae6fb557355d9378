"""The configuration of docs-rag-mcp: a JSON file for each vault, ``.rag/config.json`` in a project."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from everfind_gateway.migration.plan import Plan, WantedFolder, read_object, texts

NAME = "docs-rag-mcp"
_RENAMED = {"serverName": "mcp_name", "toolDescription": "mcp_description"}
_OF_THE_MODEL = {"minScore": "min_score", "relativeCutoff": "relative_cutoff"}
_ENDPOINTS = ("ollamaUrl", "ollamaHost")
_MARKDOWN = ("*.md",)
"""What it indexes where nothing is said."""
_OF_THE_FOLDER = frozenset({"vaultPath", "include", "defaultExclude", "pathBoosts"})
_NO_COUNTERPART = {
    "indexPath": "everfind makes an index of its own",
    "lexicalMaxDocFreq": "the lexical arm weighs every word by its rarity",
}


def places(environment: Mapping[str, str], home: Path, cwd: Path) -> list[Path]:
    """Where it looks for its configuration: up from the working directory, or in the project of the agent."""
    del home
    project = environment.get("CLAUDE_PROJECT_DIR", "")
    starts = [*([Path(project)] if project else []), cwd, *cwd.parents]
    return [*(start / ".rag" / "config.json" for start in starts), cwd / "config.json"]


def read(path: Path) -> Plan:
    """What of ``path`` is taken over.

    Raises:
        ConfigError: it cannot be read, or is no such configuration.
    """
    document = read_object(path)
    plan = Plan(path)
    _take_folder(plan, document)
    _take_model(plan, document)
    handled = {*_OF_THE_FOLDER, *_OF_THE_MODEL, *_ENDPOINTS, "embedModel"}
    for key, value in document.items():
        if key in _RENAMED:
            plan.settings[_RENAMED[key]] = value
        elif key not in handled:
            plan.leave(key, _NO_COUNTERPART.get(key, "everfind knows no such key"))
    return plan


def _take_folder(plan: Plan, document: Mapping[str, Any]) -> None:
    """The vault, with what counts in it alone."""
    vault = document.get("vaultPath")
    if not isinstance(vault, str) or texts(vault) is None:
        plan.leave("vaultPath", "it names no directory; add one with `everfind add DIR`")
        return
    excluded = _listed(plan, document, "defaultExclude")
    boosts = document.get("pathBoosts", {})
    if not isinstance(boosts, dict) or not all(isinstance(one, int | float) for one in boosts.values()):
        plan.leave("pathBoosts", "it is no table of paths and factors")
        boosts = {}
    root = os.path.normpath(plan.source.parent / os.path.expanduser(vault))  # noqa: PTH111 - Path's fails without a home
    plan.folders.append(
        WantedFolder(root, tuple(_listed(plan, document, "include") or _MARKDOWN), tuple(excluded), boosts)
    )


def _listed(plan: Plan, document: Mapping[str, Any], key: str) -> list[str]:
    found = texts(document.get(key, []))
    if found is None:
        plan.leave(key, "it is no list of texts")
    return found or []


def _take_model(plan: Plan, document: Mapping[str, Any]) -> None:
    """The model where one is named; floors are measured for a model, so they come with it or not at all."""
    model = document.get("embedModel")
    if isinstance(model, str):
        plan.settings["model"] = f"ollama:{model}"
    elif model is not None:
        plan.leave("embedModel", "it is no text")
        model = None
    for key in _ENDPOINTS:
        if key in document and model is not None:
            plan.settings["model_endpoint"] = document[key]
        elif key in document:
            plan.leave(key, "the default model runs in everfind itself")
    for key, ours in _OF_THE_MODEL.items():
        if key in document and model is not None:
            plan.settings[ours] = document[key]
        elif key in document:
            plan.leave(key, "it was measured for another model; `everfind calibrate` measures this one")
