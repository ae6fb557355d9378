"""A phrase is found wherever it stands: as by reading every text, in both stores, in memory and not."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from everfind_core.index.store_backends import StoreBackend
from everfind_core.model import FileRef, Filters
from everfind_core.ports import ChunkReader, ChunkWriter, FileChunks, ScoredChunk
from everfind_core.text.lexical import document_terms, phrase_needs, query_terms
from everfind_core.text.plain_words import plain_words, says
from everfind_indexer.store import open_writer
from everfind_searcher.ordering.fetching import passes
from everfind_searcher.store import open_reader, quoting
from tests.support.store_samples import DIMENSIONS, EVERYTHING, file

WORDS = (
    *("the", "cannot", "open", "opening", "file", "Files", "is", "a", "getUserName", "get_user_name", "__init__"),
    *("utf8", "sha256-sum", "X-GitHub-Event", "v1.2.3", "don't", "HTTPServer", "Café", "foo—bar", "«ready»", "(x)"),
    *("性能优化指南", "性能", "优化", "テスト用のデータ", "한국어", "优化foo", "ÄPFEL", "привет", "a1B2c3D4", "…"),
)
SAMPLES = [
    ("Cannot open FILE", "so it cannot open file 3"),
    ("get_user_name", "a get_user_name b"),
    ("getusername", "a.getUserName()"),
    ("files", "Files"),
    ("x-github-event", "the X-GitHub-Event header"),
    ("GitHub-Event header", "the X-GitHub-Event header"),
    ("sha256", "run sha256-sum"),
    ("能优", "性能优化指南"),
    ("the", "the"),
    ("is a", "what is a—b, is a?"),
    ("v" * 100, "x " + "v" * 100),
    ("优" * 70, "a" + "优" * 130),
]
FILTERS = (EVERYTHING, Filters(folders=("g",)), Filters(include=("1*",)), Filters(languages=("go",), exclude=("*3",)))
MOST = 1_000


def some_text(choose: random.Random) -> str:
    return " ".join(choose.choices(WORDS, k=choose.randint(0, 12)))


def some_file(number: int, choose: random.Random) -> FileChunks:
    texts = [some_text(choose) for _ in range(choose.randint(1, 5))]
    return with_terms(file(choose.choice("fg"), f"{number}", *texts, language=choose.choice(("go", "python"))))


def with_terms(made: FileChunks) -> FileChunks:
    chunks = (replace(chunk, terms=document_terms(chunk.text, path=made.ref.path)) for chunk in made.chunks)
    return FileChunks(made.ref, tuple(chunks))


def some_phrase(choose: random.Random, texts: Sequence[str]) -> str:
    """Some words of a text, or one that may stand nowhere."""
    words = choose.choice(texts).split()
    start = choose.randint(0, len(words))
    found = " ".join(words[start : start + choose.randint(1, 4)])
    return choose.choice((found, found, found, some_text(choose)))


@dataclass
class Stores:
    """Four readers of the same chunks, and what these are."""

    writers: Sequence[ChunkWriter]
    readers: Sequence[ChunkReader]
    files: dict[FileRef, FileChunks]

    def replace(self, files: Sequence[FileChunks], *, maintain: bool) -> None:
        for one in files:
            self.files[one.ref] = one
        for writer in self.writers:
            writer.replace(files)
            if maintain:
                writer.maintain(finish=True, exact=True)

    def scanned(self, phrase: str, where: Filters) -> set[str]:
        """The chunks that have the phrase, by reading them all."""
        plain = plain_words(phrase)
        chunks = [chunk for one in self.files.values() for chunk in one.chunks if passes(chunk, where)]
        return {chunk.chunk_id for chunk in chunks if plain and says(chunk.text, plain)}

    def check(self, phrase: str, where: Filters, *, maintained: bool) -> None:
        """What all give is what is there, and the same from memory; scores of LanceDB wait for its upkeep."""
        scanned = self.scanned(phrase, where)
        answers = [reader.quoting(phrase, query_terms(phrase), MOST, where) for reader in self.readers]
        for found, like in zip(answers, [0, 0, 0 if maintained else 2, 2], strict=True):
            assert {one.chunk.chunk_id for one in found} == scanned
            assert places(found) == places(answers[like])
            assert [one.score for one in found] == pytest.approx([one.score for one in answers[like]], abs=1e-4)


def places(found: Sequence[ScoredChunk]) -> list[str]:
    return [one.chunk.chunk_id for one in found]


def opened(directory: Path) -> Stores:
    writers, readers = [], []
    for kind in StoreBackend:
        (directory / kind).mkdir()
        writers.append(open_writer(directory / kind, DIMENSIONS, kind))
        readers += [open_reader(directory / kind, resident, backend=kind) for resident in (0, 1 << 30)]
    return Stores(writers, readers, {})


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[Stores]:
    made = opened(tmp_path)
    yield made
    for writer in made.writers:
        writer.close()


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stores]:
    """All of ``SAMPLES``, one a file."""
    made = opened(tmp_path_factory.mktemp("samples"))
    made.replace([with_terms(file("f", f"{n}", text)) for n, (_, text) in enumerate(SAMPLES)], maintain=True)
    yield made
    for writer in made.writers:
        writer.close()


def test_every_chunk_with_the_phrase_is_found(stores: Stores) -> None:
    choose = random.Random(4)
    for commit in range(4):
        maintained = commit % 2 == 1
        stores.replace([some_file(number, choose) for number in choose.sample(range(60), 25)], maintain=False)
        gone = [FileChunks(ref) for ref in choose.sample(sorted(stores.files), 4)]
        stores.replace(gone, maintain=maintained)
        texts = [chunk.text for one in stores.files.values() for chunk in one.chunks]
        for where in FILTERS:
            for phrase in [some_phrase(choose, texts) for _ in range(6)]:
                stores.check(phrase, where, maintained=maintained)


@pytest.mark.parametrize(("phrase", "text"), SAMPLES)
def test_word_for_word_is_in_any_case_and_punctuation(samples: Stores, phrase: str, text: str) -> None:
    samples.check(phrase, EVERYTHING, maintained=True)
    assert text in [one.chunk.text for one in samples.readers[0].quoting(phrase, [], MOST, EVERYTHING)]


@pytest.mark.parametrize("phrase", ["", "—", "...", "_", "nowhere"])
def test_what_has_no_words_is_nowhere(samples: Stores, phrase: str) -> None:
    assert not any(reader.quoting(phrase, ["the"], MOST, EVERYTHING) for reader in samples.readers)


def test_the_best_by_words_come_first_and_are_cut_there(stores: Stores) -> None:
    texts = ["open file", "open file red", "red open file red", "file open red red red"]
    made = file("f", "1", *texts)
    stores.replace([made], maintain=True)
    for _ in range(2):
        for reader in stores.readers:
            found = reader.quoting("open file", ["red"], 2, EVERYTHING)
            assert [one.chunk.text for one in found] == ["red open file red", "open file red"]
            assert reader.quoting("open file", [], MOST, EVERYTHING)[0].score == 0


def test_of_too_many_the_most_telling_are_looked_at(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quoting, "LOOKED_AT", 3)
    stores.replace([file("f", "1", "open file", *["file that one can open and close again"] * 9)], maintain=True)
    for _ in range(2):
        for reader in stores.readers:
            assert places(reader.quoting("open file", ["open"], MOST, EVERYTHING)) == ["f\x001\x000\x00"]


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(WORDS), max_size=12), st.data())
def test_terms_of_a_text_meet_what_its_phrases_need(words: list[str], data: st.DataObject) -> None:
    text = " ".join(words)
    first, last = sorted(data.draw(st.integers(0, len(text))) for _ in range(2))
    phrase = text[first:last]
    terms = set(document_terms(text, path="").split())
    if plain_words(phrase) and says(text, plain_words(phrase)):
        assert all(any(terms.issuperset(way) for way in need) for need in phrase_needs(phrase))
