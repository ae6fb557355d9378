"""Names in the text of expressions: what a call stands on, and what a declared type is called."""

from __future__ import annotations

import builtins
import re
from functools import lru_cache
from typing import NamedTuple

from everfind_core.callgraph.symbols import is_name
from everfind_core.model.symbols import ANYTHING

THIS = frozenset({"self", "this", "cls", "Self", "static", "super", "parent", "base"})
"""How languages call the object, class or parent that a method belongs to."""

_LINKS = re.compile(r"\s*(?:->|::|[?!]?\.|\\)\s*")
_CHAIN = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_CONSTRUCTED = re.compile(r"(?:new\s+)?((?:\w+\.)*[A-Z]\w*)(?:<[^()]*>)?\(.*\)", re.DOTALL)
_NAMES = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|\\)[A-Za-z_]\w*)*")
_LOWER_TYPES = frozenset({"go", "c", "cpp"})
_NO_TYPES = frozenset(
    {
        *(
            "auto",
            "class",
            "const",
            "dyn",
            "enum",
            "final",
            "impl",
            "mut",
            "none",
            "null",
            "readonly",
            "signed",
            "static",
        ),
        *("struct", "typename", "undefined", "union", "unsigned", "var", "volatile"),
    }
)
_WRAPPERS = frozenset(
    {
        *(
            "Annotated",
            "Arc",
            "Box",
            "ClassVar",
            "Final",
            "Mutex",
            "Option",
            "Optional",
            "Promise",
            "Rc",
            "Ref",
            "RefCell",
        ),
        *("Type", "shared_ptr", "type", "unique_ptr", "weak_ptr"),
    }
)
_CACHE = 1 << 13

_JVM_BUILT_IN = frozenset(
    {"Any", "Boolean", "Byte", "Char", "Double", "Float", "Int", "Long", "Short", "String", "Unit"}
)

BUILT_IN: dict[str, frozenset[str]] = {
    "python": frozenset(dir(builtins)) | {"Any", "Optional", "Union"},
    "go": frozenset(
        {
            *("any", "bool", "byte", "comparable", "complex64", "complex128", "error", "float32", "float64", "rune"),
            *(
                "int",
                "int8",
                "int16",
                "int32",
                "int64",
                "string",
                "uint",
                "uint8",
                "uint16",
                "uint32",
                "uint64",
                "uintptr",
            ),
        }
    ),
    "java": frozenset({"Boolean", "Integer", "Long", "Object", "Override", "String", "var"}),
    "kotlin": _JVM_BUILT_IN | {"IntArray", "Nothing"},
    "scala": _JVM_BUILT_IN | {"AnyRef", "Nothing", "Null"},
    "swift": frozenset({"Any", "Bool", "Character", "Double", "Float", "Int", "Self", "String", "UInt", "Void"}),
    "rust": frozenset({"Box", "Err", "Ok", "Option", "Result", "Self", "Some", "String", "Vec"}),
    **dict.fromkeys(
        ("c", "cpp"), frozenset({"size_t", "ssize_t", *(f"{u}int{n}_t" for u in ("", "u") for n in (8, 16, 32, 64))})
    ),
}
"""Names that a language itself has; to refer to one says nothing. Calls are kept: anybody may define them anew."""


class Receiver(NamedTuple):
    """What a call stands on: the names of its chain, or the type that it constructs on the spot."""

    names: tuple[str, ...] = ()
    constructed: str = ""

    @property
    def last(self) -> str:
        """The name before the call's."""
        return self.names[-1] if self.names else ANYTHING


@lru_cache(maxsize=_CACHE)
def receiver_of(expression: bytes) -> Receiver:
    """``a->b::c`` is the chain a, b, c; ``new Foo(x)`` constructs ``Foo``; other expressions are neither."""
    text = _LINKS.sub(".", expression.decode("utf-8", "replace").strip("&*() \n\t"))
    text = text.replace("$", "").replace("@", "").removesuffix("()" if text.endswith("super()") else "\0")
    if _CHAIN.fullmatch(text):
        names = tuple(text.split("."))
        return Receiver(names) if all(map(is_name, names)) else Receiver()
    made = _CONSTRUCTED.fullmatch(f"{text})" if text.count("(") > text.count(")") else text)
    return Receiver(constructed=made.group(1)) if made else Receiver()


@lru_cache(maxsize=_CACHE)
def type_name(declared: bytes, language: str) -> str:
    """The type that a value of a declared type is used as, dotted: ``Session`` of ``Optional["Session"]``.

    Empty if there is none, or only one that the language itself has.
    """
    for found in _NAMES.findall(declared.decode("utf-8", "replace")):
        dotted = _LINKS.sub(".", found)
        last = dotted.rpartition(".")[2]
        if last.lower() in _NO_TYPES or last in _WRAPPERS:
            continue
        if len(last) == 1 or last in BUILT_IN.get(language, ()):
            return ""
        if is_name(dotted) and (last.lstrip("_")[:1].isupper() or language in _LOWER_TYPES):
            return dotted
    return ""


def scope_of(name: str) -> str:
    """``Outer.Inner`` of C++'s ``Outer::Inner::method``; empty where the name has no scope of its own."""
    scope = re.sub(r"<[^<>]*>", "", name).rpartition("::")[0].replace("::", ".")
    return scope if scope and is_name(scope) else ""
