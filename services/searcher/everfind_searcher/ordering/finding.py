"""From a question to hits in their order: both arms, ranking, what is hidden, and what takes its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial

from everfind_core.cancellation import Cancellation
from everfind_core.errors import DeadlineExceededError
from everfind_core.model import Abstention, Filters, Hidden, SearchMode, SearchRequest
from everfind_core.ports import ChunkSnapshot, ScoredChunk
from everfind_core.ranking import parts_of
from everfind_searcher.asking.reader import QuestionReader, ReadQuestion
from everfind_searcher.ordering.boosts import PathBoosts
from everfind_searcher.ordering.fetching import Fetcher
from everfind_searcher.ordering.hiding import Hiding, replaced_best
from everfind_searcher.ordering.ranking import Admitted, Ranked, Ranking, rank
from everfind_searcher.ordering.sharing import all_hidden, share, strongest
from everfind_searcher.ordering.succession import succeed
from everfind_searcher.settings import SearcherSettings

CANDIDATES = 200
"""Chunks that each arm contributes. The same for every page, or pages would not fit together."""

QUOTING = 1_000
"""Chunks that have a phrase which the query quotes, beside those."""

UNJUDGED = (
    "the model does not know the script of this question, and none of its words is in the index: nothing says whether "
    "these hits are any good"
)

Arms = tuple[Sequence[ScoredChunk], Sequence[ScoredChunk]]
"""What the semantic and the lexical arm found, best first."""


Admitting = Callable[[str, Ranking], Admitted]
"""Says which of the ranked chunks have enough evidence to answer a query."""


@dataclass(frozen=True, slots=True)
class Found:
    """``hits`` with enough evidence, best first, or why there are none; what was hidden, and what to say of it.

    ``parts`` are what a compound question was searched in.
    """

    hits: Sequence[Ranked]
    abstained: Abstention | None
    hidden: Hidden = field(default_factory=Hidden)
    warnings: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()


class Finder:
    """Finds hits in an index's chunks. Thread-safe."""

    def __init__(self, settings: SearcherSettings, reader: QuestionReader) -> None:
        self._settings = settings
        self._reader = reader
        self._boosts = PathBoosts(settings.path_boosts)
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="lexical")

    def close(self) -> None:
        """Stop the threads, and the reader of questions."""
        self._reader.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def visible(self, asked: Filters) -> Filters:
        """The filters that also leave out what is hidden unless all is asked for."""
        return self._hiding(asked).visible(asked)

    def find(
        self, request: SearchRequest, snapshot: ChunkSnapshot, length: int, admitting: Admitting, cancel: Cancellation
    ) -> Found:
        """All hits for ``request`` that ``admitting`` lets pass; a compound question is searched in its parts."""
        parts = parts_of(request.query) if request.mode is SearchMode.HYBRID else ()
        asked = [replace(request, query=part) for part in parts or (request.query,)]
        found = [self._find(one, snapshot, length, admitting, cancel) for one in asked]
        if not parts:
            return found[0]
        hits = share([one.hits for one in found])
        return Found(
            hits,
            None if hits else strongest([one.abstained for one in found]),
            all_hidden([one.hidden for one in found]),
            tuple(dict.fromkeys(warning for one in found for warning in one.warnings)),
            parts,
        )

    def _find(
        self, request: SearchRequest, snapshot: ChunkSnapshot, length: int, admitting: Admitting, cancel: Cancellation
    ) -> Found:
        """All hits for one question.

        Successors are brought to the first ``length`` places, and hidden files counted there.

        The arms are asked for everything first. One that has something hidden in it is asked again, for what is visible
        alone: so nothing that is hidden takes a place, or moves what is not.
        """
        asked = request.filters
        hiding = self._hiding(asked)
        question = self._reader.read(request, cancel)
        ask = partial(self._arms, snapshot, cancel)
        arms = ask(asked, question)
        admitted = visible = admitting(request.query, self._ranked(request, arms))
        shown = _without_hidden(arms, question, hiding, partial(ask, hiding.visible(asked)))
        if shown is not arms:
            visible = admitting(request.query, self._ranked(request, shown))
        everything = admitted.hits
        hits: Sequence[Ranked] = visible.hits
        if any(chunk.successor for chunk in everything.chunks()):
            hits = succeed(
                hits,
                everything,
                hidden=lambda chunk: bool(hiding.rule(chunk)),
                fetch=Fetcher(snapshot, hiding.visible(asked), question.terms, self._reader.vector(question, cancel)),
                length=length,
            )
        warnings = (replaced_best(everything, hiding, asked.folders), UNJUDGED if hits and not visible.judged else "")
        abstained = None if hits else visible.abstained
        return Found(hits, abstained, hiding.report(everything, length), tuple(filter(None, warnings)))

    def _hiding(self, asked: Filters) -> Hiding:
        settings = self._settings
        return Hiding.of(asked, statuses=settings.hidden_statuses, exclude=settings.default_exclude)

    def _arms(self, snapshot: ChunkSnapshot, cancel: Cancellation, where: Filters, question: ReadQuestion) -> Arms:
        """Both arms' lists, empty where one is not asked; the question is embedded while its terms are looked up."""
        lexical = self._threads.submit(found_by_words, snapshot, where, question) if question.terms else None
        vector = self._reader.vector(question, cancel)
        semantic = () if vector is None else snapshot.semantic(vector, CANDIDATES, where)
        cancel.check()
        try:
            return semantic, lexical.result(cancel.remaining()) if lexical else ()
        except TimeoutError:
            raise DeadlineExceededError("the call's deadline has passed") from None

    def _ranked(self, request: SearchRequest, arms: Arms) -> Ranking:
        fusion, rrf_k = self._settings.fusion, self._settings.rrf_k
        return self._boosts.reordered(rank(request.query, *arms, mode=request.mode, fusion=fusion, rrf_k=rrf_k))


def found_by_words(snapshot: ChunkSnapshot, where: Filters, question: ReadQuestion) -> Sequence[ScoredChunk]:
    """The best chunks by words, then those that have a phrase which the question quotes, wherever they stand."""
    found = list(snapshot.lexical(question.terms, CANDIDATES, where))
    known = {one.chunk.chunk_id for one in found}
    quoting = {
        one.chunk.chunk_id: one
        for phrase in question.quotations
        for one in snapshot.quoting(phrase, question.terms, QUOTING, where)
        if one.chunk.chunk_id not in known
    }
    return [*found, *sorted(quoting.values(), key=lambda one: -one.score)]


def _without_hidden(arms: Arms, question: ReadQuestion, hiding: Hiding, ask: Callable[[ReadQuestion], Arms]) -> Arms:
    """The lists of what is visible: ``arms`` where that is all, else with what ``ask`` gives for one with more."""
    semantic, lexical = (hiding.hides_any([found.chunk for found in arm]) for arm in arms)
    if not semantic and not lexical:
        return arms
    texts = question.texts if semantic else ()
    by_meaning, by_words = ask(replace(question, texts=texts) if lexical else ReadQuestion(texts, ()))
    return by_meaning if semantic else arms[0], by_words if lexical else arms[1]
