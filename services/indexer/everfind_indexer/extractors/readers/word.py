"""Word documents (.docx): titles, lists, tables and notes as Markdown."""

from __future__ import annotations

import io

import mammoth
from bs4 import BeautifulSoup

from everfind_indexer.extractors.readers.page import markdown_of
from everfind_indexer.extractors.wire import Extracted

_STYLES = """
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => p:fresh
p[style-name='Heading 7'] => h6:fresh
p[style-name='Heading 8'] => h6:fresh
p[style-name='Heading 9'] => h6:fresh
"""
_BACK_LINK = "↑"


def read(raw: bytes) -> Extracted:
    """The text of a document; footnotes and endnotes stand at its end."""
    result = mammoth.convert_to_html(
        io.BytesIO(raw),
        style_map=_STYLES,
        include_embedded_style_map=False,
        convert_image=mammoth.images.img_element(lambda _: {"src": ""}),
        ignore_empty_paragraphs=True,
    )
    soup = BeautifulSoup(result.value, "lxml")
    for link in soup.find_all("a", string=_BACK_LINK):
        link.decompose()
    return Extracted(markdown_of(soup), "docx")
