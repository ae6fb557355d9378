"""A token budget: what the text of an answer takes, counted by the embedding model's tokenizer, and what fits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from everfind_core.answers.text_form import FURTHER_HEADING, further_item, hit_text, search_text
from everfind_core.errors import ModelUnusableError, UnavailableError
from everfind_core.model import FurtherFile, Hit, SearchAnswer, SearchMode, SearchRequest
from everfind_core.ports import Embedder


class Form(Protocol):
    """An answer as the text that whoever asked will read."""

    def hit_text(self, hit: Hit) -> str:
        """What one hit adds to it."""
        ...

    def answer_text(self, answer: SearchAnswer) -> str:
        """The whole text."""
        ...


class SearchForm:
    """The text of a search: the hits under their headings."""

    def hit_text(self, hit: Hit) -> str:
        """See :meth:`Form.hit_text`."""
        return hit_text(hit, 1, 1)

    def answer_text(self, answer: SearchAnswer) -> str:
        """See :meth:`Form.answer_text`."""
        return search_text(answer)


class Budget:
    """``tokens`` for the text of one answer; counts each hit and each file once."""

    def __init__(self, tokens: int, count: Callable[[str], int], form: Form) -> None:
        self.tokens = tokens
        self._count = count
        self._form = form
        self._hits: dict[Hit, int] = {}
        self._files: dict[FurtherFile, int] = {}

    @property
    def further_heading(self) -> int:
        """Tokens of the line over the further files."""
        return self._count(FURTHER_HEADING)

    def of_hit(self, hit: Hit) -> int:
        """Tokens of one hit under its heading."""
        if hit not in self._hits:
            self._hits[hit] = self._count(self._form.hit_text(hit))
        return self._hits[hit]

    def of_file(self, file: FurtherFile) -> int:
        """Tokens of the line that names a further file."""
        if file not in self._files:
            self._files[file] = self._count(further_item(file))
        return self._files[file]

    def of_answer(self, answer: SearchAnswer) -> int:
        """Tokens of the whole text."""
        return self._count(self._form.answer_text(answer))

    def fitted(self, room: int, make: Callable[[int], SearchAnswer]) -> SearchAnswer:
        """What ``make`` gives for the most of ``room`` tokens with which the whole text fits, counted.

        ``make`` takes what hits and further files may take together. What else an answer says depends on which they
        are, so that only the whole tells; with no room left it is said nevertheless.
        """
        while True:
            answer = make(max(0, room))
            size = self.of_answer(answer)
            if size <= self.tokens or room <= 0:
                return replace(answer, tokens=size)
            room -= size - self.tokens


def counter(embedder: Embedder, request: SearchRequest) -> Callable[[str], int]:
    """Counts tokens; a search by words alone goes on without a model, by bytes: no tokenizer makes more tokens."""
    try:
        tokenizer = embedder.tokenizer()
    except (ModelUnusableError, UnavailableError):
        if request.mode is not SearchMode.LEXICAL:
            raise
        return lambda text: len(text.encode("utf-8", "surrogatepass"))
    return lambda text: len(tokenizer.encode(text).ids)
