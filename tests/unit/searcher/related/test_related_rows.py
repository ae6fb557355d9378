"""What one question about relations reads."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt
import pytest

from everfind_core.model import FileRef, Filters
from everfind_core.ports import Labels, ScoredChunk, StoredChunk
from everfind_searcher.related.requests import read_symbol
from everfind_searcher.related.targets import MAX_ROWS, QuestionRows

CHUNK = StoredChunk("id", FileRef("f", "a.py"), 0, 1, 2, "x", "x", "k", "h", 1)


class Snapshot:
    """Holds ``count`` chunks with any name."""

    def __init__(self, count: int) -> None:
        self.rows = count
        self.files: list[FileRef] = []

    def generation(self) -> int:
        return 1

    def semantic(self, vector: npt.NDArray[np.float32], limit: int, where: Filters) -> Sequence[ScoredChunk]:
        return ()

    def lexical(self, terms: Sequence[str], limit: int, where: Filters) -> Sequence[ScoredChunk]:
        return ()

    def quoting(self, phrase: str, terms: Sequence[str], limit: int, where: Filters) -> Sequence[ScoredChunk]:
        return ()

    def unembedded(self, refs: Collection[FileRef]) -> frozenset[FileRef]:
        return frozenset()

    def naming(self, tokens: Sequence[str], limit: int, where: Filters) -> Sequence[StoredChunk]:
        return [CHUNK] * min(self.rows, limit)

    def count(self, where: Filters) -> int:
        return self.rows

    def labels(self, where: Filters) -> Labels:
        return Labels(self.rows)

    def file_chunks(self, ref: FileRef) -> Sequence[StoredChunk]:
        self.files.append(ref)
        return [CHUNK]


@pytest.mark.parametrize(("count", "cut"), [(0, False), (MAX_ROWS - 1, False), (MAX_ROWS + 1, True)])
def test_it_is_known_that_rows_were_cut_off(count: int, cut: bool) -> None:
    rows = QuestionRows(Snapshot(count))
    assert len(rows.naming(["+x"], Filters())) == min(count, MAX_ROWS)
    assert rows.cut is cut


def test_each_file_is_read_once() -> None:
    snapshot = Snapshot(1)
    rows = QuestionRows(snapshot)
    assert rows.file(CHUNK.ref) == rows.file(CHUNK.ref) == [CHUNK]
    assert snapshot.files == [CHUNK.ref]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("refresh", ((), "refresh")),
        ("refresh()", ((), "refresh")),
        ("Session.refresh", (("Session",), "refresh")),
        ("app/auth.Session#refresh", (("app", "auth", "Session"), "refresh")),
        ("ns::Type::operator==", (("ns", "Type"), "operator==")),
        ("\\App\\User->save()", (("App", "User"), "save")),
        ("save!", ((), "save!")),
        ("größe", ((), "größe")),
    ],
)
def test_symbols_are_read_as_people_write_them(text: str, expected: tuple[tuple[str, ...], str]) -> None:
    symbol = read_symbol(text)
    assert (symbol.qualifiers, symbol.name) == expected
