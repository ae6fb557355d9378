"""The page of an answer that a request asks for, with what of it fits the budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from everfind_core.model import SearchAnswer, SearchRequest
from everfind_searcher.answering.budget import Budget
from everfind_searcher.answering.cursor import Cursor, encode_cursor
from everfind_searcher.answering.hits import ranked_hit
from everfind_searcher.answering.packing import Page, Room, page_of
from everfind_searcher.ordering.ranking import Ranked


def paged(
    about: SearchAnswer,
    admitted: Sequence[Ranked],
    start: int,
    request: SearchRequest,
    roots: Mapping[str, str],
    *,
    budget: Budget | None,
) -> SearchAnswer:
    """``about``, which has no hits yet, with those of the page that begins at ``start``, and what follows it."""

    def with_page(page: Page) -> SearchAnswer:
        hits = tuple(ranked_hit(one, roots, request) for one in page.hits)
        more = page.after < len(admitted)
        return replace(
            about,
            hits=hits,
            further=page.further,
            left_out=page.left_out,
            next_cursor=encode_cursor(Cursor(page.after, about.generation), request) if more else "",
            tokens=sum(hit.tokens for hit in hits),
        )

    whole = with_page(page_of(admitted, start, request, None))
    if budget is None:
        return whole
    if whole.tokens <= budget.tokens:  # it may fit: one count instead of many
        size = budget.of_answer(whole)
        if size <= budget.tokens:
            return replace(whole, tokens=size)

    def within(tokens: int) -> SearchAnswer:
        room = Room(
            tokens, lambda one: budget.of_hit(ranked_hit(one, roots, request)), budget.of_file, budget.further_heading
        )
        return with_page(page_of(admitted, start, request, room))

    return budget.fitted(budget.tokens, within)
