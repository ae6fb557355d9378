"""What names an import statement brings into a file, and where from; read from its text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

_NAME = r"[\w$]+"
_COMMENT = re.compile(r"#.*|(?<!:)//.*|/\*.*?\*/")
_PY_FROM = re.compile(r"from ([^ ]+(?: [.]*[^ ]+)?) import\b ?(.*)")
_JS_FROM = re.compile(r"\bfrom\s*[\"'`]([^\"'`]+)|\brequire\s*\(\s*[\"'`]([^\"'`]+)")
_JS_NAMED = re.compile(r"\{([^{}]*)\}")
_JS_ALIAS = re.compile(rf"({_NAME})(?:\s*(?:\bas\b|:)\s*({_NAME}))?")
_JS_WHOLE = re.compile(rf"^(?:import\s+)?(?:type\s+)?({_NAME})\s*(?:,|=|\bfrom\b)")
_JS_SPACE = re.compile(rf"\*\s*as\s+({_NAME})")
_JS_FILE = re.compile(r"(?:/index)?(?:\.[cm]?[jt]sx?)?$")
_GO = re.compile(r"(?:([\w.]+)\s+)?[\"`]([^\"`]+)")
_LUA_REQUIRED = re.compile(rf"local ({_NAME})\s*=\s*require\s*\(?\s*[\"']([^\"']+)")
_GO_VERSION = re.compile(r"/v\d+$|\.v\d+$")
_DEPTH = 12


class Imported(NamedTuple):
    """A name of the file, the module it comes from, and its name there (empty: it is the module itself)."""

    bound: str
    module: str
    original: str

    @property
    def origin(self) -> str:
        """The module, and the name in it."""
        return f"{self.module}.{self.original}" if self.original else self.module


def imported(language: str, statement: str) -> Iterator[Imported]:
    """The names that ``statement`` brings in, in the order they stand there.

    Of half-typed code, what has space within is left out: it is no module.
    """
    text = statement if language == "go" else _COMMENT.sub("", statement)
    return (one for one in _READERS[language](" ".join(text.split())) if " " not in one.module)


def _python(statement: str) -> Iterator[Imported]:
    whole = _PY_FROM.match(statement)
    names = whole.group(2).strip("() ") if whole else statement.removeprefix("import")
    for one in names.split(","):
        name, _, alias = map(str.strip, one.partition(" as "))
        if whole and name and name != "*":
            yield Imported(alias or name, whole.group(1).replace(" ", ""), name)
        elif not whole and name:
            yield Imported(alias, name, "") if alias else Imported(name.partition(".")[0], name.partition(".")[0], "")


def _ecmascript(statement: str) -> Iterator[Imported]:
    source = _JS_FROM.search(statement)
    if source is None:
        return
    module = _JS_FILE.sub("", source.group(1) or source.group(2))
    for braces in _JS_NAMED.findall(statement[: source.start()]):
        for name, alias in _JS_ALIAS.findall(braces.replace("type ", "")):
            yield Imported(alias or name, module, name)
    for pattern in (_JS_WHOLE, _JS_SPACE):
        if whole := pattern.search(statement):
            yield Imported(whole.group(1), module, "")


def _go(statement: str) -> Iterator[Imported]:
    found = _GO.match(statement)
    if found is None or found.group(1) in ("_", "."):
        return
    last = _GO_VERSION.sub("", found.group(2)).rpartition("/")[2].removeprefix("go-").removesuffix("-go")
    yield Imported(found.group(1) or last, found.group(2), "")


def _dotted(statement: str) -> Iterator[Imported]:
    """Java's and C#'s: ``import static a.b.C;``, ``using X = a.b.C;``."""
    text = statement.rstrip("; ").partition(" ")[2].removeprefix("static ").strip()
    alias, equals, path = map(str.strip, text.rpartition("="))
    module, dot, name = path.rpartition(".")
    if dot and name != "*" and (equals or statement.startswith("import")):
        yield Imported(alias or name, module, name)


def _kotlin(statement: str) -> Iterator[Imported]:
    path, _, alias = map(str.strip, statement.rstrip("; ").removeprefix("import").partition(" as "))
    module, dot, name = path.rpartition(".")
    if dot and name != "*":
        yield Imported(alias or name, module, name)


def _scala(statement: str) -> Iterator[Imported]:
    text = statement.rstrip("; ").removeprefix("import").replace(" => ", " as ").strip()
    for one in _tree(text, ".", "", _DEPTH):
        if one.original not in ("_", "given") and one.bound != "_":
            yield one


def _lua(statement: str) -> Iterator[Imported]:
    if found := _LUA_REQUIRED.match(statement):
        yield Imported(found.group(1), found.group(2), "")


def _backslashed(statement: str) -> Iterator[Imported]:
    text = statement.rstrip("; ").removeprefix("use").strip()
    text = text.removeprefix("function ").removeprefix("const ")
    yield from _tree(text.replace("\\", "."), ".", "", _DEPTH)


def _rust(statement: str) -> Iterator[Imported]:
    text = statement.rstrip("; ").rpartition("use ")[2]
    yield from _tree(text, "::", "", _DEPTH)


def _cpp(statement: str) -> Iterator[Imported]:
    module, colons, name = statement.rstrip("; ").removeprefix("using").strip().rpartition("::")
    if colons and not module.startswith("namespace"):
        yield Imported(name, module, name)


def _tree(text: str, separator: str, prefix: str, depth: int) -> Iterator[Imported]:
    """``a::{b, c::{d as e}}``."""
    for one in _split(text):
        head, brace, inner = one.partition("{")
        if brace and depth:
            yield from _tree(inner.rpartition("}")[0], separator, prefix + head.strip(), depth - 1)
            continue
        path, _, alias = map(str.strip, one.partition(" as "))
        module, _, name = f"{prefix}{path}".rpartition(separator)
        if name == "self":
            module, _, name = module.rpartition(separator)
        if name and name != "*" and alias != "_":
            yield Imported(alias or name, module, name)


def _split(text: str) -> Iterator[str]:
    """The parts between commas that stand in no braces."""
    depth = start = 0
    for place, character in enumerate(text):
        depth += (character == "{") - (character == "}")
        if character == "," and not depth:
            yield text[start:place].strip()
            start = place + 1
    yield text[start:].strip()


_READERS: dict[str, Callable[[str], Iterator[Imported]]] = {
    "python": _python,
    **dict.fromkeys(("javascript", "typescript", "tsx"), _ecmascript),
    "go": _go,
    **dict.fromkeys(("java", "csharp"), _dotted),
    "rust": _rust,
    "php": _backslashed,
    "cpp": _cpp,
    "kotlin": _kotlin,
    "scala": _scala,
    "lua": _lua,
}
