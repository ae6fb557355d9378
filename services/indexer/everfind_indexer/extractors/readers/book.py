"""Electronic books (.epub): chapters in reading order as Markdown. There is no well-kept reader without the AGPL."""

from __future__ import annotations

import io
import posixpath
import zipfile
from collections.abc import Iterator
from urllib.parse import unquote

from bs4 import BeautifulSoup
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] - compiled, and has no stubs

from everfind_core.model import SkipReason
from everfind_core.ports import NotExtractedError
from everfind_indexer.extractors.readers.page import markdown_of
from everfind_indexer.extractors.wire import Extracted

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_CHAPTERS = ("application/xhtml+xml", "text/html")
_OBFUSCATED_FONTS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")


def read(raw: bytes) -> Extracted:
    """The book's title, and its chapters in the order of its spine (EPUB 2 and 3)."""
    with zipfile.ZipFile(io.BytesIO(raw)) as package:
        if _is_encrypted(package):
            raise NotExtractedError(SkipReason.ENCRYPTED, "its chapters are encrypted")
        place = _parsed(package.read(_CONTAINER)).xpath("string(//*[local-name()='rootfile']/@full-path)")
        contents = _parsed(package.read(place))
        title = " ".join(contents.xpath("string(//*[local-name()='title'])").split())
        chapters = [
            markdown_of(BeautifulSoup(package.read(chapter), "lxml"))
            for chapter in _spine(contents, posixpath.dirname(place))
        ]
    parts = [f"# {title}\n" if title else "", *chapters] if any(chapters) else []
    return Extracted("\n".join(part for part in parts if part), "epub")


def _spine(contents: etree._Element, directory: str) -> Iterator[str]:
    """The names of the chapters, in order."""
    items = {item.get("id"): item for item in contents.xpath("//*[local-name()='manifest']/*")}
    for reference in contents.xpath("//*[local-name()='spine']/*[local-name()='itemref']"):
        item = items.get(reference.get("idref"))
        if item is not None and item.get("media-type") in _CHAPTERS:
            yield posixpath.normpath(posixpath.join(directory, unquote(item.get("href", ""))))


def _is_encrypted(package: zipfile.ZipFile) -> bool:
    try:
        encryption = _parsed(package.read(_ENCRYPTION))
    except KeyError:
        return False
    algorithms = encryption.xpath("//*[local-name()='EncryptedData']/*[local-name()='EncryptionMethod']/@Algorithm")
    return any(algorithm not in _OBFUSCATED_FONTS for algorithm in algorithms)


def _parsed(raw: bytes) -> etree._Element:
    return etree.fromstring(raw, etree.XMLParser(resolve_entities=False, no_network=True))
