"""A token budget holds for the whole text, whatever the hits, the names and the tokenizer are."""

from __future__ import annotations

import re
from collections.abc import Callable

from hypothesis import example, given
from hypothesis import strategies as st

from everfind_core.errors import UnavailableError
from everfind_core.model import (
    Coverage,
    FileRef,
    FileText,
    Hidden,
    Provenance,
    ProvenanceLabel,
    ReadFileRequest,
    SearchAnswer,
    SearchMode,
    SearchRequest,
)
from everfind_core.ports import StoredChunk
from everfind_searcher.answering.budget import Budget, SearchForm, counter
from everfind_searcher.answering.gathering import Gatherer
from everfind_searcher.answering.paging import paged
from everfind_searcher.ordering.ranking import Ranked
from tests.support.fakes import FakeEmbedder, FakeTokenizer

Count = Callable[[str], int]


def words(text: str) -> int:
    return len(FakeTokenizer().encode(text).ids)


def runs_across_lines(text: str) -> int:
    """Not additive: white space, and what follows it on the next line, are one token."""
    return len(re.findall(r"\s+\w*|\w+|[^\w\s]+", text))


def utf8(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


class Longer:
    """A source whose files have lines around every hit."""

    def read_file(self, request: ReadFileRequest) -> FileText:
        text = "\n".join("context word" for _ in range(request.start_line, request.end_line + 1))
        ref = FileRef(request.folder, request.path)
        return FileText(ref, f"/f/{request.path}", request.start_line, request.end_line, 99, text)


NAMES = st.text("ab/._-é%` ", min_size=1, max_size=30)
CHUNKS = st.lists(
    st.tuples(NAMES, st.text("ab`\n #_é中.", max_size=200), st.text("Ab_ \n", max_size=20), st.integers(1, 40)),
    max_size=15,
)


def ranked(chunks: list[tuple[str, str, str, int]]) -> list[Ranked]:
    provenance = Provenance(ProvenanceLabel.EXACT)
    return [
        Ranked(StoredChunk(str(n), FileRef("f", path), n, line, line + 3, text, "", "k", symbol, 9), 1.0, provenance)
        for n, (path, text, symbol, line) in enumerate(chunks)
    ]


@given(
    CHUNKS,
    st.integers(1, 600),
    st.integers(1, 20),
    st.integers(0, 10),
    st.integers(0, 3),
    st.sampled_from([words, runs_across_lines, utf8]),
    st.booleans(),
)
@example([("a", "a " * 40, "", 1), ("b", "b", "", 1)], 60, 5, 5, 0, words, False)
def test_the_text_of_an_answer_is_within_the_budget(
    chunks: list[tuple[str, str, str, int]],
    tokens: int,
    limit: int,
    further: int,
    start: int,
    count: Count,
    gathering: bool,
) -> None:
    admitted = ranked(chunks)
    start = min(start, len(admitted))
    request = SearchRequest("q", limit=limit, max_tokens=tokens, further=further)
    about = SearchAnswer("q", 7, (), Coverage(files=3), hidden=Hidden(2, {"superseded": 2}, "old.md", "f"))
    form = Gatherer(Longer(), 3) if gathering else SearchForm()
    budget = Budget(tokens, count, form)
    answer = paged(about, admitted, start, request, {"f": "/f"}, budget=budget)
    assert answer.tokens == count(form.answer_text(answer))
    assert answer.tokens <= tokens or not (answer.hits or answer.further)
    rest = admitted[start:]
    ids = [one.chunk.chunk_id for one in rest]
    shown = [hit.chunk_id for hit in answer.hits]
    first = ids.index(shown[0]) if shown else 0
    assert shown == ids[first : first + len(shown)], "in order and without a gap"
    assert answer.left_out == len(rest) - len(shown)
    assert not {file.path for file in answer.further} & {hit.path for hit in answer.hits}
    whole = paged(about, admitted, start, request, {"f": "/f"}, budget=None)
    if count(form.answer_text(whole)) <= tokens:
        assert (answer.hits, answer.further) == (whole.hits, whole.further)


def test_a_search_by_words_alone_counts_without_a_model() -> None:
    class Gone(FakeEmbedder):
        def tokenizer(self) -> FakeTokenizer:
            raise UnavailableError("no embedder")

    assert counter(Gone(), SearchRequest("q", mode=SearchMode.LEXICAL))("é a") == 4
    assert counter(FakeEmbedder(), SearchRequest("q", mode=SearchMode.LEXICAL))("é a") == 2
