"""Documents in the forms that well-known series have, from the files' bytes to what becomes of each.

The files in ``formats/`` have the headers of their series and words of our own.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from everfind_core.lifecycle import DEFAULT_VOCABULARY, Fates, Statement, read_document, settle
from everfind_core.model import Document, FileRef, LineKind
from everfind_indexer.extractors import Extraction

FORMATS = Path(__file__).parent / "formats"

EXPECTED = {  # status, date, successor
    "asciidoc/depots.adoc": ("archived", "2024-05-06", "asciidoc/all-depots.adoc"),
    "asciidoc/all-depots.adoc": ("current", "2025-08-09", ""),
    "bip/bip-0902.mediawiki": ("superseded", "2015-03-04", "bip/bip-0931.md"),
    "bip/bip-0931.md": ("deployed", "2019-06-01", ""),
    "dep/0901-two-caches.rst": ("superseded", "2021-04-02", "dep/0907-one-cache.rst"),
    "dep/0907-one-cache.rst": ("final", "2021-01-10", ""),
    "draft/draft-okafor-depots-07.txt": ("", "2026-02-03", ""),
    "eip/eip-9102.md": ("withdrawn", "2020-11-19", ""),
    "ember/0901-route-tags.md": ("obsolete", "2018-03-09", ""),
    "glep/glep-0091.rst": ("superseded", "2017-10-12", ""),
    "haskell/0901-dotted-names.rst": ("superseded", "2020-04-11", "haskell/0907-names-with-dots.rst"),
    "haskell/0907-names-with-dots.rst": ("", "2022-01-30", ""),
    "jep/jep-901.md": ("withdrawn", "2024-11-20", ""),
    "jep/jep-902.html": ("delivered", "2023-01-15", ""),
    "kep/keps/sig-cargo/3301-lift-quota/README.md": (
        "superseded",
        "2023-09-11",
        "kep/keps/sig-cargo/4402-lift-budget/README.md",
    ),
    "kep/keps/sig-cargo/4402-lift-budget/README.md": ("implementable", "2023-08-20", ""),
    "kip/KIP-901.md": ("superseded", "", ""),
    "madr/0004-use-xml.md": ("superseded", "2022-10-05", "madr/0011-use-json.md"),
    "madr/0011-use-json.md": ("accepted", "2024-02-12", ""),
    "madr/0012-use-tabs.md": ("rejected", "2024-03-01", ""),
    "nep/nep-0091-shared-strides.rst": ("superseded", "2016-08-30", "nep/nep-0095-strides-by-value.rst"),
    "nep/nep-0095-strides-by-value.rst": ("final", "2018-02-01", ""),
    "notes/badge.md": ("deprecated", "", "notes/by-road.md"),
    "notes/by-air.md": ("archived", "2023-11-02", ""),
    "notes/by-road.md": ("", "2025-05-04", ""),
    "nygard/0003-keep-sessions-in-files.md": (
        "superseded",
        "2023-01-09",
        "nygard/0007-keep-sessions-in-the-database.md",
    ),
    "nygard/0007-keep-sessions-in-the-database.md": ("accepted", "2024-06-30", ""),
    "org/wagons.org": ("obsolete", "2021-02-03", "org/trucks.org"),
    "org/trucks.org": ("", "2024-02-03", ""),
    "php/pipe_operator.txt": ("superseded", "2016-07-20", "php/pipe-operator-v3.txt"),
    "php/pipe-operator-v3.txt": ("implemented", "2025-02-05", ""),
    "rfc/rfc8801.txt": ("superseded", "2014-12", "rfc/rfc9801.txt"),
    "rfc/rfc8802.html": ("superseded", "2015-02", "rfc/rfc9801.txt"),
    "rfc/rfc9801.txt": ("", "2021-04", ""),
    "rust/0701-lazy-boxes.md": ("superseded", "2019-05-17", "rust/0712-lazy-cells.md"),
    "rust/0712-lazy-cells.md": ("", "2020-02-03", ""),
    "setext/cranes.md": ("superseded", "", "setext/lifts.md"),
    "setext/lifts.md": ("approved", "2025-03-09", ""),
    "srfi/srfi-901.html": ("withdrawn", "2019-07-15", ""),
    "swift/0901-tuple-names.md": ("superseded", "", ""),
    "tc39/README.md": ("withdrawn", "2021-05", ""),
    "tip/901.md": ("withdrawn", "2004-09-14", ""),
    "w3c/tr-crates-1.html": ("superseded", "2017-05-18", "w3c/tr-crates-2.html"),
    "w3c/tr-crates-2.html": ("", "2020-03-03", ""),
    "xep/xep-0901.xml": ("obsolete", "2018-02-21", ""),
}
MISSING = {  # what a document names that is not there
    "eip/eip-9102.md": "9188",
    "glep/glep-0091.rst": "97",
    "kip/KIP-901.md": "KIP-934",
    "swift/0901-tuple-names.md": "SE-0915",
    "tc39/README.md": "Random functions",
    "tip/901.md": "944",
    "xep/xep-0901.xml": "XEP-0933",
}


@pytest.fixture(scope="module")
def fates() -> Fates:
    statements: dict[FileRef, Statement] = {}
    with Extraction() as extraction:
        for file in sorted(path for path in FORMATS.rglob("*") if path.is_file()):
            path = file.relative_to(FORMATS).as_posix()
            read = read_document(path, extraction.extract(path, file.read_bytes()), DEFAULT_VOCABULARY)
            assert read is not None, path
            statements[FileRef("f", path)] = read.statement
    return settle(statements, DEFAULT_VOCABULARY)


def test_every_file_has_its_line(fates: Fates) -> None:
    settled = {ref.path for ref in fates.fates}
    assert {path for path in settled if not path.endswith("kep.yaml")} == set(EXPECTED)


@pytest.mark.parametrize("path", EXPECTED)
def test_what_becomes_of_a_document(fates: Fates, path: str) -> None:
    fate = fates.fates[FileRef("f", path)]
    assert (fate.status, fate.date, "".join(ref.path for ref in fate.successors)) == EXPECTED[path]


def test_what_is_not_there_is_told(fates: Fates) -> None:
    assert {problem.ref.path: problem.message for problem in fates.problems} == {
        path: f"its successor {name!r} is not in the index" for path, name in MISSING.items()
    }


def said(text: str) -> tuple[str, str, tuple[str, ...]]:
    read = read_document("doc.md", Document(text, LineKind.MARKDOWN, "markdown"), DEFAULT_VOCABULARY)
    assert read is not None
    return read.statement.status, read.statement.date, read.statement.superseded_by


WRAPPED = """# Sockets

The pool keeps sockets that were opened before the restart, among them all of
3 May 2024
and of the day after that one, until somebody closes them or the process ends.
"""


@pytest.mark.parametrize(
    "text",
    [
        "# Sockets\n\nThis API is deprecated. Use [streams](streams.md) instead.\n",
        "# Sockets\n\nThis document is not obsolete.\n",
        "# Sockets\n\nThis guide is partially deprecated.\n",
        "# Sockets\n\nOutcome: rejected requests are tried again after a minute\n",
        "# Sockets\n\nStage: alpha\nPhase: 3\n",
        "# Sockets\n\nThis section was replaced by [streams](streams.md).\n",
        "# Archived sockets, 5 May 2024\n\nThey are kept.\n",
        WRAPPED,
    ],
)
def test_what_says_nothing_of_its_document(text: str) -> None:
    assert said(text) == ("", "", ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# SRFI 9: Sets\n\nThis SRFI has been superseded by SRFI 12.\n", ("", "", ("SRFI 12.",))),
        ("# T\n\nThis policy has been withdrawn.\n", ("withdrawn", "", ())),
        ("# T\n\nThis page is **archived**; it moved to `new.md`.\n", ("archived", "", ("`new.md`.",))),
        ("# T\n\n4 July 2023\n\nText.\n", ("", "2023-07-04", ())),
        ("# T\n\nPosted by Ada on March 3, 2021\n\nText.\n", ("", "2021-03-03", ())),
        ("# T\n\n## Status\n\n- 2019-01-02 proposed\n- 2023-05-06 retired\n", ("obsolete", "2023-05-06", ())),
        ("# T\n\n## Status\n\n- 2023-05-06: Retired\n- 2020-03-04: Accepted\n", ("obsolete", "2023-05-06", ())),
        ("# T\n\nStatus: Accepted <!-- proposed | rejected | superseded -->\n", ("accepted", "", ())),
    ],
)
def test_lines_without_a_key(text: str, expected: tuple[str, str, tuple[str, ...]]) -> None:
    assert said(text) == expected
