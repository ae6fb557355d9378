"""A document's header fields, in the forms that are in use.

Read are YAML and TOML front matter, YAML files beside a document, XML elements as in XEPs, and in ``head`` the forms of
plain text: key lines, lists, tables and sections.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from everfind_core.lifecycle.fields import Header, HeaderField, is_wanted
from everfind_core.lifecycle.head import Head
from everfind_core.lifecycle.vocabulary import Vocabulary, normal

_LINES = 200
_LINE_CHARACTERS = 1_000
_XML_CHARACTERS = 10_000

_TOP_KEY = re.compile(r"(?P<key>[\"']?[^\W\d_][\w .-]{0,39}?[\"']?)[ \t]*[:=](?:[ \t]+|$|(?=[\"'\[]))(?P<value>.*)$")
_COMMENT = re.compile(r"[ \t]+#(?!\d).*$")  # "#12" is how people write a number, although YAML reads a comment
_FOLDED = frozenset({">", ">-", ">+"})
_BLOCK = _FOLDED | {"|", "|-", "|+"}
_ELEMENT = re.compile(r"<(?P<key>[A-Za-z][\w-]{1,30})>")
_ATTRIBUTE = re.compile(r"\b(?P<key>obsoletes|number)=\"(?P<value>[^\"]{1,300})\"")
_TAG = re.compile(r"<[^<>]+>")


def read_header(text: str, vocabulary: Vocabulary) -> Header:
    """The header of a document of prose; without fields if it has none."""
    lines = _first_lines(text)
    header = Header(front_matter=_front_matter(lines))
    header.fields += _top_level(lines, 1, header.front_matter - 1, vocabulary)
    Head(lines, vocabulary, header).read(header.front_matter)
    return header


def read_yaml(text: str, vocabulary: Vocabulary) -> Header:
    """The fields at the top level of a YAML file."""
    lines = _first_lines(text)
    return Header(fields=list(_top_level(lines, 0, len(lines), vocabulary)))


def read_xml(text: str, vocabulary: Vocabulary) -> Header:
    """The elements at the start of an XML document whose names are known keys; of an RFC, what its root says."""
    start = text[:_XML_CHARACTERS]
    root = start[: max(0, start.find("<front"))] if "<rfc " in start else ""
    header = Header()
    said = [(match["key"], match["value"]) for match in _ATTRIBUTE.finditer(root)]
    said += [
        (match["key"], start[match.end() : start.find(f"</{match['key']}>")]) for match in _ELEMENT.finditer(start)
    ]
    for name, content in said:
        parts = (" ".join(part.split()) for part in _TAG.split(content[:_LINE_CHARACTERS]))
        key, value = normal(name), "\n".join(part for part in parts if part)
        if value and vocabulary.role(key) is not None:
            header.fields.append(HeaderField(key, value, 0, 0))
    return header


def _first_lines(text: str) -> list[str]:
    return [line[:_LINE_CHARACTERS] for line in text.split("\n", _LINES)[:_LINES]]


def _front_matter(lines: Sequence[str]) -> int:
    """How many lines of front matter there are, fences included; 0 without it."""
    fence = lines[0].rstrip() if lines else ""
    if fence not in ("---", "+++"):
        return 0
    ends = ("---", "...") if fence == "---" else (fence,)
    return next((n for n, line in enumerate(lines[1:], start=2) if line.rstrip() in ends), 0)


def _top_level(lines: Sequence[str], start: int, end: int, vocabulary: Vocabulary) -> Iterator[HeaderField]:
    """``key: value`` or ``key = value`` lines that are not indented, each with the lines that continue it."""
    number = start
    while number < end:
        match = _TOP_KEY.match(lines[number])
        first = number
        number += 1
        if not match:
            continue
        while number < end and (lines[number][:1] in (" ", "\t", "]") or lines[number].startswith("- ")):
            number += 1
        block = match["value"].strip()
        own = "" if block in _BLOCK else _plain(match["value"])
        more = (_plain(line.strip().removeprefix("- ")) for line in lines[first + 1 : number])
        joint = " " if block in _FOLDED else "\n"
        key, value = normal(match["key"].strip("\"'")), joint.join(part for part in (own, *more) if part.strip("[]"))
        if is_wanted(key, value, vocabulary):
            yield HeaderField(key, value, first, number - 1)


def _plain(value: str) -> str:
    """A YAML or TOML value without comment, quotes and list brackets."""
    value = _COMMENT.sub("", f" {value}").strip().rstrip(",")
    if value.startswith("[") and value.endswith("]") and not value.startswith("[["):
        value = ", ".join(part.strip().strip("\"'") for part in value[1:-1].split(","))
    return value.strip(value[0]) if value[:1] in ("'", '"') else value
