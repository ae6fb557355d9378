"""How well a use fits a definition of the same name: by what both files say, without running or typing anything.

Each rule that holds gives a fit from 0 to 1, and the best counts. The *confidence* that a use means a definition: those
that fit best share their fit, those that fit second best share theirs of what is left, and so on. So one import that
names a file outweighs any number of equal names elsewhere, ten equal names without a hint get a tenth each, and what is
left in the end stands for definitions that nobody indexed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from everfind_core.model.files import FileRef
from everfind_core.model.symbols import Definition, Use

IMPORTED = 0.95
"""The file imports the name, or the receiver, from where it is defined; or it is defined right here."""

TYPED = 0.9
"""The receiver is declared, constructed or called as the type that defines it."""

NEAR = 0.7
"""A bare name, defined in another file of the same directory."""

IN_FILE = 0.6
"""The receiver is unknown, and a type of the same file has such a method."""

FREE = 0.5
"""A bare name that the file does not say the origin of, defined at the top of some file."""

METHOD = 0.4
"""The receiver is unknown, and some type has such a method."""

UNLIKELY = 0.2
"""A bare name for a method of another type, or a receiver for a function of another file."""

CONTRADICTED = 0.1
"""The file says that it comes from elsewhere; types may be derived, and modules may pass names on."""

ALONE = 1.4
"""What a guess (:data:`FREE`, :data:`METHOD`, :data:`IN_FILE`) counts for where nothing else has the name."""

SURE = 0.5
"""From here on a use more likely means a definition than not; search follows no relation that is less sure."""

THIS = frozenset({"self", "this", "cls", "Self", "static"})
PARENT = frozenset({"super", "parent", "base"})
_IMPLICIT_THIS = frozenset({"java", "kotlin", "csharp", "cpp", "ruby", "swift", "scala"})
_FAMILIES = (
    frozenset({"javascript", "typescript", "tsx", "jsx"}),
    frozenset({"c", "cpp"}),
    frozenset({"java", "kotlin", "scala"}),
)
_SEPARATORS = re.compile(r"[./\\:]+")
_ENTRY_STEMS = frozenset({"__init__", "index", "mod", "lib", "main"})
_ANCHORS = frozenset({"crate", "self", "super", "src", "@", "~"})


@dataclass(frozen=True, slots=True)
class Place:
    """Where a definition or a use stands."""

    ref: FileRef
    language: str

    @property
    def directory(self) -> tuple[str, str]:
        """The folder, and the path of the file's directory in it."""
        return self.ref.folder, self.ref.path.rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class Known:
    """A definition, and where it stands."""

    definition: Definition
    place: Place

    @property
    def owner(self) -> str:
        """The type whose method it is; empty for all else, constructors included."""
        around = self.definition.scope.rpartition(".")[2]
        return around if self.definition.kind in ("method", "property") and around != self.definition.name else ""

    @property
    def identity(self) -> tuple[FileRef, str]:
        """What counts once: overloads, alternatives, and a type with its constructors are one."""
        scope, name = self.definition.scope, self.definition.name
        constructs = scope.rpartition(".")[2] == name
        return self.place.ref, scope if constructs else self.definition.qualified


def confidences(use: Use, place: Place, known: Sequence[Known]) -> list[float]:
    """How sure it is that ``use``, which stands at ``place``, means each of the definitions with its name."""
    alone = len({one.identity for one in known if same_tongue(one.place.language, place.language)}) == 1
    fits = [fit(use, place, one, alone=alone) for one in known]
    best: dict[tuple[FileRef, str], float] = {}
    for one, value in zip(known, fits, strict=True):
        best[one.identity] = max(value, best.get(one.identity, 0.0))
    shares = _shares(best.values())
    return [shares[best[one.identity]] for one in known]


def _shares(fits: Iterable[float]) -> dict[float, float]:
    """What each of the definitions with one fit gets, by fit; all of them together get 1 at most."""
    shares: dict[float, float] = {}
    left = 1.0
    for value, count in sorted(Counter(fits).items(), reverse=True):
        shares[value] = left * value / count
        left *= 1 - value
    return shares


def fit(use: Use, place: Place, known: Known, *, alone: bool = False) -> float:
    """The best rule's fit; 0 between languages that do not call each other. ``alone``: no other has the name."""
    if not same_tongue(known.place.language, place.language):
        return 0.0
    if use.origin:
        return _by_origin(segments(use.origin), place, known)
    found = _by_receiver(use, place, known) if use.receiver else _by_name(use, place, known)
    return found * ALONE if alone and found in (FREE, METHOD, IN_FILE) else found


def same_tongue(one: str, other: str) -> bool:
    """Whether code of these languages can call each other by name."""
    return one == other or any(one in family and other in family for family in _FAMILIES)


def _by_origin(origin: Sequence[str], place: Place, known: Known) -> float:
    """The file says where the name, or what it is called on, comes from."""
    if not origin:  # of this package
        return IMPORTED if known.place.directory == place.directory else CONTRADICTED
    agreed = _agreement(origin, known)
    if agreed == len(origin):
        return IMPORTED
    if known.owner and known.owner == origin[-1]:
        return TYPED
    if agreed or (known.owner and _implements(known.owner, origin[-1])):
        return TYPED if agreed > 1 else NEAR
    return CONTRADICTED


def _by_receiver(use: Use, place: Place, known: Known) -> float:
    """It is called on something that the file does not say the origin of."""
    here = known.place.ref == place.ref
    if not known.owner:
        stem = known.place.ref.path.rpartition("/")[2].partition(".")[0]
        return TYPED if use.receiver == stem else UNLIKELY
    if use.receiver in THIS and known.owner in use.within.split("."):
        return IMPORTED if here else TYPED
    if use.receiver in THIS or use.receiver in PARENT:
        return METHOD
    if _same_name(use.receiver, known.owner):
        return TYPED
    return IN_FILE if here else METHOD


def _by_name(use: Use, place: Place, known: Known) -> float:
    """It is called by its bare name, which the file does not import."""
    here = known.place.ref == place.ref
    if not known.owner:
        if here:
            return IMPORTED
        return NEAR if known.place.directory == place.directory else FREE
    if place.language not in _IMPLICIT_THIS:
        return UNLIKELY
    if known.owner in use.within.split("."):
        return IMPORTED if here else TYPED
    return METHOD if here else UNLIKELY


def _implements(owner: str, declared: str) -> bool:
    """Whether a type is called like one that implements the declared one: ``StoreImpl``, ``Store`` of ``IStore``."""
    return owner in (f"{declared}Impl", f"Default{declared}") or declared == f"I{owner}"


def _same_name(receiver: str, owner: str) -> bool:
    """Whether a variable is called like the type: ``userService``, ``user_service``, ``UserService``."""
    return receiver.replace("_", "").casefold() == owner.replace("_", "").casefold()


@lru_cache(maxsize=1 << 12)
def segments(origin: str) -> tuple[str, ...]:
    """The names of an origin, without what only says where to start: ``crate::auth::token`` is auth, token."""
    parts = [part for part in _SEPARATORS.split(origin) if part]
    return tuple(parts[len(list(takewhile(_ANCHORS.__contains__, parts))) :])


@lru_cache(maxsize=1 << 12)
def address(ref: FileRef, scope: str) -> tuple[str, ...]:
    """The names by which code reaches what ``scope`` of a file holds: directories, file, enclosing definitions."""
    directory, _, name = ref.path.rpartition("/")
    stem = name.partition(".")[0]
    return tuple(filter(None, [*directory.split("/"), "" if stem in _ENTRY_STEMS else stem, *scope.split(".")]))


def _agreement(origin: Sequence[str], known: Known) -> int:
    """How many of the origin's last names follow each other in the definition's address."""
    names = (known.place.ref.folder, *address(known.place.ref, known.definition.scope))
    return max((_run(origin, names[: end + 1]) for end in range(len(names))), default=0)


def _run(origin: Sequence[str], names: Sequence[str]) -> int:
    """How many last names both have in common."""
    pairs: Iterable[tuple[str, str]] = zip(reversed(origin), reversed(names), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
