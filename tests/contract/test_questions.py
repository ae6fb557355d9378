"""Questions that ask for two things, and questions that nothing can judge, over every transport."""

from __future__ import annotations

import pytest

from everfind_core.answers.json_form import search_json
from everfind_core.model import SearchMode, SearchRequest
from tests.support.notes import KNOWN, Notes, Reach

ENGLISH = "how are tokens refreshed and where is the retry budget configured?"
CHINESE = "令牌如何刷新，以及重试次数在哪里配置"


def both_subjects(notes: Notes) -> None:
    """Many notes have all words of the first part, few those of the second."""
    for number in range(8):
        notes.write(f"tokens{number}.md", f"# Tokens\n\nHow are tokens refreshed? Tokens are refreshed by {number}.\n")
        notes.write(f"令牌{number}.md", f"# 令牌\n\n令牌如何刷新：令牌由网关刷新 {number}。\n")
    for number in range(2):
        notes.write(f"retry{number}.md", f"# Retries\n\nThe retry budget is in its own file, {number}.\n")
        notes.write(f"重试{number}.md", f"# 重试\n\n重试次数写在单独的文件里 {number}。\n")
    notes.run()


@pytest.mark.parametrize(
    ("question", "parts", "first", "second"),
    [
        (ENGLISH, ["how are tokens refreshed", "where is the retry budget configured"], "tokens", "retry"),
        (CHINESE, ["令牌如何刷新", "重试次数在哪里配置"], "令牌", "重试"),
    ],
)
def test_each_part_of_a_question_has_its_share_of_the_answer(
    notes: Reach, question: str, parts: list[str], first: str, second: str
) -> None:
    reached = notes()
    both_subjects(reached)
    answer = reached.searcher.search(SearchRequest(question, limit=4))
    assert [hit.path.rstrip("0123456789.md") for hit in answer.hits] == [first, second, first, second]
    assert [hit.score for hit in answer.hits] == sorted((hit.score for hit in answer.hits), reverse=True)
    assert list(answer.parts) == search_json(answer)["parts"] == parts

    alone = reached.searcher.search(SearchRequest(parts[1], limit=1))
    assert alone.hits[0].path == answer.hits[1].path
    assert "parts" not in search_json(alone)
    assert reached.searcher.search(SearchRequest(question, mode=SearchMode.LEXICAL)).parts == ()


def test_pages_of_a_question_in_parts_follow_each_other(notes: Reach) -> None:
    reached = notes()
    both_subjects(reached)
    whole = reached.searcher.search(SearchRequest(ENGLISH, limit=8))
    first = reached.searcher.search(SearchRequest(ENGLISH, limit=3))
    second = reached.searcher.search(SearchRequest(ENGLISH, limit=5, cursor=first.next_cursor))
    assert [hit.chunk_id for hit in (*first.hits, *second.hits)] == [hit.chunk_id for hit in whole.hits]


def test_an_answer_that_nothing_could_judge_says_so(notes: Reach) -> None:
    reached = notes(KNOWN)
    for number in range(5):
        reached.write(f"{number}.md", f"# Number {number}\n\nWombat number {number} digs.\n")
    reached.run()
    question = SearchRequest("茉莉花茶如何冲泡")
    answer = reached.searcher.search(question)
    assert len(answer.hits) == 5
    [warning] = answer.warnings
    assert "nothing says whether these hits are any good" in warning
    assert search_json(answer)["warnings"] == [warning]
    assert reached.searcher.search(SearchRequest("wombat number 3")).warnings == ()
    assert reached.searcher.search(SearchRequest(question.query, min_score=0.99)).warnings == ()

    reached.write("tea.md", "# 茉莉花茶\n\n茉莉花茶用热水冲泡。\n")
    reached.run()
    known = reached.searcher.search(question)
    assert known.hits[0].path == "tea.md"
    assert known.warnings == ()
