"""What a query tells about itself: its words, the names in it, and what it asks for. Transparent rules, no model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from everfind_core.text.function_words import FUNCTION_WORDS
from everfind_core.text.glossary import glossed
from everfind_core.text.lexical import query_terms
from everfind_core.text.plain_words import CJK, plain_words

MAX_NAMES = 4
"""Names of a query that are looked for as definitions. Later ones are left out."""

MAX_PHRASES = 4
"""Phrases in quotation marks that are looked for word for word. Later ones are left out."""

_MAX_READ = 2_000  # characters that are read; a longer query is an excerpt, not a question
_FEW_WORDS = 2
_GLOSSED = 0.5  # a character of a word that stands in English, too, counts so much less as Chinese


class Intent(StrEnum):
    """What a query asks for besides its subject; each lifts a demotion or moves a weight."""

    IDENTIFIER = "identifier"
    TESTS = "tests"
    EXAMPLES = "examples"
    DOCUMENTATION = "documentation"
    CONFIGURATION = "configuration"
    LEGACY = "legacy"
    GENERATED = "generated"
    RECORDS = "records"
    INTERNALS = "internals"
    CALLERS = "callers"
    ARCHITECTURE = "architecture"


_ASKING: dict[Intent, tuple[str, str]] = {  # English words and phrases; Chinese ones, which stand without borders
    Intent.TESTS: (r"tests?|testing|tested|unittests?|testcases?|specs?|fixtures?|mock(?:s|ed|ing)?", "测试|单测|用例"),
    Intent.EXAMPLES: (r"examples?|samples?|demos?|benchmarks?|tutorials?|playground", "示例|例子|样例|教程"),
    Intent.DOCUMENTATION: (r"docs?|document(?:s|ed|ation)|readme|guides?|tutorials?|manuals?", "文档|说明|指南"),
    Intent.CONFIGURATION: (r"config\w*|settings?|ya?ml|json|toml|workflows?|pipelines?|ci", "配置|设置"),
    Intent.LEGACY: (
        r"compat\w*|legacy|deprecat\w+|backwards?|obsolete|old|v\d+|migrat\w+|shims?|polyfills?",
        "兼容|废弃|过时|迁移|旧",
    ),
    Intent.GENERATED: (r"generated|vendor\w*|third[ -]part(?:y|ies)|bundled|minified", "生成的|第三方"),
    Intent.RECORDS: (
        r"dependenc(?:y|ies)|lock ?files?|licen[cs]es?|change ?logs?|release notes?",
        "依赖|许可|更新日志",
    ),
    Intent.INTERNALS: (r"internal(?:s|ly)?|implement(?:s|ed|ation)|private|under the hood", "内部|实现|私有"),
    Intent.CALLERS: (r"callers?|callees?|who calls|called (?:by|from)|calls to|usages? of", "谁调用|调用者|被调用"),
    Intent.ARCHITECTURE: (r"architecture|overview|design|structured?|how (?:does|do|is|are)", "架构|设计|结构|原理"),
}
_INTENTS = {
    intent: re.compile(rf"(?<![^\W_])(?:{english})(?![^\W_])|{chinese}", re.IGNORECASE)
    for intent, (english, chinese) in _ASKING.items()
}

_NAME = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|#|->)[A-Za-z_$~][\w$]*)*", re.ASCII)
_JOINT = re.compile(r"\.|::|#|->")
_CODED = re.compile(r"[^_]_[^_]|[a-z\d][A-Z]|[A-Z][A-Z][a-z]|^_+\w|^[A-Z\d]+_", re.ASCII)
_QUOTED = re.compile(r"`([^`\n]{2,80})`")
_PHRASE = re.compile(r'"([^"\n]{2,200})"|“([^”\n]{2,200})”|«([^»\n]{2,200})»|「([^」\n]{2,200})」')
_CALLED = re.compile(r"([A-Za-z_$][\w$.]*)\(\)", re.ASCII)
_ABBREVIATIONS = frozenset({"e.g", "i.e", "node.js", "vue.js", "next.js", "asp.net"})
_FILE_NAME = re.compile(r"\.(?:[a-z]{1,4}|json|toml|java|yaml|html|rust|swift|scala|[a-z]*lock)$")


@dataclass(frozen=True, slots=True)
class Name:
    """A name that a query seems to quote from code: its last part, and the name before that (empty without)."""

    last: str
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Query:
    """A query, read once.

    ``terms`` are those of the lexical arm; ``words`` the folded words in their order; ``subjects`` how many of them
    carry a subject; ``phrases`` what stands in quotation marks, each as its folded words with single spaces between,
    ``quotations`` the same as written; ``names`` what looks like an identifier, ``coded`` whether by its spelling alone
    (not because the query is short); ``cjk`` the share of Chinese, Japanese and Korean characters, 0 to 1, less for
    those with English words.
    """

    terms: frozenset[str]
    words: tuple[str, ...]
    subjects: int
    phrases: tuple[str, ...]
    quotations: tuple[str, ...]
    names: tuple[Name, ...]
    coded: bool
    cjk: float
    intents: frozenset[Intent]

    @property
    def short(self) -> bool:
        """Whether it is a word or two: then each may be a name."""
        return self.subjects <= _FEW_WORDS and not self.cjk

    @property
    def asks_for_identifier(self) -> bool:
        """Whether it is about an identifier, or but a single word."""
        return Intent.IDENTIFIER in self.intents


@lru_cache(maxsize=256)
def read_query(text: str) -> Query:
    """What ``text`` tells about itself."""
    text = text[:_MAX_READ]
    words = tuple(plain_words(text).split())
    subjects = [word for word in words if word not in FUNCTION_WORDS and not CJK.search(word)]
    letters = sum(not character.isspace() for character in text)
    cjk = len(CJK.findall(text)) / max(1, letters) * (1 - _GLOSSED * glossed(text).known)
    coded = _coded_names(text)
    names = coded or (_plain_names(text) if len(words) <= _FEW_WORDS else [])
    intents = {intent for intent, pattern in _INTENTS.items() if pattern.search(text)}
    if coded or (len(subjects) == 1 and len(words) == 1):
        intents.add(Intent.IDENTIFIER)
    quoted = _quoted(text)
    return Query(
        terms=frozenset(query_terms(text)),
        words=words,
        subjects=len(subjects),
        phrases=tuple(quoted),
        quotations=tuple(quoted.values()),
        names=tuple(dict.fromkeys(names))[:MAX_NAMES],
        coded=bool(coded),
        cjk=cjk,
        intents=frozenset(intents),
    )


def _quoted(text: str) -> dict[str, str]:
    """The phrases, each with what is written between its marks."""
    found: dict[str, str] = {}
    for groups in _PHRASE.findall(text):
        quotation = "".join(groups)
        found.setdefault(plain_words(quotation), quotation)
    return dict([(phrase, quotation) for phrase, quotation in found.items() if phrase][:MAX_PHRASES])


def _coded_names(text: str) -> list[Name]:
    """Words that are spelled like identifiers, quoted in backticks, or written as calls."""
    marked = {name for quoted in _QUOTED.findall(text) for name in _NAME.findall(quoted)} | set(_CALLED.findall(text))
    found = []
    for whole in _NAME.findall(text):
        parts = _JOINT.split(whole)
        dotted = len(parts) > 1 and whole.casefold() not in _ABBREVIATIONS and not _FILE_NAME.search(whole)
        if dotted or whole in marked or any(map(_CODED.search, parts)):
            found.append(_name(parts))
    return [name for name in found if len(name.last) > 1]


def _plain_names(text: str) -> list[Name]:
    found = [_name(_JOINT.split(w)) for w in _NAME.findall(text) if w.casefold() not in FUNCTION_WORDS]
    return [name for name in found if len(name.last) > 1]


def _name(parts: list[str]) -> Name:
    return Name(parts[-1].lstrip("~"), parts[-2] if len(parts) > 1 else "")
