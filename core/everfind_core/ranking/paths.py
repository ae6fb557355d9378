"""What a file's path tells: the terms of its stem and directories, and the part that it plays in a repository."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from everfind_core.text.lexical import document_terms


class Role(StrEnum):
    """A part that a file can play besides being what a question is about."""

    TEST = "test"
    EXAMPLE = "example"
    LEGACY = "legacy"
    GENERATED = "generated"
    RECORD = "record"
    DOCUMENTATION = "documentation"
    CONFIGURATION = "configuration"
    INDEX = "index"
    INTERNAL = "internal"


_DIRECTORIES = {
    Role.TEST: "tests?|testing|specs?|__tests__|e2e|testdata|fixtures?|mocks?|__mocks__|__snapshots__",
    Role.EXAMPLE: "examples?|samples?|demos?|benchmarks?|benches|tutorials?|playground",
    Role.LEGACY: "_?compat|_?legacy|_?deprecated|obsolete|old|v[01]",
    Role.GENERATED: "_?vendor(?:ed)?|third_?party|node_modules|bower_components|dist|generated|__generated__",
    Role.DOCUMENTATION: "docs?|documentation|changelogs?",
    Role.INTERNAL: "_?internals?|_?impl|private",
}
_FILES = {
    Role.TEST: r"test_[^/]*|conftest\.py|[^/]+[_.-](?:tests?|spec)\.\w+|[^/]*[a-z\d](?:Test|Tests|Spec|IT)\.\w+",
    Role.EXAMPLE: r"(?:example|demo|sample)s?[_.-][^/]*|[^/]+[_.-](?:example|demo|sample|bench)s?\.\w+",
    Role.LEGACY: r"_?(?:compat|legacy|deprecated)(?:[_.-][^/]*)?|[^/]+[_.-](?:compat|legacy|deprecated)\.\w+",
    Role.GENERATED: r"[^/]+(?:\.min\.(?:js|css|mjs)|_pb2(?:_grpc)?\.pyi?|\.pb\.\w+|\.g(?:enerated)?\.\w+|\.map)",
    Role.RECORD: r"[^/]*\.lock|[^/]*-lock\.(?:json|ya?ml)|go\.sum|(?i:change(?:s|log)|history|licen[cs]e|notice)[^/]*",
    Role.DOCUMENTATION: r"[^/]+\.(?:md|mdx|rst|adoc|txt)",
    Role.CONFIGURATION: r"[^/]+\.(?:json|jsonc|ya?ml|toml|ini|cfg|conf|properties|xml|gradle)|\.[^/]+rc",
    Role.INDEX: r"__init__\.pyi?|index\.\w+|mod\.rs|package-info\.java",
    Role.INTERNAL: r"_[^_/][^/]*",
}


def _role_pattern(role: Role) -> re.Pattern[str]:
    alternatives = []
    if role in _DIRECTORIES:
        alternatives.append(rf"(?:^|/)(?:{_DIRECTORIES[role]})/")
    if role in _FILES:
        alternatives.append(rf"(?:^|/)(?:{_FILES[role]})$")
    return re.compile("|".join(alternatives))


_ROLES = {role: _role_pattern(role) for role in Role}
_PAGE = re.compile(r"\.(?:md|mdx|rst|adoc)$")
_NOT_STEM = re.compile(r"\.(?:test|spec|d|min|stories)$")


@dataclass(frozen=True, slots=True)
class PathFeatures:
    """A path, read once: its file's stem (folded, without separators) and the stem's parts, directories, and roles."""

    stem: str
    parts: tuple[str, ...]
    directories: frozenset[str]
    roles: frozenset[Role]


def roles_of(path: str) -> frozenset[Role]:
    """The parts that the file at ``path`` (below its folder, with ``/``) plays; a page about tests is no test."""
    roles = frozenset(role for role, pattern in _ROLES.items() if pattern.search(path))
    return roles - {Role.TEST} if _PAGE.search(path) else roles


@lru_cache(maxsize=1 << 15)
def read_path(path: str) -> PathFeatures:
    """What ``path`` (below its folder, with ``/``) tells."""
    directory, _, name = path.rpartition("/")
    stem = _NOT_STEM.sub("", name.rpartition(".")[0] or name)
    whole, parts = name_parts(stem)
    return PathFeatures(
        stem=whole,
        parts=parts,
        directories=frozenset(_terms(directory)),
        roles=roles_of(path),
    )


@lru_cache(maxsize=1 << 15)
def name_parts(name: str) -> tuple[str, tuple[str, ...]]:
    """A name folded and without separators, and its stemmed parts: ``getUserNames`` → ``get``, ``user``, ``name``."""
    whole = name.replace("_", "").replace("-", "").casefold()
    terms = tuple(dict.fromkeys(_terms(name)))
    return whole, tuple(term for term in terms if term != whole) or terms


def _terms(text: str) -> list[str]:
    return document_terms(text, path="").split()
