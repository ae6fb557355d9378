"""Every package that a service's code imports, at once or later, is one that its image installs."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support.dependency_groups import packages

STARTS = {
    "embedder": "everfind_embedder.__main__",
    "indexer": "everfind_indexer.__main__",
    "searcher": "everfind_searcher.__main__",
    "gateway": "everfind_gateway.proxy",
}
DISTRIBUTIONS = packages_distributions()
SHARED = {
    "google.protobuf": "protobuf",
    "google.rpc": "googleapis-common-protos",
    "opentelemetry.exporter.otlp.proto.grpc": "opentelemetry-exporter-otlp-proto-grpc",
    "opentelemetry.sdk": "opentelemetry-sdk",
    "opentelemetry": "opentelemetry-api",
}
"""Packages that share the first part of their names with others."""


def imported(node: ast.AST) -> Iterator[str]:
    """Names that code imports when it runs, modules and what may be one."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom) and child.module and not child.level:
            yield from (f"{child.module}.{alias.name}" for alias in child.names)
        else:
            yield from imported(child)


def source(name: str) -> Path | None:
    """The file of one of our own modules; None if the name is none."""
    try:
        spec = find_spec(name)
    except ModuleNotFoundError:
        return None
    return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None


def reached(start: str) -> set[str]:
    """Names of other people's that the code reaches from one of our modules."""
    foreign: set[str] = set()
    seen: set[str] = set()
    todo = [start]
    while todo:
        name = todo.pop()
        if not name.startswith("everfind"):
            foreign.add(name)
        elif name not in seen:
            seen.add(name)
            todo += [name.rpartition(".")[0]] if "." in name else []
            if file := source(name):
                todo += imported(ast.parse(file.read_text(encoding="utf-8")))
    return foreign


def distribution(name: str) -> str:
    """The distribution that brings a module, as requirements name it; empty for the standard library."""
    top = name.partition(".")[0]
    if top in sys.stdlib_module_names:
        return ""
    if top in ("google", "opentelemetry"):
        return next(brings for prefix, brings in SHARED.items() if name.startswith(prefix))
    return DISTRIBUTIONS[top][0].lower().replace("_", "-")


@pytest.mark.parametrize("service", STARTS)
def test_what_the_code_imports_is_installed(service: str) -> None:
    needed = {distribution(name) for name in reached(STARTS[service])} - {""}
    assert needed
    assert needed <= {name.lower().replace("_", "-") for name in packages(service)}
