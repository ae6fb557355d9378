"""Reranking: the order and the scores that it gives, what keeps its place, and what is said when it fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from everfind_core.cancellation import Cancellation
from everfind_core.errors import (
    CancelledError,
    DeadlineExceededError,
    EverfindError,
    InternalError,
    ModelUnusableError,
    UnavailableError,
)
from everfind_core.model import FileRef, Provenance, ProvenanceLabel, Relation, RerankRank, RerankRequest
from everfind_core.ports import StoredChunk
from everfind_embedder.servicer import MAX_BATCH_TEXTS, embedder_service
from everfind_rpc.channel import Connection, Endpoint
from everfind_rpc.clients.embedder import SERVICE
from everfind_rpc.clients.reranker import RemoteReranker
from everfind_searcher.ordering.ranking import Ranked
from everfind_searcher.ordering.reranking import RERANKED, reranked
from tests.support.fakes import FakeEmbedder
from tests.support.serving import serving


@dataclass
class ByLength:
    """Longer texts are better."""

    identity: str = "by-length@1"
    endpoint: str = "https://provider.example/v1"
    error: EverfindError | None = None
    asked: list[RerankRequest] = field(default_factory=list)

    def rerank(self, request: RerankRequest, *, cancel: Cancellation | None = None) -> Sequence[float]:
        self.asked.append(request)
        if self.error is not None:
            raise self.error
        return [len(text) / 10 for text in request.texts]

    def close(self) -> None:
        """Nothing is held."""


def hit(name: str, length: int, score: float = 1.0) -> Ranked:
    chunk = StoredChunk(name, FileRef("f", name), 0, 1, 2, "x" * length, "", "k", "h", 5)
    return Ranked(chunk, score, Provenance(ProvenanceLabel.BOTH))


def names(hits: Sequence[Ranked]) -> list[str]:
    return [one.chunk.chunk_id for one in hits]


def test_hits_stand_by_the_rerankers_scores() -> None:
    reranker = ByLength()
    placed, warnings = reranked("q", [hit("a", 1), hit("b", 3), hit("c", 2), hit("d", 3)], reranker, Cancellation())
    assert names(placed) == ["b", "d", "c", "a"]
    assert [one.score for one in placed] == [0.3, 0.3, 0.2, 0.1]
    assert [one.provenance.rerank for one in placed] == [
        RerankRank(1, 0.3),
        RerankRank(2, 0.3),
        RerankRank(3, 0.2),
        RerankRank(4, 0.1),
    ]
    assert [(c.rule, c.value) for c in placed[0].contributions] == [("rerank", 0.3)]
    assert warnings == ()
    assert reranker.asked == [RerankRequest("q", ("x", "xxx", "xx", "xxx"))]


def test_the_rest_follows_as_it_was() -> None:
    hits = [hit(str(n), n % 7 + 1) for n in range(RERANKED + 5)]
    placed, _ = reranked("q", hits, ByLength(), Cancellation())
    assert placed[RERANKED:] == hits[RERANKED:]
    assert sorted(names(placed[:RERANKED])) == sorted(names(hits[:RERANKED]))


def test_what_another_hit_brought_keeps_its_place() -> None:
    dead = hit("dead", 1)
    successor = replace(hit("successor", 9), relation=Relation.SUCCESSOR, related=dead.chunk)
    placed, _ = reranked("q", [hit("a", 1), successor, hit("b", 2)], ByLength(), Cancellation())
    assert names(placed) == ["b", "successor", "a"]
    assert placed[1] == successor


@pytest.mark.parametrize("error", [ModelUnusableError("no key", hint="Get one."), UnavailableError("no answer")])
def test_without_an_answer_the_order_of_before_stands(error: EverfindError) -> None:
    hits = [hit("a", 1), hit("b", 2)]
    placed, (warning,) = reranked("q", hits, ByLength(error=error), Cancellation())
    assert placed == hits
    assert warning.startswith(f"not reranked: {error.message}")
    assert error.hint in warning


def test_a_caller_that_gave_up_and_a_fault_are_no_warnings() -> None:
    with pytest.raises(InternalError):
        reranked("q", [hit("a", 1)], ByLength(error=InternalError("fault")), Cancellation())
    cancel = Cancellation()
    cancel.cancel()
    with pytest.raises(CancelledError):
        reranked("q", [hit("a", 1)], ByLength(error=DeadlineExceededError("late")), cancel)


def test_no_reranker_and_no_hits() -> None:
    hits = [hit("a", 1)]
    assert reranked("q", hits, None, Cancellation()) == (hits, ("not reranked: no reranker is configured",))
    reranker = ByLength()
    assert reranked("q", [], reranker, Cancellation()) == ([], ())
    assert reranker.asked == []


def test_a_servers_reranker_is_the_same() -> None:
    texts = tuple("y" * n for n in (3, 1, 2))
    with (
        serving([embedder_service(FakeEmbedder(), ByLength())]) as address,
        Connection(Endpoint(address), [SERVICE]) as connection,
    ):
        remote = RemoteReranker(connection)
        assert (remote.identity, remote.endpoint) == ("by-length@1", "https://provider.example/v1")
        assert remote.rerank(RerankRequest("q", texts)) == [0.3, 0.1, 0.2]
        with pytest.raises(EverfindError, match="at most"):
            remote.rerank(RerankRequest("q", ("",) * (MAX_BATCH_TEXTS + 1)))
    with (
        serving([embedder_service(FakeEmbedder(), ByLength(error=UnavailableError("it sleeps")))]) as address,
        Connection(Endpoint(address), [SERVICE]) as connection,
        pytest.raises(UnavailableError, match="it sleeps"),
    ):
        RemoteReranker(connection).rerank(RerankRequest("q", texts))
    with (
        serving([embedder_service(FakeEmbedder())]) as address,
        Connection(Endpoint(address), [SERVICE]) as connection,
    ):
        assert RemoteReranker(connection).identity == ""
        with pytest.raises(ModelUnusableError, match="no reranker is configured"):
            RemoteReranker(connection).rerank(RerankRequest("q", texts))
