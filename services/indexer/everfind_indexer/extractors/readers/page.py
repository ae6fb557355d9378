"""HTML as Markdown: headings, lists, tables, code; no scripts, styles or navigation."""

from __future__ import annotations

import re

from bs4 import BeautifulSoup
from bs4.element import PreformattedString
from markdownify import ATX, MarkdownConverter

from everfind_indexer.extractors.wire import Extracted

_NO_TEXT = (
    "script", "style", "template", "noscript", "svg", "canvas", "iframe", "object", "nav", "head", "datalist",
)  # fmt: skip
_INLINE = ("a", "abbr", "b", "em", "font", "i", "label", "small", "span", "strong", "u")
_BLANK_LINES = re.compile(r"\n{3,}")
_TRAILING = re.compile(r"[ \t]+$", re.MULTILINE)


def read(raw: bytes) -> Extracted:
    """The text of a page, its title as the first heading where it has no other of the first level."""
    soup = BeautifulSoup(raw, "lxml")
    title = soup.title.get_text(" ", strip=True) if soup.title else ""
    text = markdown_of(soup)
    if title and text and not soup.find("h1"):
        text = f"# {title}\n\n{text}"
    return Extracted(text, "html")


def markdown_of(soup: BeautifulSoup) -> str:
    """The text of parsed HTML, which it changes: what is read stays, not where links and pictures lead."""
    for tag in soup(_NO_TEXT):
        tag.decompose()
    for note in soup.find_all(string=lambda text: isinstance(text, PreformattedString)):
        note.extract()
    for cell in soup(["td", "th"]):
        for words in cell.find_all(string=True):
            if "|" in words:
                words.replace_with(words.replace("|", "\\|"))
    for picture in soup("img"):
        picture.replace_with(str(picture.get("alt") or ""))
    for tag in soup(_INLINE):
        tag.unwrap()
    markdown = MarkdownConverter(
        heading_style=ATX, bullets="-", escape_asterisks=False, escape_underscores=False, table_infer_header=True
    ).convert_soup(soup)
    text = _BLANK_LINES.sub("\n\n", _TRAILING.sub("", markdown)).strip("\n")
    return f"{text}\n" if text else ""
