"""Asking a set's questions of a searcher."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from everfind_core.cancellation import Cancellation
from everfind_core.errors import InvalidRequestError
from everfind_core.model import Filters, Hit, SearchMode, SearchRequest
from everfind_core.ports import Searcher
from everfind_gateway.evaluation.labelled import EvaluationSet, Question
from everfind_gateway.evaluation.measures import DEPTH, RankedChunk, measure

PAGE = 100
"""Hits asked for at a time: the most that one search gives."""
CONTAINING = 5
"""Of so many first hits together a question's words are expected."""


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question's hits, with paths as the set names files, and their scores; the time that its search took.

    ``texts`` are those of the first hits, folded, for what they must contain.
    """

    question: Question
    ranking: Sequence[RankedChunk]
    scores: Sequence[float]
    seconds: float
    texts: Sequence[str] = ()

    @property
    def measures(self) -> Mapping[str, float]:
        """Every measure that applies to the question; ``contains@5`` is the share of its words in the first five."""
        question = self.question
        found = (
            measure(self.ranking, question.answers, ignore=question.ignore, stale=question.stale)
            if question.answers
            else {}
        )
        if question.contains:
            present = [any(word.casefold() in text for text in self.texts) for word in question.contains]
            found[f"contains@{CONTAINING}"] = sum(present) / len(present)
        return found


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks a set's questions of one searcher."""

    labelled: EvaluationSet
    searcher: Searcher
    mode: SearchMode
    cancel: Cancellation | None

    def ask(self, question: Question, *, floor: bool = True) -> AnsweredQuestion:
        """The first page of hits, and more until they stand in as many files as are measured."""
        filters = Filters(folders=(question.root,) if question.root else ())
        request = SearchRequest(question.query, limit=PAGE, mode=self.mode, filters=filters)
        if not floor:
            request = replace(request, min_score=-1.0, relative_cutoff=0.0)
        started = time.perf_counter()
        try:
            answer = self.searcher.search(request, cancel=self.cancel)
        except InvalidRequestError as error:
            raise InvalidRequestError(
                f"question {question.id!r}: {error.message}", hint=error.hint, violations=error.violations
            ) from None
        seconds = time.perf_counter() - started
        texts = [f"{hit.path} {hit.symbol} {hit.heading} {hit.text}".casefold() for hit in answer.hits[:CONTAINING]]
        ranking = self._found(answer.hits)
        scores = [hit.score for hit in answer.hits]
        while answer.next_cursor and len({found.path for found in ranking} - question.ignore) < DEPTH:
            answer = self.searcher.search(replace(request, cursor=answer.next_cursor), cancel=self.cancel)
            ranking += self._found(answer.hits)
            scores += [hit.score for hit in answer.hits]
        return AnsweredQuestion(question, ranking, scores, seconds, texts)

    def _found(self, hits: Sequence[Hit]) -> list[RankedChunk]:
        return [RankedChunk(self.labelled.corpus_path(h.folder, h.path), h.start_line, h.end_line) for h in hits]
