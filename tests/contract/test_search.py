"""What a searcher promises, whatever lies between it and the caller."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from everfind_core.answers.json_form import search_json
from everfind_core.answers.text_form import gather_text, hit_text, search_text
from everfind_core.cancellation import Cancellation
from everfind_core.errors import CancelledError, DeadlineExceededError, InvalidRequestError
from everfind_core.model import Filters, GatherRequest, Hit, IndexRequest, ProvenanceLabel, SearchMode, SearchRequest
from everfind_core.ports import Embedder
from everfind_searcher.engine import SearchEngine
from everfind_searcher.settings import Fusion, SearcherSettings
from everfind_searcher.store import open_reader
from tests.contract.conftest import Connected, open_engines
from tests.support.corpus import FILES


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("getUserName", "src/session.py"),
        ("get_user_name", "src/session.py"),
        ("user.name", "src/session.py"),
        ("ERR_TOKEN_EXPIRED", "src/session.py"),
        ("1.0.21", "package.json"),
        ("src/storage/atomic.go", "src/storage/atomic.go"),
        ("when can a session be extended", "auth.md"),
        ("write a file so that a crash leaves nothing half done", "src/storage/atomic.go"),
        ('what is said of "so that a reader never sees half a file"', "src/storage/atomic.go"),
        ("capybara", 'it\'s 100% "odd" [name]_.md'),
        ("登录鉴权", "登录.md"),
        ("接続設定", "日本語.md"),
        ("largest rodent", 'it\'s 100% "odd" [name]_.md'),
    ],
)
def test_a_question_finds_its_file(workspace: Connected, query: str, path: str) -> None:
    assert path in [hit.path for hit in workspace.searcher.search(SearchRequest(query, limit=3)).hits]


def test_every_hit_is_a_line_range_of_its_file_with_secrets_masked(workspace: Connected) -> None:
    answer = workspace.searcher.search(SearchRequest("token", limit=100, min_score=-1.0))
    assert len(answer.hits) >= 8
    for hit in answer.hits:
        original = FILES[f"{hit.folder}/{hit.path}"].split("\n")[hit.start_line - 1 : hit.end_line]
        assert Path(hit.absolute_path).exists()
        if hit.path != "secret.md":
            assert hit.text == "\n".join(original)
        assert "ghp_" not in hit.text


def test_a_quoted_phrase_comes_first_and_is_an_exact_match(workspace: Connected) -> None:
    query = 'which function gives "a new token for one that ran out"'
    first = workspace.searcher.search(SearchRequest(query, explain=True)).hits[0]
    assert first.path == "src/session.py"
    assert {c.rule: c.value for c in first.explain}["quoted"] == 1
    alone = workspace.searcher.search(SearchRequest(query, min_score=0.99)).hits
    assert [(hit.path, hit.provenance.label) for hit in alone] == [("src/session.py", ProvenanceLabel.EXACT)]


def test_hybrid_scores_are_the_sum_of_what_explain_lists(workspace: Connected) -> None:
    answer = workspace.searcher.search(SearchRequest("token refresh", limit=50, explain=True))
    best = answer.hits[0]
    assert {c.rule for c in best.explain} >= {"semantic", "lexical"}
    assert 0.5 < best.score < 2
    for hit in answer.hits:
        assert hit.score == pytest.approx(sum(c.value for c in hit.explain), abs=1e-6)
        arms = [arm for arm in (hit.provenance.semantic, hit.provenance.lexical) if arm]
        assert (hit.provenance.label is ProvenanceLabel.BOTH) == (len(arms) == 2)
    assert [h.score for h in answer.hits] == sorted((h.score for h in answer.hits), reverse=True)
    plain = workspace.searcher.search(SearchRequest("token refresh", limit=50))
    assert [h.explain for h in plain.hits] == [()] * len(answer.hits)
    assert [h.chunk_id for h in plain.hits] == [h.chunk_id for h in answer.hits]


def test_an_answer_says_what_the_query_was_taken_to_ask_for(workspace: Connected) -> None:
    assert workspace.searcher.search(SearchRequest("tests of the token config")).intents == ("configuration", "tests")
    assert workspace.searcher.search(SearchRequest("getUserName")).intents == ("identifier",)
    assert workspace.searcher.search(SearchRequest("largest rodent")).intents == ()


def test_fusion_by_reciprocal_ranks_is_exact(tmp_path: Path, embedder: Embedder) -> None:
    with open_engines(tmp_path, embedder) as engines:
        engines.indexer.index(IndexRequest(), lambda _event: None)
        settings = SearcherSettings(engines.base / "index", fusion=Fusion.RRF)
        searcher = SearchEngine(settings, embedder, engines.indexer, open_reader)
        answer = searcher.search(SearchRequest("token refresh", limit=50))
        searcher.close()
    assert len(answer.hits) > 5
    for hit in answer.hits:
        arms = [arm for arm in (hit.provenance.semantic, hit.provenance.lexical) if arm]
        assert hit.score == pytest.approx(sum(1 / (60 + arm.rank) for arm in arms))


def test_a_plain_mode_is_one_arm(workspace: Connected) -> None:
    semantic = workspace.searcher.search(SearchRequest("token refresh", mode=SearchMode.SEMANTIC))
    assert all(h.provenance.semantic and h.score == h.provenance.semantic.cosine for h in semantic.hits)
    assert all(h.provenance.lexical is None for h in semantic.hits)
    lexical = workspace.searcher.search(SearchRequest("token refresh", mode=SearchMode.LEXICAL))
    assert all(h.provenance.lexical and h.score == h.provenance.lexical.bm25 for h in lexical.hits)
    assert all(h.provenance.semantic is None for h in lexical.hits)


HOSTILE = (
    *('"', "''", "AND OR NOT", "a:b^2~3", "(((", "*?", "--", "-k", "the and of", "\\", "x' OR 1=1 --", "%_[", ".", "!"),
    *("😀", "😀😀 👩‍👩‍👧", "登", "a\0b", "\x1b[31m", "e\u0301", "\u200b", "ﬁ", "İ", "a" * 10_000, "word " * 2_000),
)


@pytest.mark.parametrize("query", HOSTILE)
@pytest.mark.parametrize("mode", SearchMode)
def test_no_query_breaks_it(workspace: Connected, query: str, mode: SearchMode) -> None:
    answer = workspace.searcher.search(SearchRequest(query, mode=mode))
    assert answer.query == query
    assert (answer.abstained is None) == bool(answer.hits)


def test_stop_words_alone_do_not_empty_the_lexical_arm(workspace: Connected) -> None:
    assert workspace.searcher.search(SearchRequest("the and of", mode=SearchMode.LEXICAL)).hits


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (SearchRequest(""), "query"),
        (SearchRequest("x" * 10_001), "query"),
        (SearchRequest("\ud800"), "query"),
        (SearchRequest("x", limit=0), "limit"),
        (SearchRequest("x", cursor="nonsense"), "cursor"),
        (SearchRequest("x", filters=Filters(folders=("nope",))), "filters.folders"),
        (SearchRequest("x", filters=Filters(include=("!a",))), "filters.include"),
        (SearchRequest("x", filters=Filters(since="soon")), "filters.since"),
    ],
)
def test_what_cannot_be_answered_names_its_field(workspace: Connected, request_: SearchRequest, field: str) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        workspace.searcher.search(request_)
    assert [v.field for v in caught.value.violations] == [field]


@pytest.mark.parametrize(
    ("filters", "files"),
    [
        (Filters(folders=("docs",), include=("decisions",)), {"decisions/0001-storage.md"}),
        (Filters(languages=("go",)), {"src/storage/atomic.go"}),
        (Filters(include=("*.go", "*.json")), {"src/storage/atomic.go", "package.json"}),
        (Filters(folders=("code",), exclude=("src", "tests")), {"package.json"}),
        (Filters(include=('it\'s 100% "odd" \\[name\\]_.md',)), {'it\'s 100% "odd" [name]_.md'}),
        (Filters(include=("%",)), set()),
        (Filters(include=("' OR 1=1 --",)), set()),
        (Filters(languages=("go' OR language='python",)), set()),
        (Filters(since="2000-01-01"), set()),
    ],
)
def test_filters_come_before_ranking(workspace: Connected, filters: Filters, files: set[str]) -> None:
    answer = workspace.searcher.search(SearchRequest("a file with a token", limit=100, filters=filters, min_score=-1))
    assert {hit.path for hit in answer.hits} == files
    assert bool(answer.unmatched) == (not files)
    assert answer.abstained is None


def test_pages_follow_each_other_without_gap_or_repeat(workspace: Connected) -> None:
    whole = workspace.searcher.search(SearchRequest("token file", limit=100))
    request = SearchRequest("token file", limit=3)
    pages: list[Hit] = []
    while True:
        answer = workspace.searcher.search(request)
        pages += answer.hits
        assert answer.left_out == len(whole.hits) - len(pages)
        if not answer.next_cursor:
            break
        request = replace(request, cursor=answer.next_cursor)
    assert [h.chunk_id for h in pages] == [h.chunk_id for h in whole.hits]


def tokens_in(workspace: Connected, text: str) -> int:
    return len(workspace.embedder.tokenizer().encode(text).ids)


@pytest.mark.parametrize("budget", [30, 180, 240, 300, 500, 900, 2_000])
def test_the_whole_text_of_an_answer_is_within_the_budget(workspace: Connected, budget: int) -> None:
    for further in (0, 20):
        request = SearchRequest("token", limit=20, max_tokens=budget, further=further)
        answer = workspace.searcher.search(request)
        assert answer.tokens == tokens_in(workspace, search_text(answer)) <= budget
        assert (len(answer.hits) > 0) == (budget >= 180)
        for context in (0, 5):
            gathered = workspace.searcher.gather(GatherRequest(request, context))
            assert gathered.answer.tokens == tokens_in(workspace, gather_text(gathered)) <= budget
            assert len(gathered.passages) == len(gathered.answer.hits)


def test_pages_under_a_token_budget_show_every_hit_that_fits_alone(workspace: Connected) -> None:
    whole = workspace.searcher.search(SearchRequest("token file", limit=100))
    request = SearchRequest("token file", limit=100, max_tokens=150)
    shown: list[Hit] = []
    while True:
        answer = workspace.searcher.search(request)
        shown += answer.hits
        if not answer.next_cursor:
            break
        request = replace(request, cursor=answer.next_cursor)
    sizes = {hit.chunk_id: tokens_in(workspace, hit_text(hit, 1, 1)) for hit in whole.hits}
    remarks = tokens_in(workspace, search_text(replace(answer, hits=(), left_out=1, next_cursor="x" * 64)))
    assert {h.chunk_id for h in shown} >= {chunk for chunk, size in sizes.items() if size <= 150 - remarks - 40}
    assert [h.chunk_id for h in shown] == [h.chunk_id for h in whole.hits if h in shown]
    assert all(sizes[h.chunk_id] <= 150 for h in shown)


def test_further_files_are_named_within_the_budget(workspace: Connected) -> None:
    whole = workspace.searcher.search(SearchRequest("token", limit=100))
    files = list(dict.fromkeys((hit.folder, hit.path) for hit in whole.hits))
    first = workspace.searcher.search(SearchRequest("token", limit=2, further=100))
    shown = {(hit.folder, hit.path) for hit in first.hits}
    assert [(one.folder, one.path) for one in first.further] == [file for file in files if file not in shown]
    best = next(hit for hit in whole.hits if (hit.folder, hit.path) == (first.further[0].folder, first.further[0].path))
    assert (first.further[0].start_line, first.further[0].end_line) == (best.start_line, best.end_line)
    packed = workspace.searcher.search(SearchRequest("token", limit=100, max_tokens=250, further=100))
    assert packed.hits
    assert packed.further
    assert packed.tokens <= 250
    assert len(workspace.searcher.search(SearchRequest("token", limit=2, further=1)).further) == 1


def test_a_filter_that_matches_nothing_is_named_with_what_would_match(workspace: Connected) -> None:
    answer = workspace.searcher.search(SearchRequest("token", filters=Filters(languages=("pyhton",))))
    assert answer.unmatched.startswith("nothing has the language 'pyhton'; the index has ")
    assert "python" in answer.unmatched.split("; ")[1]
    assert answer.abstained is None
    assert search_json(answer)["unmatched"] == answer.unmatched
    assert search_text(answer).startswith("Nothing to search: nothing has the language 'pyhton'")


def test_filters_that_leave_little_are_said_where_nothing_is_found(workspace: Connected) -> None:
    answer = workspace.searcher.search(
        SearchRequest("wellington boots", filters=Filters(languages=("python",)), min_score=1.0)
    )
    assert answer.hits == ()
    assert answer.unmatched == ""
    assert answer.warnings[0].endswith(" pass the filters")


def test_coverage_says_what_was_searched(workspace: Connected) -> None:
    answer = workspace.searcher.search(SearchRequest("token"))
    assert answer.coverage.files == len(FILES)
    assert answer.coverage.chunks == workspace.report.chunks_written
    docs = workspace.searcher.search(SearchRequest("token", filters=Filters(folders=("docs",))))
    assert docs.coverage.files == sum(name.startswith("docs/") for name in FILES)
    assert docs.generation == workspace.report.generation


def test_the_same_question_gives_the_same_answer(workspace: Connected) -> None:
    first, second = (search_json(workspace.searcher.search(SearchRequest("token", limit=30))) for _ in range(2))
    assert first == second


def test_gather_reads_around_each_hit(workspace: Connected) -> None:
    gathered = workspace.searcher.gather(GatherRequest(SearchRequest("WriteAtomic", limit=1), context_lines=50))
    (passage,) = gathered.passages
    assert passage.text == FILES["code/src/storage/atomic.go"].rstrip("\n")
    assert not passage.changed
    assert gathered.markdown.startswith("### [1/1] code · src/storage/atomic.go · lines 1-6 · score ")
    assert "```go\npackage storage" in gathered.markdown


def test_a_caller_that_gave_up_is_not_answered(workspace: Connected) -> None:
    cancel = Cancellation()
    cancel.cancel()
    with pytest.raises(CancelledError):
        workspace.searcher.search(SearchRequest("token"), cancel=cancel)
    with pytest.raises(DeadlineExceededError):
        workspace.searcher.search(SearchRequest("token"), cancel=Cancellation(time.monotonic() - 1))


def test_without_a_reranker_the_order_stands_and_the_answer_says_so(workspace: Connected) -> None:
    plain = workspace.searcher.search(SearchRequest("refresh the token"))
    asked = workspace.searcher.search(SearchRequest("refresh the token", rerank=True))
    assert asked.hits == plain.hits
    (warning,) = asked.warnings
    assert warning.startswith("not reranked: no reranker is configured")
